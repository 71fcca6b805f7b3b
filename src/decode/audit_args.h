/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a process, put together from EXECVE records or taken from a PROCTITLE record.
 * Owns its tables, which it uses again for the next process; the strings are slices of the records
 * or of the pool.
 */
#ifndef DECODE_AUDIT_ARGS_H
#define DECODE_AUDIT_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/record.h>

#include "decode/audit_apply.h"

/* More are cut off, and it is said so. */
#define AUDIT_ARGS_MAX 4096

struct audit_piece;

struct audit_args {
	struct exeunt_bytes *v; /* what the functions below fill */
	uint32_t n;
	bool cut; /* some are missing or shortened, or may be */

	uint32_t cap;
	struct audit_piece *pieces;
	uint32_t n_pieces, cap_pieces;
	uint32_t argc;
	uint32_t records;
	uint64_t bytes; /* text of all records */
	bool sorted, has_argc;
};

void audit_args_done(struct audit_args *args);

/*
 * PROCTITLE: the kernel keeps 128 bytes of it (MAX_PROCTITLE_AUDIT_LEN), arguments with a NUL
 * behind each. Returns 1 with the arguments, 0 if there are none to be had, or -ENOMEM.
 */
int audit_args_title(struct audit_args *args, struct exeunt_bytes raw, bool cut,
		     struct audit_pool *pool);

/*
 * EXECVE: begin, then each record of the event in any order, then finish, which returns as
 * audit_args_title(). A long argument comes in pieces, a2[0], a2[1] and so on, over several
 * records.
 */
void audit_args_begin(struct audit_args *args);
int audit_args_add(struct audit_args *args, struct exeunt_bytes raw, bool cut);
int audit_args_finish(struct audit_args *args, struct audit_pool *pool);

#endif
