/* SPDX-License-Identifier: MIT */
/*
 * One segment of a store: an ordinary SQLite file. Tables:
 *
 *	meta		what wrote it: schema ("exeunt/1"), format (1), and done (1: nothing will be added any more)
 *	runs		each run of a collector: host_name, boot_id, started (ns since 1970), version
 *	processes	a row for each record about a process: id, run, type, seq, time, and a column for each field
 *	losses		a row for each loss record
 *	statuses	start, status and stop records, as JSON
 *	exits		a view for people: exits with readable times, and arguments with blanks between
 *
 * `id` counts 1, 2, 3 ... over all three tables and all segments of a store, in the order in which records came. Written by one
 * process at a time, in transactions, with a write-ahead log: a kill -9 loses what was not committed and nothing else, and
 * readers and the writer never wait for each other.
 */
#ifndef STORE_SEGMENT_H
#define STORE_SEGMENT_H

#include <exeunt/record.h>

#include "base/util.h"

struct segment;

/* Who writes: a row of `runs`. */
struct store_run {
	int64_t id; /* of the row, unique in a store */
	const char *host_name, *boot_id, *version;
	int64_t started_ns;
};

/* What is in a segment. */
struct segment_extent {
	int64_t first_id, last_id; /* 0: nothing yet */
	int64_t first_ns, last_ns; /* times of records */
	uint64_t exits;
	uint64_t gone;	      /* exits of segments that went before, as its losses tell */
	int64_t gone_from_ns; /* the first of them; INT64_MAX: none */
	bool stopped;	      /* the last record is a stop record */
	bool done;	      /* segment_finish() */
};

/*
 * Opens `path` for writing, and makes it if it is not there. Errors: -EBADMSG (it is no segment, or damaged), -ENOSPC, -EACCES,
 * -EIO ...; `error` has the sentence.
 */
int segment_open(struct segment **ret, const char *path, char *error, size_t size);

/* Commits nothing; the log goes into the file, which then is one file. NULL is accepted. */
void segment_free(struct segment *s);

/* In a transaction that segment_commit() ends. Errors as segment_open(); the transaction is then to be given up. */
int segment_begin(struct segment *s);
int segment_add_run(struct segment *s, const struct store_run *run);
/* `json`: the line of a start, status or stop record, else NULL. */
int segment_add(struct segment *s, int64_t id, int64_t run, const struct exeunt_record *r,
		const char *json, size_t json_len);
int segment_commit(struct segment *s);
void segment_give_up(struct segment *s);

/* Nothing will be added any more. */
int segment_finish(struct segment *s);

/* What the last error was, in words. */
const char *segment_error(const struct segment *s);

/* Bytes of the file and its log. */
uint64_t segment_bytes(const char *path);

/* Asks the file at `path` without changing it. Errors as segment_open(). */
int segment_look(const char *path, struct segment_extent *ret, char *error, size_t size);

#endif
