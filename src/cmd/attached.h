/* SPDX-License-Identifier: MIT */
/*
 * The lines of a daemon's socket, one by one: what each means, and how it is shown. See attach.h.
 *
 * The filter is the daemon's to apply where it takes it: where it is no more than plain comparisons and the
 * host's own accounts. Else it is applied here, and JSON is written anew with numbers of its own, so that these
 * have no gaps.
 */
#ifndef CMD_ATTACHED_H
#define CMD_ATTACHED_H

#include "cmd/stream.h"

struct attached;

enum {
	ATTACHED_GONE = 1,   /* the daemon closed */
	ATTACHED_BROKEN = 2, /* what came is not understood, or was a refusal; told */
};

/* Sends the filter, if the daemon shall have it. -ENOMEM, or the error of sending. */
int attached_new(struct attached **ret, struct stream *s, int fd, const char *path);
void attached_free(struct attached *a);

/* A line without its newline. 0, or ATTACHED_BROKEN. */
int attached_line(struct attached *a, const char *line, size_t len);

/* To stderr. */
void attached_tell_gone(const struct attached *a);
void attached_summary(const struct attached *a);

#endif
