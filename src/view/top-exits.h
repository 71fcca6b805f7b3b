/* SPDX-License-Identifier: MIT */
/*
 * The latest exits, whole: so many of all, and no more than some of each group, so that one group that ends all the time does
 * not push the others out. Owns copies of the records.
 */
#ifndef VIEW_TOP_EXITS_H
#define VIEW_TOP_EXITS_H

#include <exeunt/record.h>

#include "view/top-groups.h"

#define TOP_EXITS_MOST 4096
#define TOP_EXITS_OF_GROUP 64

/* Bytes of text kept with one exit; arguments behind that are cut. */
#define TOP_EXIT_TEXT_MOST 8192

struct top_exit {
	struct exeunt_record record;
	struct top_exit *older, *newer;	 /* of all */
	struct top_exit *before, *after; /* of its group */
	struct top_group *group;	 /* NULL: it is gone */
	uint64_t id;			 /* of all exits that were ever kept */
	char *text;
	struct exeunt_bytes *args;
	size_t text_size, args_size;
};

struct top_exits {
	struct top_exit *newest, *oldest;
	uint32_t n, most;
	uint64_t next_id;
};

void top_exits_clear(struct top_exits *x);

/* Keeps a copy, in the place of the oldest if there is no room. NULL without memory. */
struct top_exit *top_exits_keep(struct top_exits *x, struct top_group *g,
				const struct exeunt_record *r);

/* The same exit, told anew. */
void top_exits_amend(struct top_exit *e, const struct exeunt_record *r);

/* The group goes; its exits stay. */
void top_exits_forget_group(struct top_group *g);

#endif
