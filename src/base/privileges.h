/* SPDX-License-Identifier: MIT */
/* Giving up privileges for good, with libcap-ng, and making sure of it. */
#ifndef BASE_PRIVILEGES_H
#define BASE_PRIVILEGES_H

#include <stddef.h>

/*
 * Drops all capabilities, also from the bounding set where that is allowed, forbids new ones at exec, and becomes
 * `user` (a name or a number; NULL: stays). Verifies what it did. Errors: -ENOENT (no such user), -EPERM; `error` then has
 * the sentence.
 */
int privileges_drop(const char *user, char *error, size_t error_size);

#endif
