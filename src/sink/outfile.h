/* SPDX-License-Identifier: MIT */
/* Opening a file that lines are written to, or added to. */
#ifndef SINK_OUTFILE_H
#define SINK_OUTFILE_H

#include <stdbool.h>

enum outfile_how {
	OUTFILE_REPLACE, /* what was there goes */
	OUTFILE_KEEP,	 /* what was there stays, in front */
	OUTFILE_ADD, /* the same; half a line at its end gets its newline, and a FIFO needs no reader */
};

/*
 * Makes the file, mode 0640, if it is not there. Returns a descriptor for writing, or -errno. A FIFO that is added to is opened
 * for reading as well: that can be done before there is a reader, and outlives each of them.
 */
int outfile_open(const char *path, enum outfile_how how);

#endif
