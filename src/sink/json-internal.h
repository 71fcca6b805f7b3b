/* SPDX-License-Identifier: MIT */
/* What the files of the JSON sink share; see json.h. Not for others. */
#ifndef SINK_JSON_INTERNAL_H
#define SINK_JSON_INTERNAL_H

#include "base/format.h"
#include "record/entity.h"
#include "record/fields.h"
#include "sink/json.h"

#define JSON_INT_MAX ((UINT64_C(1) << 53) - 1)

/* Most bytes that a text of `len` bytes can become, with its _hex: \u0000 for each, and two digits. */
#define JSON_STRING_MAX(len) (8 * (size_t)(len) + JSON_SIBLING_MAX)
#define JSON_SIBLING_MAX 64 /* ,"some_key_hex":"" */
#define JSON_U64_MAX (FMT_U64_MAX + JSON_SIBLING_MAX + 16)

#define JSON_PATH_ROOM 48 /* of each path in `inherited`; the unit test inherits all */

/* Step kinds are those of the field table and this one. */
#define STEP_END (FIELD_PATHS + 1)

/* A piece of constant text, and the value behind it. */
struct step {
	uint16_t len;	 /* of the literal, which begins where the one before ends */
	uint16_t offset; /* of the member in struct exeunt_record */
	uint8_t kind;
	uint8_t field; /* for times: the number of their cache */
};

/* The recipe for all lines of one type with the same fields. */
struct plan {
	uint64_t present[EXEUNT_PRESENT_WORDS];
	uint16_t type;
	uint16_t n_variable;
	uint32_t bound; /* bytes that everything but the variable fields can take, with slack */
	uint8_t variable[EXEUNT_F_COUNT];
	const char *literals;
	struct step steps[];
};

#define PLAN_SETS 16
#define PLAN_WAYS 4

/* One cache for each time in a line: creation times lie far apart, the others go forward together. */
enum { TIME_RECORD, TIME_CREATION, TIME_EXIT, TIME_CACHES };

struct json {
	struct plan *last;
	struct plan *plans[PLAN_SETS][PLAN_WAYS];
	uint8_t next_way[PLAN_SETS];
	struct fmt_time times[TIME_CACHES];
	char boot_hex[ENTITY_BOOT_LEN + 1];
	char *host; /* ,"host":{...} or "" */
	size_t host_len;
	char sources[1u << EXEUNT_SOURCE_COUNT][64]; /* the array of names for each mask */
	uint8_t sources_len[1u << EXEUNT_SOURCE_COUNT];
	char paths[EXEUNT_F_COUNT][JSON_PATH_ROOM]; /* "some.path", with quotes and comma */
	uint8_t paths_len[EXEUNT_F_COUNT];
	char *scratch;
	size_t scratch_size;
};

/* json-plan.c: the plan for this record's type and fields; NULL without memory. */
struct plan *json_plan(struct json *j, const struct exeunt_record *r);

/* Closes the objects of the path before ("" if none) that this one is not in, opens its own, and writes its key; closes all. */
char *json_key(char *p, const char *before, const char *path);
char *json_close(char *p, const char *before);

/* json.c: a value of one of the kinds that come once in a line, if at all, without quotes. */
char *json_rare(struct json *j, const struct step *s, const struct exeunt_record *r, char *p);

/* json-string.c */

/* What is between the quotes; *invalid becomes true if a byte was no UTF-8. Stores up to 8 bytes behind the end. */
char *json_escape(char *p, const char *s, size_t len, bool *invalid);

/* ","KEY_hex":" and the bytes; the quote that closes them follows from the caller. KEY is the end of a dotted path. */
char *json_hex_sibling(char *p, const char *path, const char *s, size_t len);

/* `"text"` and, if it must be, `,"KEY_hex":"..."`. */
char *json_quoted(char *p, const char *path, const char *s, size_t len);

/* `["a","b"]` and, if it must be, `,"KEY_hex":["61","62"]`. */
char *json_array(char *p, const char *path, const struct exeunt_bytes *items, uint32_t n);

/* A number from 10^8 on; above 2^53 - 1 with its _hex. */
char *json_long(char *p, const char *path, uint64_t v);

static inline char *json_u64(char *p, const char *path, uint64_t v)
{
	return likely(v < 100000000) ? fmt_short(p, (uint32_t)v) : json_long(p, path, v);
}

/* json-other.c: the part of a line that is not in the field table, and how long it can be. */
size_t json_other_bound(const struct exeunt_record *r);
char *json_other(struct json *j, char *p, const struct exeunt_record *r);

#endif
