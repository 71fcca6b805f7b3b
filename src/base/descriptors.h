/* SPDX-License-Identifier: MIT */
/* For a process that was forked to do one thing: which descriptors it goes on with. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stddef.h>

/* Closes all from this one on. */
void descriptors_close_from(unsigned int first);

/*
 * Keeps `n` descriptors, at most 8, as 3, 4 ... in that order, makes 0 to 2 /dev/null, and closes all others: nothing of the
 * process that it was forked from may be held open. Returns 0 or -errno.
 */
int descriptors_keep(const int *fds, size_t n);

#endif
