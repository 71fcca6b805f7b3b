/* SPDX-License-Identifier: MIT */
/*
 * Owns nothing: the rules by which an event is over, and how it is told.
 *
 * The kernel writes SYSCALL first, then what belongs to it, PROCTITLE, EOE (audit_log_exit() in
 * kernel/auditsc.c). EOE may not come: auditd never writes it into audit.log, and it may be
 * excluded like any record. So an event is over when all that the kernel writes for its kind is
 * there, or at EOE.
 */
#include "decode/audit_assemble_internal.h"

#include <linux/audit.h>

#include "base/util.h"
#include "decode/audit_arch.h"

/* With the clock of the records a jump of it must not close what stands next to each other. */
#define EVENT_CLOCK_LINES 32

bool audit_tell_is_exec(const struct audit_entry *e)
{
	return e->call == AUDIT_CALL_EXECVE || e->call == AUDIT_CALL_EXECVEAT;
}

/* All records are there that the kernel writes for such an event. */
static bool has_all(const struct audit_entry *e)
{
	unsigned int need = SEEN_SYSCALL | SEEN_TITLE;

	if (audit_tell_is_exec(e))
		need |= SEEN_EXECVE;
	if (e->items)
		need |= SEEN_CWD;
	return (e->seen & need) == need && e->paths >= e->items && !e->dropped;
}

/* Its end was told, and nothing that such a stream usually has is missing. */
static bool is_ended(const struct audit_assemble *a, const struct audit_entry *e)
{
	unsigned int need = SEEN_SYSCALL | SEEN_EOE | (a->titles ? SEEN_TITLE : 0);

	return (e->seen & need) == need;
}

static bool is_whole(const struct audit_assemble *a, const struct audit_entry *e)
{
	if (has_all(e))
		return true;
	return is_ended(a, e) && (!audit_tell_is_exec(e) || e->seen & SEEN_EXECVE) && !e->dropped;
}

bool audit_tell_is_over(const struct audit_assemble *a, const struct audit_entry *e)
{
	return has_all(e) || is_ended(a, e);
}

static enum audit_event_kind kind_of(const struct audit_entry *e)
{
	if (audit_tell_is_exec(e))
		return AUDIT_EVENT_EXEC;
	return e->call == AUDIT_CALL_EXIT ? AUDIT_EVENT_THREAD_EXIT : AUDIT_EVENT_EXIT;
}

/* Arguments of an exec are those of EXECVE; else what the process shows as its title. */
static void attach_args(struct audit_assemble *a, struct audit_entry *e,
			const struct audit_line *title, struct audit_pool *pool)
{
	struct audit_event *event = &a->event;
	int r = 0;

	if (e->seen & SEEN_EXECVE) {
		r = audit_args_finish(&a->args, pool);
		a->args.cut |= e->dropped;
	} else if (e->seen & SEEN_TITLE) {
		r = audit_args_title(&a->args, title->raw, title->flags & AUDIT_LINE_CUT, pool);
		event->flags |= AUDIT_EVENT_ARGS_TITLE;
	}
	if (r > 0) {
		event->args = a->args.v;
		event->n_args = a->args.n;
		event->has |= UINT64_C(1) << AUDIT_HAS_ARGS;
	}
	if (r < 0 || a->args.cut)
		event->flags |= AUDIT_EVENT_ARGS_CUT;
}

static void tell(struct audit_assemble *a, struct audit_entry *e)
{
	struct audit_pool pool = { .at = a->pool, .end = a->pool + a->pool_size };
	struct audit_line line, title = { 0 };
	uint32_t at = 0;
	int r = 0;

	audit_args_begin(&a->args);
	audit_window_id(e, AUDIT_SYSCALL, &line);
	audit_event_begin(&a->event, &line, kind_of(e));
	while (audit_window_record(e, &at, &line)) {
		switch (line.type) {
		case AUDIT_SYSCALL:
			audit_event_syscall(&a->event, &line, &pool);
			break;
		case AUDIT_EXECVE:
			r |= audit_args_add(&a->args, line.raw, line.flags & AUDIT_LINE_CUT);
			break;
		case AUDIT_CWD:
			audit_event_cwd(&a->event, &line, &pool);
			break;
		case AUDIT_PATH:
			audit_event_path(&a->event, &line, &pool);
			break;
		default:
			title = line;
		}
	}
	attach_args(a, e, &title, &pool);
	if (r < 0)
		a->event.flags |= AUDIT_EVENT_ARGS_CUT;
	if (!is_whole(a, e)) {
		a->event.flags |= AUDIT_EVENT_INCOMPLETE;
		a->counters.incomplete++;
	}
	a->counters.events++;
	a->options.on_event(&a->event, a->options.userdata);
}

void audit_tell_finish(struct audit_assemble *a, struct audit_entry *e)
{
	a->execs -= audit_tell_is_exec(e);
	if (e->seen & SEEN_SYSCALL) {
		tell(a, e);
		audit_window_close(&a->window, e, AUDIT_ENTRY_TOLD);
	} else {
		a->counters.orphans++;
		audit_window_remove(&a->window, e);
	}
}

static bool has_expired(const struct audit_assemble *a, const struct audit_entry *e)
{
	int64_t age = a->clock_ns - e->since_ns;

	if (a->options.event_clock) {
		if (a->counters.lines - e->since_line < EVENT_CLOCK_LINES)
			return false;
		age = age < 0 ? -age : age;
	}
	return age >= a->options.timeout_ns;
}

void audit_tell_expired(struct audit_assemble *a)
{
	struct audit_entry *e;

	while ((e = a->window.open.head) && has_expired(a, e)) {
		a->counters.timed_out++;
		if (e->seen & SEEN_EOE && !(e->seen & SEEN_TITLE) && a->titles)
			a->titles--;
		audit_tell_finish(a, e);
	}
}
