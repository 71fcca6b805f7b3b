/* SPDX-License-Identifier: MIT */
/*
 * The state file: where the reading of accounting files had come to, so that after a crash nothing
 * is lost and nothing comes twice. A few lines of text with a digest at the end; written beside and
 * renamed, so that there is always a whole one. Owns nothing between calls.
 */
#ifndef SOURCE_PACCT_STATE_H
#define SOURCE_PACCT_STATE_H

#include "source/pacct_file.h"

#define PACCT_POSITIONS 256
#define PACCT_NOTE 400
#define PACCT_STATE_MOST 65536 /* bytes of text */

struct pacct_state {
	int64_t saved_ns; /* CLOCK_REALTIME: what was written before is covered */
	bool down;	  /* accounting did not work when this was saved */
	unsigned int n;
	struct pacct_position positions[PACCT_POSITIONS]; /* the file last begun is the last */
	char note[PACCT_NOTE + 1];			  /* of the caller, any bytes but NUL */
};

/* Writes the text to `buf` of PACCT_STATE_MOST bytes; returns its length. */
size_t pacct_state_format(char *buf, const struct pacct_state *s);

/* Errors: -EBADMSG (not what the above writes), -EPROTONOSUPPORT (of a later version). */
int pacct_state_parse(struct pacct_state *s, const char *text, size_t len);

/*
 * Errors: -ENOENT; those of the above, the file having been renamed to PATH.bad; those of read. On
 * every error but -ENOENT, `saved_ns` is when the file was last changed, and the rest is empty.
 */
int pacct_state_load(struct pacct_state *s, const char *path);

/* Errors: those of open, write and rename; what was there before is then untouched. */
int pacct_state_save(const struct pacct_state *s, const char *path);

#endif
