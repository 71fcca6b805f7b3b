/* SPDX-License-Identifier: MIT */
/*
 * The files beside an accounting file: which of them are those that we have read from before, under
 * whatever name, as a copy or packed, and which came since. Rotation is not guessed from names:
 * only from inodes, content and times.
 */
#ifndef SOURCE_PACCT_SCAN_H
#define SOURCE_PACCT_SCAN_H

#include <limits.h>

#include "source/pacct_file.h"

#define PACCT_SCAN_MOST 512

enum pacct_found {
	PACCT_FOUND_OTHER,   /* not looked at yet, or of no interest: written before */
	PACCT_FOUND_KNOWN,   /* read before up to file.pos, which is set; `match` is the position */
	PACCT_FOUND_SHORTER, /* a shorter copy of what was read before; `match` */
	PACCT_FOUND_COPY,    /* of a file that was found too, or was read before */
	PACCT_FOUND_NEW,     /* begun since */
};

struct pacct_candidate {
	struct pacct_file *file; /* the caller may take it, and leaves NULL */
	char name[NAME_MAX + 1];
	bool is_path;
	enum pacct_found found;
	unsigned int match;
};

struct pacct_scan {
	struct pacct_candidate
		*all; /* after pacct_scan_match() the oldest first, that of the path last */
	unsigned int n, size;
};

/*
 * Opens all regular files in `dir` whose names begin with `prefix`: nothing more, or anything
 * behind a character that is no letter. `name` is the one that is followed. Errors: those of
 * opendir(3), -ENOMEM; files that cannot be opened are left out.
 */
int pacct_scan_open(struct pacct_scan *s, const char *dir, const char *name, const char *prefix);
void pacct_scan_close(struct pacct_scan *s);

/*
 * What was last changed after `newer_ns` (CLOCK_REALTIME) and does not match a position is new.
 * Errors: of read.
 */
int pacct_scan_match(struct pacct_scan *s, const struct pacct_position *p, unsigned int n,
		     int64_t newer_ns);

#endif
