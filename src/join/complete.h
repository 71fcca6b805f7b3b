/* SPDX-License-Identifier: MIT */
/*
 * The last step before a record goes out: who it was, from the context table, and its times made
 * exact.
 */
#ifndef JOIN_COMPLETE_H
#define JOIN_COMPLETE_H

#include "join/joiner.h"

/*
 * Looks the process up, fills what the table knows, and lets the table forget it. Does nothing
 * without a table.
 */
void complete_from_context(struct joiner *j, struct process *p, int64_t now_ns);

/*
 * It called exec, and what the table knows of the program is not all that an audit record of that
 * would bring.
 */
bool complete_lacks_program(const struct joiner *j, const struct process *p);

/*
 * It called exec once of late, so that what audit tells of that later is about the program that
 * ended.
 */
bool complete_may_be_told(const struct joiner *j, const struct process *p);

#endif
