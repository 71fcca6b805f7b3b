/* SPDX-License-Identifier: MIT */
/*
 * Where does the kernel write its accounting records? It cannot be asked; so a child is made to
 * end, and the file that its record appears in is the answer.
 */
#ifndef SOURCE_PACCT_DETECT_H
#define SOURCE_PACCT_DETECT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PACCT_PROBES 8

struct pacct_where {
	bool found;
	char path[PATH_MAX]; /* of the file that the record appeared in */
	/*
	 * The path that this file had before it was rotated, which the next one will have; else the
	 * same.
	 */
	char follow[PATH_MAX];
	/* Not found, and a usual place has too little room for the kernel to write there. */
	bool may_be_paused;
	int32_t children[PACCT_PROBES]; /* that were made to end */
	unsigned int n_children;
};

/*
 * Looks in `first` (a path; NULL: nowhere) and beside it in files whose names begin with `prefix`
 * (NULL: its name), then where distributions and we have it, at last anywhere, if privileges allow
 * that. Errors: -ENOMEM, those of fork.
 */
int pacct_detect(struct pacct_where *w, const char *first, const char *prefix);

/*
 * Makes a child end; when this returns, its record is in the file if it will ever be. Returns its
 * pid. Errors: of fork.
 */
pid_t pacct_end_child(void);

/*
 * Anywhere: the kernel tells who writes to what. Needs CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH and Linux
 * 5.9. Returns 1 and the path; 0 if the child's end changed no file; errors: of fanotify_init(2)
 * and fork.
 */
int pacct_search(struct pacct_where *w);

/*
 * True if so little of the file system is free that the kernel may have paused accounting; any file
 * on it.
 */
bool pacct_lacks_room(int fd);

#endif
