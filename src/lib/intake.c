/* SPDX-License-Identifier: MIT */
/* Where a frame goes, and what the sources have in common. See intake.h. */
#include "lib/intake.h"

#include "base/util.h"

/* All sources tell of a child of ours within milliseconds; a busy host may use its pid again in half a second. */
#define OWN_NS (300 * NS_PER_MSEC)

int intake_init(struct intake *in)
{
	in->own = calloc(INTAKE_OWN_MOST, sizeof(*in->own));
	return in->own ? 0 : -ENOMEM;
}

void intake_done(struct intake *in)
{
	free(in->own);
	audit_assemble_free(in->audit);
	if (in->audit_begun)
		audit_stream_done(&in->audit_text);
}

bool intake_expect_own(struct intake *in, int32_t pid)
{
	if (in->n_own == INTAKE_OWN_MOST)
		return false;
	in->own[in->n_own++] = (struct intake_own){ .pid = pid, .until_ns = in->mono_ns + OWN_NS };
	return true;
}

bool intake_take_own(struct intake *in, int32_t pid, int32_t parent, enum exeunt_source source)
{
	if (in->self && parent && parent != in->self)
		return false; /* the pid is used again already */
	for (int i = 0; i < in->n_own; i++) {
		struct intake_own *own = &in->own[i];

		if (own->until_ns < in->mono_ns) {
			*own = in->own[--in->n_own];
			i--;
		} else if (own->pid == pid && !(own->told & EXEUNT_SOURCE_BIT(source))) {
			own->told |= EXEUNT_SOURCE_BIT(source);
			in->own_told |= EXEUNT_SOURCE_BIT(source);
			return true;
		}
	}
	return false;
}

void intake_count_unparsable(struct intake *in, const struct frame *f)
{
	if (!in->unparsable_since_ns)
		in->unparsable_since_ns = f->real_ns;
	in->unparsable[f->source]++;
}

static int64_t mono_to_real(const struct frame *f, int64_t mono_ns)
{
	return f->real_ns - MAX(f->mono_ns - mono_ns, 0);
}

void intake_lost(struct intake *in, const struct frame *f, enum exeunt_loss_cause cause, bool exact)
{
	struct exeunt_loss loss = {
		.source = f->source,
		.cause = cause,
		.exact = exact,
		.cpu = f->source == EXEUNT_SOURCE_TASKSTATS ? f->channel : -1,
		.window_start_ns = mono_to_real(f, f->since_ns),
		.window_end_ns = f->real_ns,
	};

	if (f->len < sizeof(loss.count)) {
		intake_count_unparsable(in, f);
		return;
	}
	/* the kernel's counters have 32 bits; a capture may say anything */
	loss.count = MIN(load_u64(f->data), (uint64_t)UINT32_MAX);
	if (!loss.count)
		return;
	ledger_lose(in->ledger, &loss);
}

/* Decoders that hold something back tell of it later, when the frame itself is gone. */
static void keep_frame(struct intake *in, const struct frame *f)
{
	in->last = *f;
	in->last.data = NULL;
	in->last.len = 0;
	in->frame = &in->last;
}

static int take_other(struct intake *in, const struct frame *f)
{
	switch (f->source) {
	case EXEUNT_SOURCE_PACCT:
		keep_frame(in, f);
		return intake_pacct(in, f);
	case EXEUNT_SOURCE_AUDIT:
		keep_frame(in, f);
		return intake_audit(in, f);
	case EXEUNT_SOURCE_PROCEVENTS:
		return intake_procevents(in, f);
	default: /* a capture may name any */
		in->unparsable[EXEUNT_SOURCE_TASKSTATS]++;
		return 0;
	}
}

/* A capture may say anything; see FRAME_TIME_MOST. */
static void cut_times(struct frame *f)
{
	f->mono_ns = frame_time(f->mono_ns);
	f->since_ns = MIN(frame_time(f->since_ns), f->mono_ns);
	f->real_ns = frame_time(f->real_ns);
}

int intake_frame(struct intake *in, const struct frame *f)
{
	struct frame cut;

	if (unlikely((uint64_t)f->mono_ns > (uint64_t)FRAME_TIME_MOST ||
		     (uint64_t)f->since_ns > (uint64_t)f->mono_ns ||
		     (uint64_t)f->real_ns > (uint64_t)FRAME_TIME_MOST)) {
		cut = *f;
		cut_times(&cut);
		f = &cut;
	}
	in->mono_ns = f->mono_ns;
	in->real_ns = f->real_ns;
	if (unlikely(f->kind == FRAME_SELFTEST)) {
		if (f->len >= 4)
			intake_expect_own(in, (int32_t)load_u32(f->data));
		return 0;
	}
	if (likely(f->source == EXEUNT_SOURCE_TASKSTATS))
		return intake_taskstats(in, f);
	return take_other(in, f);
}

void intake_settle(struct intake *in)
{
	uint64_t lost = ledger_balance(in->ledger)->lost;

	for (int s = 0; s < EXEUNT_SOURCE_COUNT; s++) {
		struct exeunt_loss loss = {
			.source = (enum exeunt_source)s,
			.cause = EXEUNT_LOSS_UNPARSABLE,
			.count = in->unparsable[s],
			.exact = true,
			.cpu = -1,
			/* a clock may be set back, and a file have its records in any order */
			.window_start_ns = MIN(in->unparsable_since_ns, in->real_ns),
			.window_end_ns = in->real_ns,
		};

		in->unparsable[s] = 0;
		if (loss.count)
			ledger_lose(in->ledger, &loss);
	}
	in->unparsable_since_ns = 0;
	ledger_check(in->ledger, in->real_ns);
	if (!join_is_behind(in->joiner, in->mono_ns))
		ledger_release(in->ledger, in->real_ns);
	if (ledger_balance(in->ledger)->lost != lost)
		in->lost_since_sweep = true;
}

bool intake_is_settled(const struct intake *in)
{
	return ledger_is_settled(in->ledger) &&
	       !(in->audit_begun && audit_assemble_pending(in->audit, NULL));
}

void intake_end(struct intake *in)
{
	const struct frame f = {
		.mono_ns = in->mono_ns,
		.real_ns = in->real_ns,
		.since_ns = in->mono_ns,
	};

	keep_frame(in, &f);
	intake_pacct_end(in);
	intake_audit_end(in);
}
