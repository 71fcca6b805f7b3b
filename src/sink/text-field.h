/* SPDX-License-Identifier: MIT */
/* One field of a record as text for people: any field of the field table. Part of the text sink. */
#ifndef SINK_TEXT_FIELD_H
#define SINK_TEXT_FIELD_H

#include "base/format.h"
#include "base/util.h"

#include <exeunt/record.h>

/* Text that grows. All zero is a good start. */
struct text_buffer {
	char *data;
	size_t len, size;
};

/* Sees to `more` bytes behind the text, and some. Errors: -ENOMEM. */
int text_buffer_room(struct text_buffer *b, size_t more);

/*
 * Adds the value, "-" if it is absent, safe for a terminal, at most `columns` wide (-1: all of it). Returns the columns that it
 * takes, or -ENOMEM.
 */
int text_field(struct text_buffer *b, const struct exeunt_record *r, unsigned int field,
	       int columns, bool utc);

/* The same with bytes of any kind. */
int text_field_raw(struct text_buffer *b, const char *s, size_t len, int columns);

/* "2026-01-02 03:04:05", local time or UTC; returns the length. 32 bytes are enough. */
size_t text_time(char *p, int64_t ns, bool utc);

#endif
