/* SPDX-License-Identifier: MIT */
/*
 * Owns the window of unfinished events: takes records in and keeps the bounds. See
 * audit_assemble.h.
 */
#include "decode/audit_assemble_internal.h"

#include <linux/audit.h>

#include "base/util.h"
#include "decode/audit_arch.h"

#define DEFAULT_EVENTS 4096
#define DEFAULT_BYTES ((size_t)8 << 20)
#define DEFAULT_EVENT_BYTES ((size_t)256 << 10)
#define DEFAULT_TIMEOUT (2 * NS_PER_SEC)
/* Ids that are kept to know what comes late. */
#define OVER_EVENTS 1024
#define EXECS_LOOKED_AT 256

static void set_defaults(struct audit_assemble_options *o)
{
	if (!o->max_events)
		o->max_events = DEFAULT_EVENTS;
	if (!o->max_bytes)
		o->max_bytes = DEFAULT_BYTES;
	if (!o->max_event_bytes)
		o->max_event_bytes = DEFAULT_EVENT_BYTES;
	if (!o->timeout_ns)
		o->timeout_ns = DEFAULT_TIMEOUT;
	/* One line of any length must fit beside others, and an event beside another one. */
	o->max_event_bytes = MAX(o->max_event_bytes, (size_t)4 * AUDIT_LINE_MAX);
	o->max_event_bytes = MIN(o->max_event_bytes, (size_t)1 << 30);
	o->max_bytes = MAX(o->max_bytes, 2 * o->max_event_bytes);
}

int audit_assemble_new(struct audit_assemble **ret, const struct audit_assemble_options *options)
{
	struct audit_assemble *a;

	if (!options->on_event)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->options = *options;
	set_defaults(&a->options);
	a->titles = TITLES_TRUSTED;
	a->pool_size = a->options.max_event_bytes;
	a->pool = malloc(a->pool_size);
	if (!a->pool || audit_window_init(&a->window, a->options.max_events, OVER_EVENTS) < 0) {
		audit_assemble_free(a);
		return -ENOMEM;
	}
	*ret = a;
	return 0;
}

void audit_assemble_free(struct audit_assemble *a)
{
	if (!a)
		return;
	audit_window_done(&a->window);
	audit_args_done(&a->args);
	free(a->pool);
	free(a);
}

static void evict(struct audit_assemble *a, struct audit_entry *e)
{
	a->counters.evicted++;
	audit_tell_finish(a, e);
}

static struct audit_entry *open_entry(struct audit_assemble *a, const struct audit_line *line)
{
	struct audit_entry *e;

	if (a->window.open.n >= a->options.max_events)
		evict(a, a->window.open.head);
	e = audit_window_add(&a->window, line);
	e->since_ns = a->clock_ns;
	e->since_line = a->counters.lines;
	return e;
}

/* Makes room within the bounds. Returns false if there is none for this record. */
static bool make_room(struct audit_assemble *a, struct audit_entry *e,
		      const struct audit_line *line)
{
	size_t growth = audit_window_growth(e, line), limit = a->options.max_event_bytes;

	/* The one record that decides must always find its place. */
	if (line->type != AUDIT_SYSCALL)
		limit /= 2;
	if (e->cap + growth > limit)
		return false;
	while (a->window.bytes + growth > a->options.max_bytes) {
		struct audit_entry *oldest = a->window.open.head;

		if (oldest == e)
			oldest = oldest->next;
		if (!oldest)
			return false;
		evict(a, oldest);
	}
	return true;
}

static int store(struct audit_assemble *a, struct audit_entry *e, const struct audit_line *line)
{
	if (!make_room(a, e, line)) {
		a->counters.dropped++;
		e->dropped = true;
		return 0;
	}
	return audit_window_store(&a->window, e, line);
}

/* Its numbers alone. */
static void read_numbers(const struct audit_line *line, struct audit_event *ret)
{
	char none[1];
	struct audit_pool pool = { .at = none, .end = none };

	ret->kind = AUDIT_EVENT_EXEC;
	ret->has = 0;
	ret->pid = 0;
	audit_event_syscall(ret, line, &pool);
}

/*
 * A process that calls exec or exit has written all records of its earlier execs: what is not there
 * by now was lost. (Of those that are open the latest are looked at.)
 */
static void finish_execs(struct audit_assemble *a, const struct audit_entry *now, int32_t pid)
{
	struct audit_entry *e = a->window.open.tail, *prev;

	for (int i = 0; i < EXECS_LOOKED_AT && e; i++, e = prev) {
		prev = e->prev;
		if (e != now && audit_tell_is_exec(e) && e->pid == pid &&
		    e->node_len == now->node_len && !memcmp(e->node, now->node, now->node_len))
			audit_tell_finish(a, e);
	}
}

static bool is_wanted(const struct audit_line *line, int call, uint32_t *items, int32_t *pid)
{
	struct audit_event event;

	*items = 0;
	if (call == AUDIT_CALL_EXIT || call == AUDIT_CALL_EXIT_GROUP)
		return true;
	if (call != AUDIT_CALL_EXECVE && call != AUDIT_CALL_EXECVEAT)
		return false;
	read_numbers(line, &event);
	*pid = event.pid;
	if (audit_event_has(&event, AUDIT_HAS_ITEMS) && event.items > 0)
		*items = (uint32_t)MIN(event.items, INT64_C(1) << 20);
	return audit_event_has(&event, AUDIT_HAS_SUCCESS) && event.success;
}

static int add_syscall(struct audit_assemble *a, struct audit_entry *e,
		       const struct audit_line *line)
{
	int call = audit_event_call(line);
	int32_t pid = 0;
	uint32_t items;

	if (call == -EPROTONOSUPPORT)
		a->counters.interpreted++;
	else if (call == -ENOENT)
		a->counters.unknown_arch++;
	else if (call < 0)
		a->counters.unknown_call++;
	if (call < 0 || !is_wanted(line, call, &items, &pid)) {
		audit_window_close(&a->window, e, AUDIT_ENTRY_IGNORED);
		return call < 0 && call != -ENOENT ? call : 0;
	}
	if (a->execs && !pid) {
		struct audit_event event;

		read_numbers(line, &event);
		pid = event.pid;
	}
	if (a->execs)
		finish_execs(a, e, pid);
	e->call = (uint8_t)call;
	e->pid = pid;
	a->execs += audit_tell_is_exec(e);
	e->items = items;
	e->seen |= SEEN_SYSCALL;
	return store(a, e, line);
}

static unsigned int seen_bit(int type)
{
	switch (type) {
	case AUDIT_SYSCALL:
		return SEEN_SYSCALL;
	case AUDIT_PROCTITLE:
		return SEEN_TITLE;
	case AUDIT_CWD:
		return SEEN_CWD;
	case AUDIT_EOE:
		return SEEN_EOE;
	default:
		return 0; /* EXECVE and PATH come several times */
	}
}

static int add_record(struct audit_assemble *a, struct audit_entry *e,
		      const struct audit_line *line)
{
	unsigned int bit = seen_bit(line->type);

	if (e->seen & bit) {
		a->counters.duplicates++;
		return 0;
	}
	if (line->type == AUDIT_SYSCALL)
		return add_syscall(a, e, line);
	e->seen |= (uint8_t)bit;
	if (line->type == AUDIT_EOE)
		return 0;
	if (line->type == AUDIT_PROCTITLE)
		a->titles = TITLES_TRUSTED;
	else if (line->type == AUDIT_EXECVE)
		e->seen |= SEEN_EXECVE;
	else if (line->type == AUDIT_PATH)
		e->paths++;
	return store(a, e, line);
}

/* A record that belongs to an event of several. */
static int add_part(struct audit_assemble *a, const struct audit_line *line)
{
	struct audit_entry *e = audit_window_find(&a->window, line);
	int r;

	if (e && e->state != AUDIT_ENTRY_OPEN) {
		if (line->type == AUDIT_EOE)
			audit_window_remove(&a->window, e);
		else if (e->state == AUDIT_ENTRY_TOLD)
			a->counters.late++;
		return 0;
	}
	if (!e)
		e = open_entry(a, line);
	r = add_record(a, e, line);
	if (r < 0 || e->state != AUDIT_ENTRY_OPEN)
		return r;
	if (audit_tell_is_over(a, e)) {
		bool over = e->seen & SEEN_EOE;

		audit_tell_finish(a, e);
		if (over)
			audit_window_remove(&a->window, e);
	}
	return 0;
}

static int add_single(struct audit_assemble *a, const struct audit_line *line)
{
	struct audit_pool pool = { .at = a->pool, .end = a->pool + a->pool_size };

	if (!audit_event_single(&a->event, line, &pool))
		return 0;
	a->counters.events++;
	if (a->event.flags & AUDIT_EVENT_INCOMPLETE)
		a->counters.incomplete++;
	a->options.on_event(&a->event, a->options.userdata);
	return 0;
}

static int add_line(struct audit_assemble *a, const struct audit_line *line, int64_t now_ns)
{
	int64_t event_ns = line->sec * NS_PER_SEC + line->msec * NS_PER_MSEC;

	a->clock_ns = a->options.event_clock ? event_ns : now_ns;
	audit_tell_expired(a);
	if (line->type == AUDIT_EOE)
		a->cut_ends = 0;
	switch (line->type) {
	case AUDIT_EOE:
	case AUDIT_SYSCALL:
	case AUDIT_PROCTITLE:
	case AUDIT_EXECVE:
	case AUDIT_CWD:
	case AUDIT_PATH:
		return add_part(a, line);
	case -1:
		a->counters.unknown_type++;
		return 0;
	default:
		return add_single(a, line);
	}
}

int audit_assemble_line(struct audit_assemble *a, const struct audit_line *line, int64_t now_ns)
{
	a->counters.lines++;
	if (line->flags & AUDIT_LINE_PREFIXED)
		a->counters.prefixed++;
	if (line->flags & AUDIT_LINE_CUT)
		a->counters.cut_lines++;
	return add_line(a, line, now_ns);
}

/* Counts a line that is none. Blank ones do not count. */
static int refuse(struct audit_assemble *a, int error)
{
	if (error == -ENODATA)
		return 0;
	a->counters.lines++;
	if (error == -EPROTONOSUPPORT)
		a->counters.interpreted++;
	else if (error == -ENOMSG)
		a->counters.cut_ids++;
	else
		a->counters.unparsable++;
	return error;
}

int audit_assemble_text(struct audit_assemble *a, const char *text, size_t len, unsigned int flags,
			int64_t now_ns)
{
	struct audit_line line;
	int r = audit_line_parse(&line, text, len, flags);

	if (r == -ENOMSG && line.type == AUDIT_EOE && !(flags & AUDIT_LINE_CUT))
		a->cut_ends++;
	if (r < 0)
		return refuse(a, r);
	/*
	 * auditd 4.2 with log_format RAW cuts each record of the kernel; ends of events show that.
	 */
	if (a->cut_ends > 1 && line.type >= AUDIT_SYSCALL)
		line.flags |= AUDIT_LINE_CUT;
	return audit_assemble_line(a, &line, now_ns);
}

int audit_assemble_payload(struct audit_assemble *a, int type, const char *payload, size_t len,
			   int64_t now_ns)
{
	struct audit_line line;
	int r = audit_line_parse_payload(&line, type, payload, len);

	return r < 0 ? refuse(a, r) : audit_assemble_line(a, &line, now_ns);
}

void audit_assemble_age(struct audit_assemble *a, int64_t now_ns)
{
	if (a->options.event_clock)
		return;
	a->clock_ns = now_ns;
	audit_tell_expired(a);
}

int64_t audit_assemble_deadline(const struct audit_assemble *a)
{
	const struct audit_entry *e = a->window.open.head;

	return e && !a->options.event_clock ? e->since_ns + a->options.timeout_ns : INT64_MAX;
}

void audit_assemble_flush(struct audit_assemble *a)
{
	while (a->window.open.head)
		audit_tell_finish(a, a->window.open.head);
}

const struct audit_counters *audit_assemble_counters(const struct audit_assemble *a)
{
	return &a->counters;
}

uint32_t audit_assemble_pending(const struct audit_assemble *a, size_t *bytes)
{
	if (bytes)
		*bytes = a->window.bytes;
	return a->window.open.n;
}
