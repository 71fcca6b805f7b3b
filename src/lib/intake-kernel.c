/* SPDX-License-Identifier: MIT */
/* The messages of taskstats and of the proc connector: decoded one by one. See intake.h. */
#include "lib/intake.h"

#include "base/util.h"
#include "decode/procevents.h"

static int take_tasks(struct intake *in, const struct frame *f)
{
	const char *p = f->data;
	size_t left = f->len;

	do {
		struct task_exit task;
		size_t used;
		int r = taskstats_decode(p, left, in->delay_accounting, &task, &used);

		p += used;
		left -= used;
		if (r < 0)
			intake_count_unparsable(in, f);
		if (r <= 0)
			continue;
		in->versions[EXEUNT_SOURCE_TASKSTATS] = task.version;
		r = ledger_sequence(in->ledger, f->channel, task.seq);
		if (r < 0)
			return r;
		if (unlikely(in->n_own) && intake_take_own(in, task.pid, task.ppid, f->source))
			continue;
		join_task(in->joiner, &task, f);
	} while (left);
	return 0;
}

int intake_taskstats(struct intake *in, const struct frame *f)
{
	switch (f->kind) {
	case FRAME_DATA:
		return take_tasks(in, f);
	case FRAME_LOST:
		if (f->len >= 8)
			ledger_explain(in->ledger, MIN(load_u64(f->data), (uint64_t)UINT32_MAX));
		intake_lost(in, f, EXEUNT_LOSS_SOCKET_OVERFLOW, true);
		in->lost_since_sweep = true;
		if (in->context)
			context_lost(in->context,
				     f->mono_ns); /* ends that nobody will tell the table of */
		break;
	case FRAME_EMPTY:
		join_horizon(in->joiner, f->source, f->mono_ns);
		break;
	default:
		break;
	}
	return 0;
}

static void take_events(struct intake *in, const struct frame *f)
{
	const char *p = f->data;
	size_t left = f->len;

	do {
		struct proc_event_info event;
		size_t used;
		int r = procevents_decode(p, left, &event, &used);

		p += used;
		left -= used;
		if (r < 0)
			intake_count_unparsable(in, f);
		if (r <= 0)
			continue;
		in->execs += event.kind == PROC_KIND_EXEC;
		if (in->context)
			context_event(in->context, &event);
	} while (left);
}

int intake_procevents(struct intake *in, const struct frame *f)
{
	switch (f->kind) {
	case FRAME_DATA:
		take_events(in, f);
		break;
	case FRAME_LOST:
		intake_lost(in, f, EXEUNT_LOSS_SOCKET_OVERFLOW, true);
		if (in->context)
			context_lost(in->context, f->mono_ns);
		break;
	case FRAME_EMPTY:
		join_horizon(in->joiner, f->source, f->mono_ns);
		break;
	default:
		break;
	}
	return 0;
}
