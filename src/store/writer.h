/* SPDX-License-Identifier: MIT */
/*
 * The writing side of a store: a directory of segments, of which the last one grows. One writer at a time, held by a lock file.
 * Not for the thread that must not wait: all of it may wait for the disk.
 *
 * A segment ends when it is as old, or as large, as the options say. Then the oldest ones go, until what is left is young and
 * small enough; what goes with them is told by a loss record in the store (output, retention), also once the segment that told it goes itself. A segment that is damaged is
 * set aside, under its name with ".damaged" behind, and the others go on. A run that ended without a stop record is told as a
 * loss (output, not_running) from its last record to now.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <exeunt/exeunt.h>

#include "store/segment.h"

struct store_options {
	const char *host_name, *boot_id; /* of the run */
	int64_t segment_ns;		 /* 0: an hour */
	uint64_t segment_bytes;		 /* 0: a sixteenth of keep_bytes, or 256 MB */
	int64_t keep_ns;		 /* 0: for ever */
	uint64_t keep_bytes;		 /* 0: without a limit */
	void (*say)(int level, const char *text, void *userdata);
	void *userdata;
};

struct store_writer;

/*
 * Opens the store in `dir`, which is made if it is missing. Strings of `o` are borrowed. Errors with a sentence: -EBUSY (there is a
 * writer), those of mkdir and open.
 */
int store_writer_open(struct store_writer **ret, const char *dir, const struct store_options *o,
		      int64_t now_ns, char *error, size_t size);

/*
 * Adds n records in one transaction: all of them, or none and an error. `json` has for each the line of a start, status or stop
 * record, else NULL. After -ENOSPC and other trouble of the disk the same may be tried again. What is damaged is set aside and
 * told, and a new segment begun; that is no error.
 */
struct store_item {
	const struct exeunt_record *record;
	const char *json;
	size_t json_len;
};
int store_writer_add(struct store_writer *w, const struct store_item *items, size_t n,
		     int64_t now_ns);

/* Ends segments and drops old ones where it is time for that; best when there is nothing to add. */
void store_writer_tidy(struct store_writer *w, int64_t now_ns);

/* Of the last error, in words. */
const char *store_writer_error(const struct store_writer *w);

/* Bytes of the store, as last counted, and segments. */
uint64_t store_writer_bytes(const struct store_writer *w, size_t *segments);

/* NULL is accepted. */
void store_writer_free(struct store_writer *w);

#endif
