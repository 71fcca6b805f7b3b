/* SPDX-License-Identifier: MIT */
/*
 * A record of one's own: a borrowed record with all that it points to, in one piece of memory. For whoever has to keep
 * records beyond the call that hands them over. The sources of a status are kept too.
 */
#ifndef RECORD_COPY_H
#define RECORD_COPY_H

#include <exeunt/record.h>

/* Bytes that record_copy() takes; a multiple of the alignment of a record. */
size_t record_copy_size(const struct exeunt_record *r);

/* Fills `buf`, which is aligned for a record and has room for record_copy_size(); the copy begins there. */
struct exeunt_record *record_copy(void *buf, const struct exeunt_record *r);

#endif
