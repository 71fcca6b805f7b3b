/* SPDX-License-Identifier: MIT */
/*
 * Records the newest first, with what came later about an exit put into its line: an amend is met before the exit that it is
 * about, and kept until then. The last few hundred are kept; one whose exit does not come is passed over.
 */
#ifndef CMD_NEWEST_H
#define CMD_NEWEST_H

#include <exeunt/record.h>

#include "base/util.h"

struct newest;

/* Called for each exit, and each loss. True: no more. */
typedef bool (*newest_fn)(const struct exeunt_record *r, void *userdata);

int newest_new(struct newest **ret, newest_fn fn, void *userdata);
void newest_free(struct newest *n);

/* The next record; borrowed. Returns what the function returned. Threads and interims are passed over. */
bool newest_take(struct newest *n, const struct exeunt_record *r);

#endif
