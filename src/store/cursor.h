/* SPDX-License-Identifier: MIT */
/*
 * How far somebody has read a store: a small file "cursor-NAME" in its directory, with the id of the last row. Written at once or
 * not at all. A name has letters, digits, '-', '_' and '.', and does not begin with '.'.
 */
#ifndef STORE_CURSOR_H
#define STORE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

bool store_cursor_is_name(const char *name);

/* Returns 0 and the id, which is 0 when there is no such cursor yet; -EBADMSG: it is damaged; or that of open(2). */
int store_cursor_read(const char *dir, const char *name, int64_t *ret_id);
int store_cursor_write(const char *dir, const char *name, int64_t id);

#endif
