/* SPDX-License-Identifier: MIT */
/*
 * Records out of one segment, in the order in which they came or newest first. Does not disturb a writer, and sees what was
 * committed when it was opened.
 */
#ifndef STORE_READER_H
#define STORE_READER_H

#include <exeunt/record.h>

#include "base/util.h"

struct store_reader;

struct store_query {
	const uint64_t *fields; /* EXEUNT_PRESENT_WORDS words: only these are read; NULL: all */
	bool newest_first;
	int64_t after_id; /* only what came later; 0: all */
	int64_t since_ns,
		until_ns; /* of process_exit_time, for records about processes; 0: no bound */
};

/* Errors as segment_open(), with a sentence. The query is copied, but not what it points to. */
int store_reader_new(struct store_reader **ret, const char *path, const struct store_query *query,
		     char *error, size_t size);
void store_reader_free(struct store_reader *r);

/* One of them is there: the others are NULL. Borrowed until the next call. */
struct store_row {
	int64_t id;
	const char *host_name, *boot_id; /* of the run that wrote it; "" if not known */
	struct exeunt_record record;	 /* of a status record only type, seq and time */
	const char *json; /* start, status, stop: the line as it was put out, without newline */
};

/* Returns 1 and a row; 0 at the end; -errno, and store_reader_error() has the sentence. */
int store_reader_next(struct store_reader *r, const struct store_row **ret);
const char *store_reader_error(const struct store_reader *r);

#endif
