/* SPDX-License-Identifier: MIT */
/*
 * One reader's stream: filter, fields, numbering, loss. Every sink has one for each of its readers.
 *
 * The reader's `seq` counts 1, 2, 3 ... over what its filter lets through. What it was too slow for is a gap in `seq`, and the
 * record behind the gap is a loss (output, slow_sink) of as many. In status and stop records the balance's lost_output, filtered
 * and records are those of this stream, so that it balances by itself: seq = records + lost_output. A status record for which
 * there is no room is left out without a number, as the next one tells the same; the stop record waits for room.
 *
 * With a rate, records about processes that exceed it count as dropped, and losses are told once a second at most.
 *
 * Never waits. The output is borrowed, and is NULL for a stream whose `write` has another place for the records; its
 * owner calls feed_flush() when there is room. How a record is written is told by `write`: json_write() or one that is like it.
 */
#ifndef SINK_FEED_H
#define SINK_FEED_H

#include <exeunt/record.h>

#include "base/util.h"

struct filter;
struct output;
struct rate;
struct sink_options;
struct sink_report;

/* 0; 1 when there was no room; -errno. */
typedef int (*feed_write_fn)(void *format, const struct exeunt_record *r, struct output *o);

/* For records as JSON Lines; `format` is a struct json. */
int feed_json(void *format, const struct exeunt_record *r, struct output *o);

struct feed {
	feed_write_fn write;
	void *format;
	const struct filter *filter; /* of the sink */
	const struct filter *own;    /* of the reader, besides; NULL: none */
	const uint64_t *fields;	     /* NULL: all */
	struct output *output;
	struct rate *rate; /* borrowed; NULL: as many as there are */
	uint64_t seq, records, filtered, lost;
	uint64_t dropped; /* not yet told */
	bool inexact;	  /* they are estimated */
	int64_t dropped_from_ns, dropped_to_ns;
	int64_t tell_at_ns; /* with a rate */
	int64_t stop_ns;    /* when the stop record was made that waits for room; 0: none does */
	struct exeunt_status stop;
};

/* `format` is what `write` gets. Filter and fields are those of the options. */
void feed_init(struct feed *f, const struct sink_options *o, feed_write_fn write, void *format,
	       struct output *output);

/* Puts the record into the output, or counts it. */
void feed_record(struct feed *f, const struct exeunt_record *r);

/*
 * Writes what the reader takes, and then what waits for room: what it missed, and the stop record. Returns as output_flush(): 0,
 * 1 (behind), -EPIPE (the reader is gone), or trouble.
 */
int feed_flush(struct feed *f);

/* Tells what was dropped if there is room; with a rate, if it is time or has to be `now`. True: a record was written. */
bool feed_tell(struct feed *f, bool now);

/* Records were lost behind the output, between these two times. */
void feed_lost(struct feed *f, uint64_t count, bool exact, int64_t from_ns, int64_t to_ns);

/* Adds what the stream did. */
void feed_report(const struct feed *f, struct sink_report *ret);

#endif
