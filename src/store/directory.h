/* SPDX-License-Identifier: MIT */
/*
 * The names in the directory of a store. A segment is "exeunt-FIRSTID-TIME.db": twelve digits and more of the first id in it, and
 * when it was begun, UTC; so that names sort as records came.
 */
#ifndef STORE_DIRECTORY_H
#define STORE_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#define STORE_PATH_SIZE 4096

struct store_names {
	char **paths; /* in order */
	size_t n;
};

/* The segments that are there. Errors: those of opendir(3), -ENOMEM, -ENAMETOOLONG. */
int store_list(struct store_names *ret, const char *dir);
void store_names_done(struct store_names *names);

/* The path of a segment that begins with this id now. -ENAMETOOLONG. */
int store_segment_path(char buf[STORE_PATH_SIZE], const char *dir, int64_t first_id,
		       int64_t now_ns);

/* The first id as the name has it; -EINVAL when it is no segment's name. */
int64_t store_first_id(const char *path);

#endif
