/* SPDX-License-Identifier: MIT */
/* exeunt report --since-last: how far the report of that name came in a store. */
#ifndef CMD_SINCE_LAST_H
#define CMD_SINCE_LAST_H

#include <stdint.h>

/* `paths` has to be the directory of one store. Tells what is wrong and returns an exit status, or -1 and the position. */
int since_last_recall(char **paths, int n, const char *name, int64_t *ret_position);

/* Once the table is out, so that what nobody saw is told again. An exit status. */
int since_last_remember(const char *dir, const char *name, int64_t position);

#endif
