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

#define BIT(field) (UINT64_C(1) << EXEUNT_F_##field)
#define STATUS_BITS                                                                          \
	(BIT(EXIT_CODE) | BIT(EXIT_SIGNAL) | BIT(EXIT_SIGNAL_NAME) | BIT(EXIT_CORE_DUMPED) | \
	 BIT(EXIT_CAUSE) | BIT(EXIT_STATUS))

_Static_assert(EXEUNT_F_EXIT_STATUS < 64, "the fields of a status are in the first word");

/* Both say how it ended, and not the same: what one of them says besides would be of another end. */
static bool is_contradicted(const struct exeunt_record *to, const struct exeunt_record *from)
{
	uint64_t how = BIT(EXIT_CODE) | BIT(EXIT_SIGNAL);
	uint64_t ours = to->present[0] & how, theirs = from->present[0] & how;

	if (!ours || !theirs)
		return false;
	if (ours != theirs)
		return true;
	return ours == BIT(EXIT_CODE) ? to->exit_code != from->exit_code
				      : to->exit_signal != from->exit_signal;
}

void record_fill(struct exeunt_record *to, const struct exeunt_record *from)
{
	uint64_t left_out = is_contradicted(to, from) ? STATUS_BITS : 0;

	for (int word = 0; word < EXEUNT_PRESENT_WORDS; word++) {
		uint64_t missing = from->present[word] & ~to->present[word];

		if (!word)
			missing &= ~left_out;
		to->inherited[word] |= from->inherited[word] & missing;
		for (; missing; missing &= missing - 1)
			record_copy_field(to, from, word * 64 + __builtin_ctzll(missing));
	}
}
