/* SPDX-License-Identifier: MIT */
/* See feed.h. */
#include "sink/feed.h"

#include "base/clock.h"
#include "record/fields.h"
#include "record/filter.h"
#include "sink/json.h"
#include "sink/output.h"
#include "sink/rate.h"
#include "sink/sink.h"

#define LOSS_ROOM 4096	   /* bytes that the line of a loss may take */
#define TELL_NS NS_PER_SEC /* between two losses of a stream that has a rate */

void feed_init(struct feed *f, const struct sink_options *o, feed_write_fn write, void *format,
	       struct output *output)
{
	*f = (struct feed){ .write = write,
			    .format = format,
			    .filter = o->filter,
			    .fields = o->fields,
			    .output = output };
}

int feed_json(void *format, const struct exeunt_record *r, struct output *o)
{
	return json_write(format, r, o);
}

static bool passes(const struct feed *f, const struct exeunt_record *r)
{
	return (!f->filter || filter_match(f->filter, r)) && (!f->own || filter_match(f->own, r));
}

void feed_lost(struct feed *f, uint64_t count, bool exact, int64_t from_ns, int64_t to_ns)
{
	if (!count)
		return;
	f->dropped_from_ns = f->dropped ? MIN(f->dropped_from_ns, from_ns) : from_ns;
	f->dropped_to_ns = f->dropped ? MAX(f->dropped_to_ns, to_ns) : to_ns;
	f->lost += count;
	f->dropped += count;
	f->inexact |= !exact;
}

static void drop(struct feed *f, const struct exeunt_record *r)
{
	f->seq++;
	f->lost++;
	if (!f->dropped++)
		f->dropped_from_ns = r->time_ns;
	f->dropped_to_ns = r->time_ns;
}

static bool is_too_much(struct feed *f, const struct exeunt_record *r)
{
	return f->rate && record_is_about_process(r) && !rate_take(f->rate, mono_now());
}

/* Writes with the number and the fields of this stream; a record that has them already need not be copied. */
static bool write_record(struct feed *f, const struct exeunt_record *r)
{
	bool narrow = f->fields && record_is_about_process(r);
	struct exeunt_record ours;

	if (narrow || r->seq != f->seq + 1) {
		ours = *r;
		ours.seq = f->seq + 1;
		for (size_t i = 0; narrow && i < EXEUNT_PRESENT_WORDS; i++)
			ours.present[i] &= f->fields[i];
		r = &ours;
	}
	if (f->write(f->format, r, f->output))
		return false;
	f->seq++;
	f->records++;
	return true;
}

static bool tell(struct feed *f)
{
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_OUTPUT,
		.cause = EXEUNT_LOSS_SLOW_SINK,
		.count = f->dropped,
		.exact = !f->inexact,
		.cpu = -1,
		.window_start_ns = f->dropped_from_ns,
		.window_end_ns = f->dropped_to_ns,
	};
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_LOSS,
				   .time_ns = real_now(),
				   .loss = &loss };

	r.seq = f->seq + 1;
	if (!write_record(f, &r))
		return false;
	f->dropped = 0;
	f->inexact = false;
	return true;
}

bool feed_tell(struct feed *f, bool now)
{
	int64_t mono_ns;

	if (!f->dropped || (f->output && !output_has_room(f->output, LOSS_ROOM)))
		return false;
	if (!f->rate)
		return tell(f);
	mono_ns = mono_now();
	if (!now && mono_ns < f->tell_at_ns)
		return false;
	f->tell_at_ns = mono_ns + TELL_NS;
	return tell(f);
}

static bool put_status(struct feed *f, const struct exeunt_record *r)
{
	struct exeunt_status status = *r->status;
	struct exeunt_record ours = *r;

	status.balance.lost_output = f->lost;
	status.balance.filtered = f->filtered;
	status.balance.records = f->records + 1;
	ours.status = &status;
	return write_record(f, &ours);
}

/* Of a stream without a rate the record behind a gap tells of it: until that has room, nothing else has. */
static bool is_ready(struct feed *f)
{
	return likely(!f->dropped) || f->rate || feed_tell(f, false);
}

static void take_status(struct feed *f, const struct exeunt_record *r)
{
	if (r->type == EXEUNT_TYPE_STOP)
		feed_tell(f, true);
	if ((is_ready(f) && put_status(f, r)) || r->type != EXEUNT_TYPE_STOP)
		return;
	f->stop = *r->status;
	f->stop_ns = r->time_ns;
}

void feed_record(struct feed *f, const struct exeunt_record *r)
{
	if (record_is_about_process(r) && !passes(f, r)) {
		if (r->type == EXEUNT_TYPE_EXIT)
			f->filtered++;
		return;
	}
	if (r->status)
		take_status(f, r);
	else if (!is_ready(f) || is_too_much(f, r) || !write_record(f, r))
		drop(f, r);
	if (f->output && output_pending(f->output) >= OUTPUT_CHUNK && !output_error(f->output))
		output_flush(f->output);
}

/* Behind the loss that stands in front of it, if there is one. */
static void put_stop(struct feed *f)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_STOP,
				   .time_ns = f->stop_ns,
				   .status = &f->stop };

	feed_tell(f, true);
	if (!f->dropped && put_status(f, &r))
		f->stop_ns = 0;
}

static int flush_output(struct feed *f)
{
	return f->output ? output_flush(f->output) : 0;
}

int feed_flush(struct feed *f)
{
	int r = flush_output(f);
	bool told;

	if (r < 0 || likely(!f->dropped && !f->stop_ns))
		return r;
	told = feed_tell(f, false);
	if (f->stop_ns)
		put_stop(f);
	return told || !f->stop_ns ? flush_output(f) : r;
}

void feed_report(const struct feed *f, struct sink_report *ret)
{
	ret->records += f->records;
	ret->dropped += f->lost;
	ret->filtered += f->filtered;
	if (!f->output)
		return;
	ret->queued_bytes += output_pending(f->output);
	ret->written_bytes += output_written(f->output);
}
