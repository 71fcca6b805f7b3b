/* SPDX-License-Identifier: MIT */
/*
 * Any field of the field table as other programs want it: numbers without a unit of their own, true and false, times as
 * RFC 3339, strings byte for byte, arguments quoted as a shell would read them back, lists with commas.
 */
#ifndef SINK_PLAIN_H
#define SINK_PLAIN_H

#include "base/format.h"
#include "record/entity.h"
#include "sink/text-field.h"

struct plain {
	char boot_hex[ENTITY_BOOT_LEN + 1]; /* see entity_boot_id() */
	struct fmt_time times;
};

/* Adds the value of a field that is present. Errors: -ENOMEM. */
int plain_field(struct plain *p, struct text_buffer *b, const struct exeunt_record *r,
		unsigned int field);

/* Adds bytes as they are. Errors: -ENOMEM. */
int plain_bytes(struct text_buffer *b, const void *data, size_t len);
int plain_str(struct text_buffer *b, const char *s);
int plain_u64(struct text_buffer *b, uint64_t v);

#endif
