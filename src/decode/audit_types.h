/* SPDX-License-Identifier: MIT */
/*
 * Names and numbers of audit record types: a constant table, nothing else.
 */
#ifndef DECODE_AUDIT_TYPES_H
#define DECODE_AUDIT_TYPES_H

#include <stddef.h>

/* The number behind "SYSCALL", "UNKNOWN[1425]" or "1300"; -1 for a name that is not known here. */
int audit_type_number(const char *name, size_t len);

/* NULL for a number without a name. */
const char *audit_type_name(int type);

#endif
