/* SPDX-License-Identifier: MIT */
/*
 * From records to standard output or a file: filter, count, sink, bounded output. Shared by the commands that show
 * records. Promises never to wait for a slow reader while listening, and to tell what that cost.
 */
#ifndef CMD_STREAM_H
#define CMD_STREAM_H

#include <exeunt/exeunt.h>

#include "cmd/options.h"
#include "cmd/resume.h"
#include "record/filter.h"
#include "sink/json.h"
#include "sink/output.h"
#include "sink/text.h"

struct stream {
	const struct options *options;
	struct exeunt *x; /* of the command; NULL until it is open */
	struct filter *filter;
	struct json *json;
	struct text *text;
	struct output *output;
	int fd;
	bool terminal; /* people watch: a header, colour, a width */
	bool batch;    /* nothing runs away: wait for a slow reader */
	bool header_out;
	bool waiting; /* lines are held back for a moment, to be written with more */
	struct resume resume;
	uint64_t shown;	  /* exits put out */
	uint64_t dropped; /* records a slow reader cost, not yet told */
	int64_t dropped_from_ns, dropped_to_ns;
	int64_t until_ns; /* at the end, CLOCK_MONOTONIC: so long a slow reader is waited for; 0: not */
	char summary[512]; /* of the stop record, for people */
	int error;	   /* errno of the output as last told, so that trouble is told once */
};

/* Opens output and filter, before privileges go. Tells what is wrong and returns an exit status, or -1 to go on. */
int stream_open(struct stream *s, const struct options *o, const char *command);
void stream_close(struct stream *s);

/* For exeunt_options.on_record and on_message, with the stream as userdata. */
int stream_record(const struct exeunt_record *r, void *userdata);
void stream_message(int level, const char *text, void *userdata);

/* For the position in accounting to be remembered with the output; before the sources are opened. An exit status, or -1. */
int stream_resume(struct stream *s);

/* Writes what it can and tells the ledger what was lost. Returns 0, 1 (the reader is behind), or -EPIPE: end. */
int stream_flush(struct stream *s);

/* How long lines that are held back may wait, in ms. */
#define STREAM_WAIT_MS 50

/* Tells what the reader missed, then exeunt_stop(), whose result it returns. */
int stream_stop(struct stream *s);

/* The last bytes, waiting a little for a slow reader; returns an exit status. */
int stream_finish(struct stream *s);

/* Columns of a line; 0 for a file or a pipe: nothing is cut there. */
int stream_width(const struct stream *s);

/* The terminal's size may have changed. */
void stream_resize(struct stream *s);

/* True when --count is reached. */
bool stream_is_done(const struct stream *s);

#endif
