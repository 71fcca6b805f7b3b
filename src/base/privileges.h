/* SPDX-License-Identifier: MIT */
/* Giving up privileges for good, with libcap-ng, and making sure of it. */
#ifndef BASE_PRIVILEGES_H
#define BASE_PRIVILEGES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Drops all capabilities but those of the mask `keep` (1 << CAP_...), also from the bounding set where that is allowed,
 * forbids new ones at exec, and becomes `user` (a name or a number; NULL: stays). Verifies what it did. Errors: -ENOENT (no such user), -EPERM; `error` then has
 * the sentence.
 */
int privileges_drop(const char *user, uint64_t keep, char *error, size_t error_size);

/*
 * Lets this process run as soon as it is woken, before ordinary ones; its children do not inherit it. Needs CAP_SYS_NICE.
 * Does what it may: SCHED_FIFO, else a high nice value, else nothing.
 */
void privileges_run_promptly(void);

#endif
