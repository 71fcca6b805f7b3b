/* SPDX-License-Identifier: MIT */
/* See entry.h. */
#include "sink/entry.h"

#include "base/clock.h"
#include "sink/datagram.h"

static struct entry_sink *of(struct sink *s)
{
	return (struct entry_sink *)s;
}

void entry_free(struct sink *s)
{
	struct entry_sink *e = of(s);

	datagram_free(e->out);
	free(e->text.data);
	free(e->value.data);
	free(e);
}

static int write_entry(void *format, const struct exeunt_record *r, struct output *none)
{
	struct entry_sink *e = format;
	int status;

	(void)none;
	e->text.len = 0;
	status = e->write(e, r);
	if (status < 0)
		return status;
	return datagram_send(e->out, e->text.data, e->text.len, mono_now());
}

int entry_new(struct sink **ret, const struct sink_ops *ops, const struct sink_options *o,
	      const char *path, int (*write)(struct entry_sink *e, const struct exeunt_record *r),
	      char *error, size_t size)
{
	struct entry_sink *e = calloc(1, sizeof(*e));
	int r = -ENOMEM;

	if (e) {
		e->sink = (struct sink){ ops, *o };
		e->path = *o->target ? o->target : path;
		e->write = write;
		r = datagram_new(&e->out, e->path, o->buffer);
	}
	if (r < 0) {
		snprintf(error, size, "cannot write to '%s': %s", e ? e->path : path, strerror(-r));
		if (e)
			entry_free(&e->sink);
		return r;
	}
	entity_boot_id(e->plain.boot_hex, o->host->boot_id);
	feed_init(&e->feed, o, write_entry, e, NULL);
	rate_init(&e->rate, o->rate ? o->rate : ENTRY_RATE, mono_now());
	e->feed.rate = &e->rate;
	*ret = &e->sink;
	return 0;
}

void entry_record(struct sink *s, const struct exeunt_record *r)
{
	feed_record(&of(s)->feed, r);
}

static void tell_trouble(struct entry_sink *e, int error)
{
	if (error && error != e->error)
		sink_say(&e->sink, 3,
			 "cannot write to '%s': %s; records are kept as far as the buffer goes",
			 e->path, strerror(error));
	if (!error && e->error)
		sink_say(&e->sink, 6, "writing to '%s' works again", e->path);
	e->error = error;
}

void entry_flush(struct sink *s, int64_t now)
{
	struct entry_sink *e = of(s);
	int64_t now_real;
	struct datagram_report report;
	int r = datagram_flush(e->out, now);

	datagram_report(e->out, &report);
	if (report.too_long != e->too_long) {
		now_real = real_now();
		feed_lost(&e->feed, report.too_long - e->too_long, true, now_real, now_real);
		e->too_long = report.too_long;
	}
	if (!r)
		feed_flush(&e->feed);
	tell_trouble(e, report.error);
}

int entry_fd(const struct sink *s)
{
	return datagram_poll_fd(((const struct entry_sink *)s)->out);
}

int64_t entry_deadline(const struct sink *s)
{
	return datagram_deadline(((const struct entry_sink *)s)->out);
}

void entry_reload(struct sink *s)
{
	datagram_reconnect(of(s)->out);
	entry_flush(s, mono_now());
}

/* Where nobody is there to take them now, nobody will be before we end. */
bool entry_finish(struct sink *s, int64_t now)
{
	struct entry_sink *e = of(s);
	struct datagram_report report;

	entry_flush(s, now);
	datagram_report(e->out, &report);
	if (report.waiting && report.error)
		sink_say(s, 3, "nobody took the last %llu records of '%s'",
			 (unsigned long long)report.waiting, e->path);
	return report.error || (!report.waiting && !e->feed.stop_ns);
}

void entry_report(const struct sink *s, struct sink_report *ret)
{
	const struct entry_sink *e = (const struct entry_sink *)s;
	struct datagram_report report;

	datagram_report(e->out, &report);
	*ret = (struct sink_report){ .readers = report.connects && !report.error,
				     .restarts = report.connects ? report.connects - 1 : 0,
				     .queued_bytes = report.pending,
				     .written_bytes = report.written,
				     .error = report.error };
	feed_report(&e->feed, ret);
}

int entry_priority(const struct exeunt_record *r)
{
	if (r->type == EXEUNT_TYPE_LOSS)
		return 4;
	if (exeunt_has(r, EXEUNT_F_EXIT_CORE_DUMPED) && r->exit_core_dumped)
		return 4;
	if (exeunt_has(r, EXEUNT_F_EXIT_SIGNAL) && r->exit_signal)
		return 5;
	return exeunt_has(r, EXEUNT_F_EXIT_CODE) && r->exit_code ? 5 : 6;
}
