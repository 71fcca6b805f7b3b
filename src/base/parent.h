/* SPDX-License-Identifier: MIT */
/* The directory that a file is to be made in. */
#ifndef BASE_PARENT_H
#define BASE_PARENT_H

/* Makes it, mode 0755, if it alone is missing. 0 when it is there or there is none to make; -ENAMETOOLONG, or that of mkdir(2). */
int parent_make(const char *path);

#endif
