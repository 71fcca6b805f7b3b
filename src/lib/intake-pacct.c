/* SPDX-License-Identifier: MIT */
/* Bytes of accounting files: through the stream decoder to the joiner. See intake.h. */
#include "lib/intake.h"

#include "base/util.h"

int64_t intake_pacct_end_ns(const struct pacct_exit *e)
{
	uint64_t end_s = e->btime_s + e->etime_us / 1000000;

	return (int64_t)MIN(end_s, (uint64_t)(FRAME_TIME_MOST / NS_PER_SEC)) * NS_PER_SEC;
}

static int on_exit_record(const struct pacct_exit *e, void *userdata)
{
	struct intake *in = userdata;

	in->versions[EXEUNT_SOURCE_PACCT] = e->version;
	if (in->from_file)
		in->real_ns = intake_pacct_end_ns(e);
	if (unlikely(in->n_own) && (e->present & PACCT_HAS_PID) &&
	    intake_take_own(in, (int32_t)e->pid, (int32_t)e->ppid, EXEUNT_SOURCE_PACCT))
		return 0;
	join_pacct(in->joiner, e, in->frame);
	return 0;
}

static void on_damage(uint64_t offset, uint64_t bytes, enum pacct_damage damage, void *userdata)
{
	struct intake *in = userdata;
	char text[512];

	snprintf(text, sizeof(text), "%s%s%s%llu bytes at offset %llu are no accounting record: %s",
		 in->name ? "'" : "", in->name ? in->name : "", in->name ? "': " : "",
		 (unsigned long long)bytes, (unsigned long long)offset, pacct_damage_text(damage));
	if (in->message)
		in->message(in->userdata, text);
	in->unparsable[EXEUNT_SOURCE_PACCT]++;
	if (!in->unparsable_since_ns)
		in->unparsable_since_ns = in->real_ns;
}

static void begin(struct intake *in, uint64_t offset)
{
	if (in->pacct_begun)
		pacct_stream_end(&in->pacct);
	pacct_stream_init(&in->pacct, offset, on_exit_record, on_damage, in);
	in->pacct_offset = offset;
	in->pacct_begun = true;
}

int intake_pacct(struct intake *in, const struct frame *f)
{
	switch (f->kind) {
	case FRAME_FILE:
		begin(in, f->len >= 8 ? load_u64(f->data) : 0);
		break;
	case FRAME_DATA:
		if (!in->pacct_begun)
			begin(in, 0);
		pacct_stream_feed(&in->pacct, in->pacct_offset, f->data, f->len);
		in->pacct_offset += f->len;
		break;
	case FRAME_LOST:
		intake_lost(in, f, EXEUNT_LOSS_ACCOUNTING_PAUSED, false);
		break;
	case FRAME_EMPTY:
		join_horizon(in->joiner, f->source, f->mono_ns);
		break;
	default:
		break;
	}
	return 0;
}

size_t intake_pacct_undecoded(const struct intake *in)
{
	return in->pacct_begun ? (size_t)(in->pacct_offset - pacct_stream_offset(&in->pacct)) : 0;
}

void intake_pacct_end(struct intake *in)
{
	if (in->pacct_begun)
		pacct_stream_end(&in->pacct);
	in->pacct_begun = false;
}
