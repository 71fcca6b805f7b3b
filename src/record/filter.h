/* SPDX-License-Identifier: MIT */
/*
 * The filter language of --filter: an expression over the names of the field table, compiled once, asked for each
 * record. exeunt(8) has the language for its users; the rules that a caller must know:
 *
 *	- Only records about a process are judged: exit, thread, amend, interim. All others always pass, so that a
 *	  filter never hides a loss or the balance.
 *	- Three values: a comparison with a field that the record does not have is unknown, `not` leaves it unknown,
 *	  and only true passes.
 *	- Known is what the record says by leaving a field out: a process that a signal ended has no exit code, so
 *	  `code != 0` is true of it; `core`, `backfilled` are false, `certain` is true, `missing` and `inherited` are
 *	  empty when left out.
 *
 * A filter may ask for user and group names while it is compiled, never later. Asking it allocates nothing, apart from
 * what regexec(3) does by itself, which it is spared for patterns without operators. One thread at a time.
 */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include <exeunt/record.h>

struct filter;

/* Enough for any message of filter_new(). */
#define FILTER_ERROR_SIZE 1024

/*
 * Compiles `expr`. On -EINVAL `error` holds three lines without a newline behind: the message with the column, the
 * expression, and a caret under the place; no control byte apart from the two newlines. Also -ENOMEM.
 */
int filter_new(struct filter **ret, const char *expr, char *error, size_t error_size);

/*
 * The same for an expression of somebody who may not make us wait. Accounts are looked up in /etc/passwd and
 * /etc/group, never with a name service, and no more than 16 of them. Patterns are plain text with ^ and $, as
 * regexec(3) takes seconds and 100 MB for `[ab]*a[ab]{20}c` in 4 KB of text.
 */
int filter_new_promptly(struct filter **ret, const char *expr, char *error, size_t error_size);

/* NULL is accepted. */
void filter_free(struct filter *f);

/* True if asking it may take long enough to be worth measuring: it has patterns, or looks through all arguments. */
bool filter_is_costly(const struct filter *f);

/* Sets the bits of the fields that it asks about. */
void filter_fields(const struct filter *f, uint64_t ret_mask[EXEUNT_PRESENT_WORDS]);

/* True if the record is to be shown. */
bool filter_match(const struct filter *f, const struct exeunt_record *r);

#endif
