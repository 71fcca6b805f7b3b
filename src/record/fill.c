/* SPDX-License-Identifier: MIT */
/* See fill.h. */
#include "record/fill.h"

#include "base/util.h"
#include "record/fields.h"

static size_t size_of(enum field_kind kind)
{
	switch (kind) {
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_U64:
	case FIELD_TIME:
	case FIELD_ENTITY:
		return sizeof(uint64_t);
	case FIELD_BYTES:
		return sizeof(struct exeunt_bytes);
	case FIELD_COMM:
		return sizeof(((struct exeunt_record *)0)->comm);
	case FIELD_ARGS:
		return sizeof(struct exeunt_bytes *);
	case FIELD_PATHS:
		return sizeof(((struct exeunt_record *)0)->inherited);
	case FIELD_CAUSE:
		return sizeof(enum exeunt_cause);
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_SIGNAL_NAME:
	case FIELD_SOURCES:
		return sizeof(uint32_t);
	}
	return 0;
}

void record_copy_field(struct exeunt_record *to, const struct exeunt_record *from,
		       enum exeunt_field field)
{
	const struct field_info *f = &field_table[field];

	memcpy((char *)to + f->offset, (const char *)from + f->offset, size_of(f->kind));
	if (f->kind == FIELD_ARGS)
		to->n_args = from->n_args;
	field_set(to, field);
}

void record_fill(struct exeunt_record *to, const struct exeunt_record *from)
{
	for (int word = 0; word < EXEUNT_PRESENT_WORDS; word++) {
		uint64_t missing = from->present[word] & ~to->present[word];

		to->inherited[word] |= from->inherited[word] & missing;
		for (; missing; missing &= missing - 1)
			record_copy_field(to, from, word * 64 + __builtin_ctzll(missing));
	}
}
