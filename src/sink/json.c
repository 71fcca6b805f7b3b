/* SPDX-License-Identifier: MIT */
/* See json.h: the handle, and the loop that puts the values between the literals of a plan. */
#include "sink/json-internal.h"

#include <exeunt/exeunt.h>

#include "sink/output.h"

#define NAME_MAX_BYTES 255

/* Above this the room is not reserved by the estimate, which is far too long, but by the length. */
#define ESTIMATE_MAX 32768

/* Copies 32 bytes at a time, up to 31 too many. */
static inline char *put_literal(char *p, const char *literal, size_t len)
{
	struct block {
		uint64_t words[4];
	} block;

	memcpy(&block, literal, sizeof(block));
	memcpy(p, &block, sizeof(block));
	for (size_t i = 32; unlikely(i < len); i += 32)
		memcpy(p + i, literal + i, 32);
	return p + len;
}

static inline char *put_text(char *p, unsigned int field, const char *s, size_t len)
{
	bool invalid = false;

	p = json_escape(p, s, len, &invalid);
	return unlikely(invalid) ? json_hex_sibling(p, field_table[field].path, s, len) : p;
}

static char *put_signal(char *p, uint32_t signal)
{
	const char *name = exeunt_signal_name(signal);

	if (name)
		return fmt_str(p, name);
	return fmt_u32(FMT_LIT(p, "SIG"), signal);
}

static inline char *put_cause(char *p, enum exeunt_cause cause)
{
	static const char names[][16] = { "exited", "signaled", "core_dumped", "unknown" };
	static const uint8_t lens[] = { 6, 8, 11, 7 };
	unsigned int i = MIN((unsigned int)cause, 3u);

	memcpy(p, names[i], 16);
	return p + lens[i];
}

static inline char *put_sources(char *p, const struct json *j, uint32_t mask)
{
	mask %= ARRAY_SIZE(j->sources);
	memcpy(p, j->sources[mask], sizeof(j->sources[mask]));
	return p + j->sources_len[mask];
}

static char *put_paths(char *p, const struct json *j, const uint64_t *words)
{
	char *start = p;

	*p++ = '[';
	for (unsigned int w = 0; w < EXEUNT_PRESENT_WORDS; w++) {
		for (uint64_t bits = words[w]; bits; bits &= bits - 1) {
			unsigned int i = 64 * w + (unsigned int)__builtin_ctzll(bits);

			if (i >= EXEUNT_F_COUNT)
				break;
			memcpy(p, j->paths[i], sizeof(j->paths[i]));
			p += j->paths_len[i];
		}
	}
	/* Each path brought a comma. */
	p -= p > start + 1;
	*p++ = ']';
	return p;
}

static inline char *put_sign(char *p, int32_t v, uint64_t *magnitude)
{
	*p = '-';
	*magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
	return p + (v < 0);
}

static inline char *put_bool(char *p, bool b)
{
	memcpy(p, b ? "true\0\0\0" : "false\0\0", 8);
	return p + 5 - b;
}

__attribute__((noinline)) char *json_rare(struct json *j, const struct step *s,
					  const struct exeunt_record *r, char *p)
{
	const void *v = (const char *)r + s->offset;

	switch (s->kind) {
	case FIELD_CAUSE:
		return put_cause(p, *(const enum exeunt_cause *)v);
	case FIELD_ENTITY:
		return entity_tail(p, r->pid, r->entity_start_ns);
	case FIELD_SOURCES:
		return put_sources(p, j, *(const uint32_t *)v);
	case FIELD_ARGS:
		return json_array(p, field_table[s->field].path, r->args, r->n_args);
	case FIELD_SIGNAL_NAME:
		return put_signal(p, r->exit_signal);
	case FIELD_PATHS:
		return put_paths(p, j, v);
	default:
		return p;
	}
}

/*
 * One line without its end. What is a number leaves the switch for the one place where numbers are written, all else
 * goes on with the next literal.
 */
static char *put_line(struct json *j, const struct plan *plan, const struct exeunt_record *r,
		      char *p)
{
	const char *literal = plan->literals;

	for (const struct step *s = plan->steps;; s++) {
		/* Loaded before the store, which could change them as far as the compiler knows. */
		const void *v = (const char *)r + s->offset;
		size_t len = s->len;
		unsigned int kind = s->kind;
		const struct exeunt_bytes *b;
		uint64_t number;

		p = put_literal(p, literal, len);
		literal += len;
		switch (kind) {
		case FIELD_U64:
			number = *(const uint64_t *)v;
			break;
		case FIELD_U32:
			number = *(const uint32_t *)v;
			break;
		case FIELD_I32:
			p = put_sign(p, *(const int32_t *)v, &number);
			break;
		case FIELD_TIME:
			p = fmt_time(p, *(const int64_t *)v, &j->times[s->field]);
			continue;
		case FIELD_BOOL:
			p = put_bool(p, *(const bool *)v);
			continue;
		case FIELD_BYTES:
			b = v;
			p = put_text(p, s->field, b->data, b->len);
			continue;
		case FIELD_COMM:
			p = put_text(p, s->field, v, strnlen(v, sizeof(r->comm)));
			continue;
		case STEP_END:
			return p;
		case FIELD_CAUSE:
		case FIELD_ENTITY:
		case FIELD_SOURCES:
		case FIELD_ARGS:
		case FIELD_SIGNAL_NAME:
		case FIELD_PATHS:
			p = json_rare(j, s, r, p);
			continue;
		default:
			__builtin_unreachable(); /* saves a comparison for each step, 5 % of a line */
		}
		if (likely(number < 100000000))
			p = fmt_short(p, (uint32_t)number);
		else
			p = json_long(p, field_table[s->field].path, number);
	}
}

static char *put_record(struct json *j, const struct plan *plan, const struct exeunt_record *r,
			char *p)
{
	p = put_line(j, plan, r, p);
	if (unlikely(r->loss || r->status))
		p = json_other(j, p, r);
	return FMT_LIT(p, "}\n");
}

/* More than the line can take. */
static size_t line_bound(const struct plan *plan, const struct exeunt_record *r)
{
	size_t bound = plan->bound;

	for (unsigned int i = 0; i < plan->n_variable; i++) {
		const struct field_info *f = &field_table[plan->variable[i]];
		const struct exeunt_bytes *b = (const void *)((const char *)r + f->offset);

		if (f->kind == FIELD_BYTES) {
			bound += 8 * (size_t)b->len;
			continue;
		}
		for (uint32_t n = 0; n < r->n_args; n++)
			bound += 8 * (size_t)r->args[n].len + 8;
	}
	if (unlikely(r->loss || r->status))
		bound += json_other_bound(r);
	return bound;
}

/* The line in our own memory; returns its length or -ENOMEM. */
static ssize_t to_scratch(struct json *j, const struct plan *plan, const struct exeunt_record *r,
			  size_t bound)
{
	if (bound > j->scratch_size) {
		char *scratch = realloc(j->scratch, bound);

		if (!scratch)
			return -ENOMEM;
		j->scratch = scratch;
		j->scratch_size = bound;
	}
	return put_record(j, plan, r, j->scratch) - j->scratch;
}

static int write_long(struct json *j, const struct plan *plan, const struct exeunt_record *r,
		      size_t bound, struct output *o)
{
	ssize_t len = to_scratch(j, plan, r, bound);
	char *p;

	if (len < 0)
		return (int)len;
	p = output_reserve(o, (size_t)len);
	if (!p)
		return 1;
	memcpy(p, j->scratch, (size_t)len);
	output_commit(o, (size_t)len);
	return 0;
}

int json_write(struct json *j, const struct exeunt_record *r, struct output *o)
{
	const struct plan *plan = json_plan(j, r);
	size_t bound;
	char *p;

	if (!plan)
		return -ENOMEM;
	bound = line_bound(plan, r);
	if (unlikely(bound > ESTIMATE_MAX))
		return write_long(j, plan, r, bound, o);
	p = output_reserve(o, bound);
	if (!p)
		return 1;
	output_commit(o, (size_t)(put_record(j, plan, r, p) - p));
	return 0;
}

ssize_t json_format(struct json *j, const struct exeunt_record *r, char *buf, size_t size)
{
	const struct plan *plan = json_plan(j, r);
	size_t bound;
	ssize_t len;

	if (!plan)
		return -ENOMEM;
	bound = line_bound(plan, r);
	if (bound <= size)
		return put_record(j, plan, r, buf) - buf;
	len = to_scratch(j, plan, r, bound);
	if (len < 0)
		return len;
	if ((size_t)len > size)
		return -ENOSPC;
	memcpy(buf, j->scratch, (size_t)len);
	return len;
}

static void make_sources(struct json *j)
{
	for (unsigned int mask = 0; mask < ARRAY_SIZE(j->sources); mask++) {
		char *start = j->sources[mask];
		char *p = start;

		*p++ = '[';
		for (unsigned int i = 0; i < EXEUNT_SOURCE_COUNT; i++) {
			if (!(mask >> i & 1))
				continue;
			if (p > start + 1)
				*p++ = ',';
			*p++ = '"';
			p = fmt_str(p, exeunt_source_name(i));
			*p++ = '"';
		}
		*p++ = ']';
		j->sources_len[mask] = (uint8_t)(p - start);
	}
}

static void make_paths(struct json *j)
{
	for (unsigned int i = 0; i < EXEUNT_F_COUNT; i++) {
		char *p = FMT_LIT(j->paths[i], "\"");

		p = fmt_str(p, field_table[i].path);
		p = FMT_LIT(p, "\",");
		j->paths_len[i] = (uint8_t)(p - j->paths[i]);
	}
}

/* The part of each line that names the host, up to and without the comma of the first field. */
static int make_host(struct json *j, const char *name, const char *boot_id)
{
	size_t n_name = name ? strlen(name) : 0;
	size_t n_boot = boot_id ? strlen(boot_id) : 0;
	char *p;

	if (n_name > NAME_MAX_BYTES || n_boot > NAME_MAX_BYTES)
		return -EINVAL;
	j->host = calloc(1, JSON_STRING_MAX(n_name) + JSON_STRING_MAX(n_boot) + 64);
	if (!j->host)
		return -ENOMEM;
	if (!n_name && !n_boot)
		return 0;
	p = FMT_LIT(j->host, ",\"host\":{");
	if (n_name)
		p = json_quoted(FMT_LIT(p, "\"name\":"), "host.name", name, n_name);
	if (n_name && n_boot)
		*p++ = ',';
	if (n_boot)
		p = json_quoted(FMT_LIT(p, "\"boot_id\":"), "host.boot_id", boot_id, n_boot);
	*p++ = '}';
	j->host_len = (size_t)(p - j->host);
	return 0;
}

int json_new(struct json **ret, const char *host_name, const char *boot_id)
{
	struct json *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	r = make_host(j, host_name, boot_id);
	if (r < 0) {
		json_free(j);
		return r;
	}
	entity_boot_id(j->boot_hex, boot_id);
	make_sources(j);
	make_paths(j);
	*ret = j;
	return 0;
}

void json_free(struct json *j)
{
	if (!j)
		return;
	for (unsigned int set = 0; set < PLAN_SETS; set++) {
		for (unsigned int way = 0; way < PLAN_WAYS; way++)
			free(j->plans[set][way]);
	}
	free(j->host);
	free(j->scratch);
	free(j);
}
