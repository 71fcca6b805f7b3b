/* SPDX-License-Identifier: MIT */
/*
 * The table of `exeunt top` at one moment: rows of one grouping in one window, filtered and sorted. Owns copies, so that it
 * stands while the model goes on.
 */
#ifndef VIEW_TOP_TABLE_H
#define VIEW_TOP_TABLE_H

#include <exeunt/record.h>

#include "view/top-key.h"
#include "view/top-model.h"

struct filter;

enum top_column {
	TOP_COLUMN_EXITS,
	TOP_COLUMN_RATE,
	TOP_COLUMN_FAILED,
	TOP_COLUMN_KILLED,
	TOP_COLUMN_CPU,
	TOP_COLUMN_SHARE,
	TOP_COLUMN_MEAN,
	TOP_COLUMN_LONGEST,
	TOP_COLUMN_RSS,
	TOP_COLUMN_READ,
	TOP_COLUMN_WRITTEN,
	TOP_COLUMN_MAJOR,
	TOP_COLUMN_DELAY,
	TOP_COLUMN_NAME,
	TOP_COLUMNS
};

struct top_row {
	struct top_sums sums;
	bool others; /* what had no room for groups of its own */
	bool known;  /* that by which it is grouped */
	struct exeunt_bytes part;
	const uint8_t *key; /* of one of its groups */
	size_t key_len;
};

struct top_choice {
	enum top_by by;
	enum top_window window;
	enum top_column sort;
	bool reverse;		     /* the least first */
	const struct filter *filter; /* over what a key has; NULL: all */
};

struct top_table {
	struct top_choice choice; /* that it was made by, without the filter */
	struct top_row *rows;	  /* the others come last, if there are any */
	size_t n, room;
	struct top_sums total; /* of all rows */
	double seconds;	       /* that the window has seen, weighed as it fades; 0: none yet */
	uint64_t given_up;     /* groups that are among the others */
	uint8_t *text;	       /* that the rows point into */
	size_t text_size;
	uint32_t *slots;
	size_t n_slots;
};

/* Makes it anew. Errors: -ENOMEM; it is then empty. All zero is a good start. */
int top_table_make(struct top_table *t, struct top_model *m, const struct top_choice *c);
void top_table_sort(struct top_table *t, enum top_column sort, bool reverse);
void top_table_clear(struct top_table *t);

/* What a column has of these sums; below 0: not known. */
double top_column_value(const struct top_sums *s, enum top_column c);

/* Seconds by which a sum of that window is divided for a rate. */
double top_window_seconds(const struct top_model *m, enum top_window window);

#endif
