/* SPDX-License-Identifier: MIT */
/*
 * What the sinks to the system's logs have in common: one datagram a record, with a rate, since all of the host shares the log.
 * Such a sink is a path and a function that writes the entry; the rest of its struct sink_ops is here.
 */
#ifndef SINK_ENTRY_H
#define SINK_ENTRY_H

#include "sink/feed.h"
#include "sink/plain.h"
#include "sink/rate.h"
#include "sink/sink.h"

#define ENTRY_RATE 300 /* a second: journald takes 10,000 in 30 s of one service by default */

struct datagram;

struct entry_sink {
	struct sink sink;
	const char *path;
	struct feed feed;
	struct rate rate;
	struct plain plain;
	struct datagram *out;
	struct text_buffer text;  /* the entry */
	struct text_buffer value; /* for entry->write: one of its values */
	int (*write)(struct entry_sink *e,
		     const struct exeunt_record *r); /* fills `text`; or -ENOMEM */
	uint64_t too_long;			     /* as counted */
	int error;				     /* as last told */
};

/* `path` if the options have no target. */
int entry_new(struct sink **ret, const struct sink_ops *ops, const struct sink_options *o,
	      const char *path, int (*write)(struct entry_sink *e, const struct exeunt_record *r),
	      char *error, size_t size);
void entry_free(struct sink *s);
void entry_record(struct sink *s, const struct exeunt_record *r);
void entry_flush(struct sink *s, int64_t mono_ns);
int entry_fd(const struct sink *s);
int64_t entry_deadline(const struct sink *s);
void entry_reload(struct sink *s);
bool entry_finish(struct sink *s, int64_t mono_ns);
void entry_report(const struct sink *s, struct sink_report *ret);

/* Of syslog: 6 for what went well, 5 for what failed or was killed, 4 for a core and for a loss. */
int entry_priority(const struct exeunt_record *r);

#endif
