/* SPDX-License-Identifier: MIT */
/*
 * Exits once each over a crash: the position in the accounting file and the length of the output are remembered together
 * (--pacct-state). Before a batch of lines is written, the state says how long the output will be with it; after a crash
 * in the middle, the half batch is cut off and the position before it taken. This needs an output that is a regular file.
 */
#ifndef CMD_RESUME_H
#define CMD_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/exeunt.h>

struct output;

struct resume {
	const char *path; /* of the state; NULL: nothing is remembered */
	int fd;		  /* of the output */
	bool regular;
	int64_t saved_ns; /* monotonic */
	int error;	  /* as last told */
};

/*
 * Before the sources are opened: makes state and output agree, which a crash may have left otherwise. Returns 0, or a
 * negative errno after a message.
 */
int resume_begin(struct resume *r, const char *path, int output_fd);

/* Whether a flush may wait for more, so that the state is not written for each line. */
bool resume_may_wait(const struct resume *r, int64_t now_ns);

/* Before what is queued in `o` is written. */
void resume_before_flush(struct resume *r, struct exeunt *x, const struct output *o,
			 int64_t now_ns);

/* At the end, when everything is written. */
void resume_end(struct resume *r, struct exeunt *x);

#endif
