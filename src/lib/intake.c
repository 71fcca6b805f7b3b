/* SPDX-License-Identifier: MIT */
/* Where a frame goes, by source and kind. See intake.h. */
#include "lib/intake.h"

#include "base/util.h"

bool intake_expect_own(struct intake *in, int32_t pid)
{
	if (in->n_own == INTAKE_OWN_MOST)
		return false;
	in->own[in->n_own++] = pid;
	return true;
}

static bool take_own(struct intake *in, int32_t pid)
{
	for (int i = 0; i < in->n_own; i++) {
		if (in->own[i] != pid)
			continue;
		in->own[i] = in->own[--in->n_own];
		return true;
	}
	return false;
}

static void count_unparsable(struct intake *in, const struct frame *f)
{
	if (!in->unparsable++)
		in->unparsable_since_ns = f->real_ns;
}

static int taskstats_data(struct intake *in, const struct frame *f)
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
			count_unparsable(in, f);
		if (r <= 0)
			continue;
		in->taskstats_version = task.version;
		r = ledger_sequence(in->ledger, f->channel, task.seq);
		if (r < 0)
			return r;
		if (unlikely(in->n_own) && take_own(in, task.pid))
			continue;
		join_task(in->joiner, &task, f);
	} while (left);
	return 0;
}

static int64_t mono_to_real(const struct frame *f, int64_t mono_ns)
{
	return f->real_ns - MAX(f->mono_ns - mono_ns, 0);
}

static void taskstats_lost(struct intake *in, const struct frame *f)
{
	struct exeunt_loss loss = {
		.source = f->source,
		.cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
		.exact = true,
		.cpu = f->channel,
		.window_start_ns = mono_to_real(f, f->since_ns),
		.window_end_ns = f->real_ns,
	};

	if (f->len < sizeof(loss.count)) {
		count_unparsable(in, f);
		return;
	}
	loss.count = load_u64(f->data);
	ledger_explain(in->ledger, loss.count);
	ledger_lose(in->ledger, &loss);
	in->lost_since_sweep = true;
}

static int taskstats_frame(struct intake *in, const struct frame *f)
{
	switch (f->kind) {
	case FRAME_DATA:
		return taskstats_data(in, f);
	case FRAME_LOST:
		taskstats_lost(in, f);
		break;
	case FRAME_EMPTY:
		join_horizon(in->joiner, f->source, f->mono_ns);
		break;
	case FRAME_SELFTEST:
		if (f->len >= 4)
			intake_expect_own(in, (int32_t)load_u32(f->data));
		break;
	}
	return 0;
}

int intake_frame(struct intake *in, const struct frame *f)
{
	in->mono_ns = f->mono_ns;
	in->real_ns = f->real_ns;
	if (f->source == EXEUNT_SOURCE_TASKSTATS)
		return taskstats_frame(in, f);
	count_unparsable(in, f);
	return 0;
}

void intake_settle(struct intake *in)
{
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_TASKSTATS,
		.cause = EXEUNT_LOSS_UNPARSABLE,
		.count = in->unparsable,
		.exact = true,
		.cpu = -1,
		.window_start_ns = in->unparsable_since_ns,
		.window_end_ns = in->real_ns,
	};

	if (in->unparsable) {
		in->unparsable = 0;
		ledger_lose(in->ledger, &loss);
	}
	ledger_check(in->ledger, in->real_ns);
}
