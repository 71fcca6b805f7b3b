/* SPDX-License-Identifier: MIT */
/* Audit records, as datagrams or as text: put together, and given to the joiner and the context table. See intake.h. */
#include "lib/intake.h"

#include <linux/netlink.h>

#include "base/util.h"

static void on_event(const struct audit_event *e, void *userdata)
{
	struct intake *in = userdata;

	if (in->from_file)
		in->real_ns = frame_time(e->time_ns);
	if (e->flags & AUDIT_EVENT_INCOMPLETE && e->kind != AUDIT_EVENT_EXIT)
		return; /* half of an execution is not told as a whole one; an exit is one record */
	if (e->kind == AUDIT_EVENT_LOGIN && in->context && audit_event_has(e, AUDIT_HAS_PID) &&
	    audit_event_has(e, AUDIT_HAS_AUID) && audit_event_has(e, AUDIT_HAS_SES)) {
		context_login(in->context, e->pid, e->auid, e->ses, in->mono_ns);
		return;
	}
	in->audit_exits += e->kind == AUDIT_EVENT_EXIT;
	if (unlikely(in->n_own) && audit_event_has(e, AUDIT_HAS_PID) &&
	    intake_take_own(in, e->pid, EXEUNT_SOURCE_AUDIT))
		return;
	join_audit(in->joiner, e, in->frame);
}

static int on_line(const char *line, size_t len, unsigned int flags, void *userdata)
{
	struct intake *in = userdata;
	int r = audit_assemble_text(in->audit, line, len, flags, in->mono_ns);

	return r == -ENOMEM ? r : 0; /* lines of no use are in the assembler's own counters */
}

static int begin(struct intake *in)
{
	struct audit_assemble_options o = { .event_clock = in->from_file,
					    .on_event = on_event,
					    .userdata = in };
	int r = audit_assemble_new(&in->audit, &o);

	if (r < 0)
		return r;
	r = audit_stream_init(&in->audit_text, on_line, in);
	in->audit_begun = r >= 0;
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

int intake_audit(struct intake *in, const struct frame *f)
{
	int r = in->audit_begun ? 0 : begin(in);

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
