/* SPDX-License-Identifier: MIT */
/*
 * Which system call a number is, by architecture: only the four that start or end programs. A
 * constant table.
 */
#ifndef DECODE_AUDIT_ARCH_H
#define DECODE_AUDIT_ARCH_H

#include <stdint.h>

enum audit_call {
	AUDIT_CALL_OTHER,
	AUDIT_CALL_EXIT,       /* ends one thread, which may be the last one */
	AUDIT_CALL_EXIT_GROUP, /* ends the process */
	AUDIT_CALL_EXECVE,
	AUDIT_CALL_EXECVEAT,
};

/*
 * `arch` is AUDIT_ARCH_* as the record has it. Returns enum audit_call, or -ENOENT for an
 * architecture whose numbers are not known here: a guess would make exits of other calls.
 */
int audit_arch_call(uint32_t arch, int64_t number);

#endif
