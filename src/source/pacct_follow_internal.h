/* SPDX-License-Identifier: MIT */
/*
 * The inside of pacct_follow.h, shared by pacct_follow.c (reading) and pacct_turn.c (one file is
 * found to be another).
 */
#ifndef SOURCE_PACCT_FOLLOW_INTERNAL_H
#define SOURCE_PACCT_FOLLOW_INTERNAL_H

#include "source/pacct_follow.h"

#define FOLLOW_DONE 16u	 /* files read to their end that are remembered, to know their copies */
#define FOLLOW_MOST 200u /* files held at a time */

struct pacct_follow {
	char *path, *dir, *prefix;
	const char *name; /* within path */
	struct pacct_file *
		*files; /* the oldest first; the last one is that of the path, once it existed */
	unsigned int n, size;
	uint64_t changes; /* counts files that came or went */
	struct pacct_file
		*current; /* what was handed on last is of this one; NULL: a FILE step is due */
	struct pacct_position done[FOLLOW_DONE];
	unsigned int n_done;
	bool gap;
	int64_t gap_since_ns;
	int64_t turned_ns;	 /* when the path last led to another file */
	struct pacct_now looked; /* when the path was last seen to lead to the last file */
	unsigned char buffer[PACCT_MARK + PACCT_CHUNK];
};

int follow_set_path(struct pacct_follow *f, const char *path);

/* Takes over `file`. Errors: -ENOMEM. */
int follow_insert(struct pacct_follow *f, unsigned int at, struct pacct_file *file);
void follow_drop(struct pacct_follow *f, unsigned int at);
void follow_remember(struct pacct_follow *f, const struct pacct_position *p);

/* The next bytes come with a FILE step, at which the decoder decides on what it holds. */
void follow_leave(struct pacct_follow *f);

/* What was read of this file is no longer in it. */
int follow_cut_off(struct pacct_follow *f, struct pacct_file *file, struct pacct_now now);

#endif
