/* SPDX-License-Identifier: MIT */
/*
 * Names of users and groups by number, cached and bounded. The C library is asked once for each number and again after
 * ten minutes, since a directory service may be slow. Owns the names.
 */
#ifndef BASE_USERS_H
#define BASE_USERS_H

#include <stddef.h>
#include <stdint.h>

struct users;

/* Errors: -ENOMEM. */
int users_new(struct users **ret);
void users_free(struct users *u);

/* The name, valid until the next call of either, and its length; NULL when the number has none. */
const char *users_name(struct users *u, uint32_t uid, int64_t now_ns, size_t *len);
const char *users_group(struct users *u, uint32_t gid, int64_t now_ns, size_t *len);

#endif
