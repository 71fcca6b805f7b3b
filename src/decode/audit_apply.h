/* SPDX-License-Identifier: MIT */
/*
 * Fills a struct from the fields of an audit record by a table: one row a field. The rows stand in
 * the order in which the kernel writes the fields, so that each is nearly always found at the first
 * try; any other order works too.
 */
#ifndef DECODE_AUDIT_APPLY_H
#define DECODE_AUDIT_APPLY_H

#include <stddef.h>
#include <stdint.h>

#include "decode/audit_field.h"

enum audit_row_kind {
	AUDIT_ROW_SKIP,	  /* known, not wanted */
	AUDIT_ROW_PID,	  /* int32_t, not negative */
	AUDIT_ROW_U32,	  /* uint32_t; -1 is 4294967295, as programs write an unset id */
	AUDIT_ROW_I64,	  /* int64_t */
	AUDIT_ROW_HEX,	  /* uint64_t, hexadecimal with or without 0x */
	AUDIT_ROW_BOOL,	  /* bool: yes, success, 1; no, failed, 0 */
	AUDIT_ROW_WORD,	  /* struct exeunt_bytes, as it stands */
	AUDIT_ROW_LABEL,  /* the same, and the words behind it: "docker-default (enforce)" */
	AUDIT_ROW_STRING, /* struct exeunt_bytes, an untrusted string */
};

struct audit_row {
	char name[16]; /* padded with 0 */
	uint8_t len;
	uint8_t kind;
	uint16_t offset;
	uint64_t bit; /* in the mask of what is there */
};

struct audit_rows {
	const struct audit_row *rows;
	size_t n;
	uint64_t enough; /* when all of these are met the walk may end; 0: never */
	uint64_t last;	 /* the kernel always ends with this one: without it the record is cut */
};

/* Where decoded strings go. */
struct audit_pool {
	char *at, *end;
};

/*
 * Walks `text` and fills `dst`. Of a field that comes twice the first one counts. What cannot be
 * read is not set. With `cut`, or without the field that must come last, the last field counts only
 * if it has both quotes. *has: bits of the values set. *glued: an enriched part without separator,
 * if there was one.
 */
void audit_apply(const struct audit_rows *table, struct exeunt_bytes text, bool cut, void *dst,
		 uint64_t *has, struct audit_pool *pool, struct exeunt_bytes *glued);

#endif
