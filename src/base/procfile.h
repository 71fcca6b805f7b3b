/* SPDX-License-Identifier: MIT */
/* One-line files of /proc and /sys. */
#ifndef BASE_PROCFILE_H
#define BASE_PROCFILE_H

#include <stddef.h>

/* Reads the first line, without its newline; cut to fit. Returns its length or a negative errno, buf then being "". */
int procfile_line(const char *path, char *buf, size_t size);

#endif
