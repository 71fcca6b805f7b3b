/* SPDX-License-Identifier: MIT */
/*
 * Plans: for the fields that a record has, the constant text of its line in pieces, with the kind and the place of
 * the value behind each piece. Built once for each set of fields and kept in a small cache of PLAN_SETS x PLAN_WAYS.
 */
#include "sink/json-internal.h"

#include <exeunt/exeunt.h>

/* More than any key with its objects and punctuation; the unit test fills every field. */
#define KEY_ROOM 96
#define HEADER_ROOM 128

struct builder {
	struct plan *plan;
	char *literals;
	char *p;	  /* end of the literals */
	char *start;	  /* of the piece that is being built */
	const char *path; /* of the field before, "" if none */
	unsigned int n_steps;
};

static bool is_quoted(enum field_kind kind)
{
	return kind == FIELD_TIME || kind == FIELD_BYTES || kind == FIELD_COMM ||
	       kind == FIELD_SIGNAL_NAME || kind == FIELD_CAUSE || kind == FIELD_ENTITY;
}

static bool is_variable(enum field_kind kind)
{
	return kind == FIELD_BYTES || kind == FIELD_ARGS;
}

/* Most bytes that the value can take, its _hex included; for variable kinds what comes on top of the text. */
static size_t value_bound(enum field_kind kind)
{
	switch (kind) {
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_BOOL:
		return 16;
	case FIELD_U64:
		return JSON_U64_MAX;
	case FIELD_TIME:
	case FIELD_SIGNAL_NAME:
	case FIELD_CAUSE:
	case FIELD_ENTITY:
		return 32;
	case FIELD_COMM:
		return JSON_STRING_MAX(16);
	case FIELD_BYTES:
	case FIELD_ARGS:
	case FIELD_SOURCES:
		return JSON_SIBLING_MAX;
	case FIELD_PATHS:
		return EXEUNT_F_COUNT * (size_t)JSON_PATH_ROOM;
	}
	return 0;
}

/* Ends the piece: a value of this kind follows it. */
static void add_step(struct builder *b, uint8_t kind, uint16_t offset, uint8_t field)
{
	b->plan->steps[b->n_steps++] = (struct step){
		.len = (uint16_t)(b->p - b->start),
		.offset = offset,
		.kind = kind,
		.field = field,
	};
	b->start = b->p;
}

static unsigned int count_dots(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += *s == '.';
	return n;
}

/* Length of the objects that two paths have in common, with the dot behind. */
static size_t common_objects(const char *a, const char *b)
{
	size_t common = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
		if (a[i] == '.')
			common = i + 1;
	}
	return common;
}

char *json_key(char *p, const char *before, const char *path)
{
	size_t common = common_objects(before, path);
	const char *key = path + common;

	for (unsigned int n = count_dots(before + common); n > 0; n--)
		*p++ = '}';
	*p++ = ',';
	for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
		*p++ = '"';
		p = fmt_mem(p, key, (size_t)(dot - key));
		p = FMT_LIT(p, "\":{");
	}
	*p++ = '"';
	p = fmt_str(p, key);
	return FMT_LIT(p, "\":");
}

char *json_close(char *p, const char *before)
{
	for (unsigned int n = count_dots(before); n > 0; n--)
		*p++ = '}';
	return p;
}

static void add_header(struct builder *b, const struct json *j)
{
	b->p = FMT_LIT(b->p, "{\"schema\":\"" EXEUNT_SCHEMA "\",\"type\":\"");
	b->p = fmt_str(b->p, exeunt_type_name(b->plan->type));
	b->p = FMT_LIT(b->p, "\",\"time\":\"");
	add_step(b, FIELD_TIME, offsetof(struct exeunt_record, time_ns), TIME_RECORD);
	b->p = FMT_LIT(b->p, "\",\"seq\":");
	add_step(b, FIELD_U64, offsetof(struct exeunt_record, seq), 0);
	b->p = fmt_mem(b->p, j->host, j->host_len);
}

static void add_field(struct builder *b, const struct json *j, unsigned int i)
{
	const struct field_info *f = &field_table[i];
	uint8_t extra = (uint8_t)i;

	b->p = json_key(b->p, b->path, f->path);
	b->path = f->path;
	if (is_quoted(f->kind))
		*b->p++ = '"';
	if (f->kind == FIELD_ENTITY) {
		b->p = fmt_mem(b->p, j->boot_hex, ENTITY_BOOT_LEN);
		*b->p++ = '-';
	}
	if (f->kind == FIELD_TIME)
		extra = i == EXEUNT_F_CREATION_TIME ? TIME_CREATION : TIME_EXIT;
	if (is_variable(f->kind))
		b->plan->variable[b->plan->n_variable++] = (uint8_t)i;
	b->plan->bound += (uint32_t)value_bound(f->kind);
	add_step(b, (uint8_t)f->kind, f->offset, extra);
	if (is_quoted(f->kind))
		*b->p++ = '"';
}

static bool has(const struct plan *plan, unsigned int field)
{
	return plan->present[field / 64] >> (field % 64) & 1;
}

static void build(struct builder *b, const struct json *j)
{
	add_header(b, j);
	for (unsigned int i = 0; i < EXEUNT_F_COUNT; i++) {
		if (has(b->plan, i))
			add_field(b, j, i);
	}
	b->p = json_close(b->p, b->path);
	add_step(b, STEP_END, 0, 0);
	b->plan->bound += (uint32_t)(b->p - b->literals) + FMT_TIME_LEN + FMT_U64_MAX +
			  JSON_SIBLING_MAX + FMT_SLACK;
}

static struct plan *plan_new(const struct json *j, uint16_t type, const uint64_t *present)
{
	struct builder b = { .path = "" };
	size_t n =
		(size_t)__builtin_popcountll(present[0]) + (size_t)__builtin_popcountll(present[1]);
	size_t steps = sizeof(struct plan) + (n + 3) * sizeof(struct step);

	/* One piece of memory: the plan, its steps, the literals. */
	b.plan = calloc(1, steps + HEADER_ROOM + j->host_len + n * KEY_ROOM + FMT_SLACK);
	if (!b.plan)
		return NULL;
	b.literals = (char *)b.plan + steps;
	b.p = b.literals;
	b.start = b.literals;
	b.plan->literals = b.literals;
	b.plan->type = type;
	memcpy(b.plan->present, present, sizeof(b.plan->present));
	build(&b, j);
	return b.plan;
}

static bool plan_is(const struct plan *plan, uint16_t type, const uint64_t *present)
{
	return plan && plan->type == type && plan->present[0] == present[0] &&
	       plan->present[1] == present[1];
}

static struct plan *find_or_make(struct json *j, uint16_t type, const uint64_t *present)
{
	uint64_t hash = (present[0] ^ present[1] * UINT64_C(0x9e3779b97f4a7c15) ^ type) *
			UINT64_C(0xff51afd7ed558ccd);
	unsigned int set = (unsigned int)(hash >> 32) % PLAN_SETS;
	struct plan **way;
	struct plan *plan;

	for (unsigned int i = 0; i < PLAN_WAYS; i++) {
		if (plan_is(j->plans[set][i], type, present))
			return j->plans[set][i];
	}
	plan = plan_new(j, type, present);
	if (!plan)
		return NULL;
	way = &j->plans[set][j->next_way[set]++ % PLAN_WAYS];
	if (j->last == *way)
		j->last = NULL;
	free(*way);
	*way = plan;
	return plan;
}

struct plan *json_plan(struct json *j, const struct exeunt_record *r)
{
	/* A bit that no field has must not make a plan of its own. */
	const uint64_t known = (UINT64_C(1) << (EXEUNT_F_COUNT - 64)) - 1;
	uint64_t present[EXEUNT_PRESENT_WORDS] = { r->present[0], r->present[1] & known };
	struct plan *plan = j->last;

	/* The name of a signal is made here, so it needs no other proof than the signal. */
	if (exeunt_has(r, EXEUNT_F_EXIT_SIGNAL))
		present[EXEUNT_F_EXIT_SIGNAL_NAME / 64] |= UINT64_C(1)
							   << (EXEUNT_F_EXIT_SIGNAL_NAME % 64);
	if (likely(plan_is(plan, r->type, present)))
		return plan;
	plan = find_or_make(j, r->type, present);
	j->last = plan;
	return plan;
}
