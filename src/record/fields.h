/* SPDX-License-Identifier: MIT */
/*
 * The one field table: every field of struct exeunt_record with its path in JSON, its kind and its place.
 * Sinks, the filter language and the man page's test are driven by it; a new field is a row here, a number in
 * record.h and a member there. Owns nothing, allocates nothing.
 */
#ifndef RECORD_FIELDS_H
#define RECORD_FIELDS_H

#include <exeunt/record.h>

/* How a member is stored, and so how it is written and compared. */
enum field_kind {
	FIELD_I32,
	FIELD_U32,
	FIELD_U64,
	FIELD_TIME, /* int64_t, ns since 1970 UTC */
	FIELD_BOOL,
	FIELD_BYTES,	   /* struct exeunt_bytes */
	FIELD_COMM,	   /* char[20], NUL-terminated */
	FIELD_ARGS,	   /* const struct exeunt_bytes * with n_args */
	FIELD_SIGNAL_NAME, /* derived from exit_signal */
	FIELD_CAUSE,	   /* enum exeunt_cause as text */
	FIELD_ENTITY,	   /* derived: boot id, pid, entity_start_ns */
	FIELD_SOURCES,	   /* mask of sources, as an array of names */
	FIELD_PATHS	   /* presence words, as an array of paths */
};

enum field_unit { UNIT_NONE, UNIT_US, UNIT_NS, UNIT_BYTES };

struct field_info {
	const char *path;  /* dotted, as in JSON */
	const char *alias; /* short name for filters and people, or NULL */
	enum field_kind kind;
	enum field_unit unit;
	uint16_t offset; /* of the member in struct exeunt_record */
};

extern const struct field_info field_table[EXEUNT_F_COUNT];

/*
 * Finds a field by path, by alias, or by the end of its path after a dot where that is the only one ("exit.code").
 * Returns the field, -ENOENT, or -ENOTUNIQ when several paths end so.
 */
int field_find(const char *name, size_t len);

/*
 * "pid, exit, usage.cpu" -> the fields so named, a name of a group standing for all below it. Returns 0, or -EINVAL with
 * *bad and *bad_len as the name that is none, or of several.
 */
int field_parse_list(const char *list, uint64_t ret_mask[EXEUNT_PRESENT_WORDS], const char **bad,
		     size_t *bad_len);

/* A set of fields is EXEUNT_PRESENT_WORDS words. */
static inline bool field_in(const uint64_t *set, unsigned int field)
{
	return set[field / 64] >> (field % 64) & 1;
}

static inline void field_add(uint64_t *set, unsigned int field)
{
	set[field / 64] |= UINT64_C(1) << (field % 64);
}

static inline void field_set(struct exeunt_record *r, enum exeunt_field field)
{
	r->present[field / 64] |= UINT64_C(1) << (field % 64);
}

static inline void field_clear(struct exeunt_record *r, enum exeunt_field field)
{
	r->present[field / 64] &= ~(UINT64_C(1) << (field % 64));
}

static inline const void *field_ptr(const struct exeunt_record *r, enum exeunt_field field)
{
	return (const char *)r + field_table[field].offset;
}

/* A record that a filter judges; the others are about the collector itself. */
static inline bool record_is_about_process(const struct exeunt_record *r)
{
	return r->type == EXEUNT_TYPE_EXIT || r->type == EXEUNT_TYPE_THREAD ||
	       r->type == EXEUNT_TYPE_AMEND || r->type == EXEUNT_TYPE_INTERIM;
}

#endif
