/* SPDX-License-Identifier: MIT */
/*
 * A walk over the name=value fields of an audit record, and what their values stand for. Bounded,
 * without allocation and without state; what it returns are slices of the text. Which names mean
 * what is not known here.
 */
#ifndef DECODE_AUDIT_FIELD_H
#define DECODE_AUDIT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

enum audit_quote { AUDIT_BARE, AUDIT_QUOTED, AUDIT_UNTERMINATED };

struct audit_field {
	struct exeunt_bytes name;
	struct exeunt_bytes value;  /* without its quotes */
	struct exeunt_bytes before; /* words without '=' that stood in front of the name */
	uint64_t key; /* the name's first 8 bytes, the first one lowest, padded with 0 */
	enum audit_quote quote;
};

struct audit_cursor {
	const char *at, *end;
	struct exeunt_bytes glued; /* an enriched part that had lost its separator */
	struct exeunt_bytes
		tail; /* at the end of the walk: words without '=' behind the last field */
};

void audit_fields_begin(struct audit_cursor *ret, struct exeunt_bytes text);

/* Returns false at the end of the fields. */
bool audit_field_next(struct audit_cursor *c, struct audit_field *ret);

/* First 8 bytes of a name as struct audit_field has them; `name` is padded with 0 to 8 bytes. */
uint64_t audit_name_key(const char *name);

/*
 * The bytes that an untrusted string stands for (audit_log_untrustedstring() in kernel/audit.c):
 * quotes removed, or bare upper-case hexadecimal decoded into `buf`, which may be the value's own
 * memory; half its length is enough. Errors: -ENODATA there is no value: "(null)", "(none)", "?" or
 * empty; -EBADMSG neither form, or cut; -ENOBUFS `size` is too small.
 */
int audit_decode_untrusted(struct exeunt_bytes *ret, const struct audit_field *field, char *buf,
			   size_t size);

/* Whole-value numbers. Errors: -EBADMSG for anything else, -ERANGE. */
int audit_decode_u64(uint64_t *ret, const struct exeunt_bytes *value);
int audit_decode_hex(uint64_t *ret, const struct exeunt_bytes *value);

#endif
