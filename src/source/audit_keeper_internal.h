/* SPDX-License-Identifier: MIT */
/* Between the two halves of the keeper and for nobody else: a byte is a question, a struct audit_facts the answer. */
#ifndef SOURCE_AUDIT_KEEPER_INTERNAL_H
#define SOURCE_AUDIT_KEEPER_INTERNAL_H

/* The life of the forked process; `fd` is its end of the socket. */
_Noreturn void keeper_run(int fd);

#endif
