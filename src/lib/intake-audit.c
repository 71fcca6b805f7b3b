/* SPDX-License-Identifier: MIT */
/* Audit records, as datagrams or as text: put together, and given to the joiner and the context table. See intake.h. */
#include "lib/intake.h"

#include <linux/netlink.h>

#include "base/util.h"

/* So long after an execution that audit told of, others are waited for. */
#define TOLD_NS (10 * NS_PER_SEC)

/* By the clock of the table: what is told came in between the two readings of the frame. */
static int64_t to_mono(const struct frame *f, int64_t real_ns)
{
	return f->mono_ns - (f->real_ns - real_ns);
}

/*
 * Logs of several hosts may be one stream; pids of one mean nothing on another, so that from the second host on nothing of
 * an EXEC is kept.
 */
static bool is_one_host(struct intake *in, const struct audit_event *e)
{
	size_t len = MIN((size_t)e->node.len, sizeof(in->audit_node) - 1);

	if (in->audit_nodes < 2 &&
	    (!in->audit_nodes || strlen(in->audit_node) != len ||
	     memcmp(in->audit_node, e->node.data ? e->node.data : "", len))) {
		memcpy(in->audit_node, e->node.data ? e->node.data : "", len);
		in->audit_node[len] = '\0';
		if (++in->audit_nodes == 2 && in->untimed)
			join_set_context(in->joiner, NULL);
	}
	return in->audit_nodes < 2;
}

static const struct exeunt_bytes *told(const struct audit_event *e, enum audit_has what,
				       const struct exeunt_bytes *text)
{
	return audit_event_has(e, what) ? text : NULL;
}

/* What must not be told of arguments. */
static void clean_args(struct context *cleaner, struct audit_event *e)
{
	e->n_args = context_clean_args(cleaner, e->args, e->n_args, e->flags & AUDIT_EVENT_ARGS_CUT,
				       &e->args);
	if (!e->n_args)
		e->has &= ~(UINT64_C(1) << AUDIT_HAS_ARGS);
}

/* Its process is out already. */
static void take_late_exec(struct intake *in, const struct audit_event *e, const struct frame *f)
{
	struct audit_event clean = *e;

	if (e->flags & (AUDIT_EVENT_ARGS_CUT | AUDIT_EVENT_ARGS_TITLE))
		clean.has &= ~(UINT64_C(1) << AUDIT_HAS_ARGS);
	else if (audit_event_has(e, AUDIT_HAS_ARGS))
		clean_args(in->context, &clean);
	join_exec(in->joiner, &clean, f);
}

static void take_exec(struct intake *in, const struct audit_event *e, const struct frame *f)
{
	struct context_told t = {
		.tgid = e->pid,
		.mono_ns = to_mono(f, e->time_ns),
		.exe = told(e, AUDIT_HAS_EXE, &e->exe),
		.cwd = told(e, AUDIT_HAS_CWD, &e->cwd),
		.n_args = e->n_args,
		.args_cut = e->flags & AUDIT_EVENT_ARGS_CUT,
		.has_login =
			audit_event_has(e, AUDIT_HAS_AUID) && audit_event_has(e, AUDIT_HAS_SES),
		.login_uid = e->auid,
		.session = e->ses,
	};

	in->audit_execs++;
	/* those of a title are what the process made of them */
	if (audit_event_has(e, AUDIT_HAS_ARGS) && !(e->flags & AUDIT_EVENT_ARGS_TITLE))
		t.args = e->args;
	context_told_exec(in->context, &t);
	if (unlikely(join_awaits_exec(in->joiner, e->pid)))
		take_late_exec(in, e, f);
}

/* The title has the arguments in it, and what must not be told of those must not be told of it. */
static void take_end(struct intake *in, const struct audit_event *e, const struct frame *f)
{
	struct audit_event clean;

	if (e->kind == AUDIT_EVENT_EXIT) {
		in->audit_exits++;
		in->audit_untold = join_untold(in->joiner);
		in->audit_told_ns = f->real_ns;
	}
	if (unlikely(in->n_own) && audit_event_has(e, AUDIT_HAS_PID) &&
	    intake_take_own(in, e->pid, e->ppid, EXEUNT_SOURCE_AUDIT))
		return;
	if (in->cleaner && audit_event_has(e, AUDIT_HAS_ARGS)) {
		clean = *e;
		clean_args(in->cleaner, &clean);
		e = &clean;
	}
	join_audit(in->joiner, e, f);
}

static void take_login(struct intake *in, const struct audit_event *e, const struct frame *f)
{
	if (audit_event_has(e, AUDIT_HAS_AUID) && audit_event_has(e, AUDIT_HAS_SES))
		context_login(in->context, e->pid, e->auid, e->ses, to_mono(f, e->time_ns));
}

static void on_event(const struct audit_event *e, void *userdata)
{
	struct intake *in = userdata;
	struct frame f = *in->frame;
	bool whole = !(e->flags & AUDIT_EVENT_INCOMPLETE), use;

	if (in->untimed)
		in->mono_ns = in->real_ns = f.mono_ns = f.real_ns = e->time_ns;
	join_audit_seen(in->joiner, e->time_ns, &f);
	use = in->context && is_one_host(in, e) && audit_event_has(e, AUDIT_HAS_PID) && e->pid > 0;
	in->audit_changes += e->kind == AUDIT_EVENT_CONFIG;
	if (e->kind == AUDIT_EVENT_EXEC) {
		if (use)
			take_exec(in, e, &f);
	} else if (e->kind == AUDIT_EVENT_LOGIN) {
		if (use && whole)
			take_login(in, e, &f);
	} else if (whole || e->kind == AUDIT_EVENT_EXIT) {
		take_end(in, e, &f); /* an exit is one record: the others only add to it */
	}
}

static int on_line(const char *line, size_t len, unsigned int flags, void *userdata)
{
	struct intake *in = userdata;
	int r = audit_assemble_text(in->audit, line, len, flags, in->mono_ns);

	return r == -ENOMEM ? r : 0; /* lines of no use are in the assembler's own counters */
}

/* A log after a live stream's records, or the other way round, goes by another clock. */
static void end(struct intake *in)
{
	audit_assemble_free(TAKE(in->audit));
	audit_stream_done(&in->audit_text);
	in->audit_begun = false;
}

static int begin(struct intake *in)
{
	struct audit_assemble_options o = { .event_clock = in->untimed,
					    .on_event = on_event,
					    .userdata = in };
	int r = audit_assemble_new(&in->audit, &o);

	if (r < 0)
		return r;
	r = audit_stream_init(&in->audit_text, on_line, in);
	in->audit_begun = r >= 0;
	in->audit_untimed = in->untimed;
	return r;
}

/* The kernel's records have a length that leaves the header out, multicast's one that does not: recv() knows better. */
static int take_datagram(struct intake *in, const struct frame *f)
{
	const char *p = f->data;
	int r;

	if (f->len <= NLMSG_HDRLEN) {
		intake_count_unparsable(in, f);
		return 0;
	}
	r = audit_assemble_payload(in->audit, load_u16(p + 4), p + NLMSG_HDRLEN,
				   f->len - NLMSG_HDRLEN, f->mono_ns);
	if (r == -EBADMSG)
		intake_count_unparsable(in, f);
	return r == -ENOMEM ? r : 0;
}

static int take_data(struct intake *in, const struct frame *f)
{
	if (f->channel == AUDIT_CHANNEL_TEXT)
		return audit_stream_feed(&in->audit_text, f->data, f->len);
	return take_datagram(in, f);
}

/* Executions are told of while there is a rule for them, which may come and go. */
static void judge_execs(struct intake *in, const struct frame *f)
{
	if (in->audit_execs != in->audit_execs_before)
		in->told_until_ns = f->mono_ns + TOLD_NS;
	in->audit_execs_before = in->audit_execs;
	join_set_told(in->joiner, f->mono_ns < in->told_until_ns);
}

int intake_audit(struct intake *in, const struct frame *f)
{
	int r;

	if (in->audit_begun && in->audit_untimed != in->untimed)
		end(in);
	r = in->audit_begun ? 0 : begin(in);
	if (r < 0)
		return r;
	switch (f->kind) {
	case FRAME_DATA:
		return take_data(in, f);
	case FRAME_LOST:
		if (f->channel == AUDIT_CHANNEL_KERNEL)
			intake_lost(in, f, EXEUNT_LOSS_BACKLOG, false);
		else
			intake_lost(in, f, EXEUNT_LOSS_SOCKET_OVERFLOW, true);
		break;
	case FRAME_EMPTY:
		audit_assemble_age(in->audit, f->mono_ns);
		judge_execs(in, f);
		join_horizon(in->joiner, f->source, f->mono_ns);
		break;
	default:
		break;
	}
	return 0;
}

void intake_audit_end(struct intake *in)
{
	if (!in->audit_begun)
		return;
	audit_stream_flush(&in->audit_text);
	audit_assemble_flush(in->audit);
}
