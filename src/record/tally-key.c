/* SPDX-License-Identifier: MIT */
/*
 * What a record is grouped by, as bytes: for each field 0 if it is absent, or 1 and the value; numbers in the order of the host,
 * text with its length in front. Equal bytes, equal group. See tally.h.
 */
#include "record/tally-internal.h"

/* Bytes of a value of fixed size; 0: it has its length in front. */
static size_t fixed_size(enum field_kind kind)
{
	switch (kind) {
	case FIELD_BOOL:
		return 1;
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_SIGNAL_NAME:
	case FIELD_SOURCES:
	case FIELD_CAUSE:
		return 4;
	case FIELD_U64:
	case FIELD_TIME:
		return 8;
	case FIELD_ENTITY:
		return 12;
	case FIELD_PATHS:
		return 8 * EXEUNT_PRESENT_WORDS;
	case FIELD_COMM:
	case FIELD_BYTES:
	case FIELD_ARGS:
		break;
	}
	return 0;
}

/* Where to go on behind `len` bytes, or NULL: the key is too long. */
static uint8_t *put_text(uint8_t *p, const uint8_t *end, const void *data, size_t len)
{
	uint32_t n = (uint32_t)len;

	if (len + sizeof(n) > (size_t)(end - p))
		return NULL;
	memcpy(p, &n, sizeof(n));
	if (len)
		memcpy(p + sizeof(n), data, len);
	return p + sizeof(n) + len;
}

static uint8_t *put_args(uint8_t *p, const uint8_t *end, const struct exeunt_record *r)
{
	p = put_text(p, end, &r->n_args, sizeof(r->n_args));
	for (uint32_t i = 0; p && i < r->n_args; i++)
		p = put_text(p, end, r->args[i].data, r->args[i].len);
	return p;
}

static uint8_t *put_entity(uint8_t *p, const struct exeunt_record *r)
{
	memcpy(p, &r->pid, sizeof(r->pid));
	memcpy(p + 4, &r->entity_start_ns, sizeof(r->entity_start_ns));
	return p + 12;
}

static inline uint8_t *put_field(uint8_t *p, const uint8_t *end, const struct exeunt_record *r,
				 unsigned int field)
{
	const struct field_info *f = &field_table[field];
	const void *v = field_ptr(r, field);
	const struct exeunt_bytes *b = v;
	bool present = exeunt_has(r, field);
	size_t len;

	if (p + TALLY_KEY_SLACK > end)
		return NULL;
	*p++ = present;
	if (!present)
		return p;
	switch (f->kind) {
	case FIELD_COMM:
		/* all of it, for a copy of fixed size is a few moves; what is behind the name is overwritten or left out */
		len = strnlen(v, sizeof(r->comm));
		memcpy(p + sizeof(uint32_t), v, sizeof(r->comm));
		memcpy(p, &(uint32_t){ (uint32_t)len }, sizeof(uint32_t));
		return p + sizeof(uint32_t) + len;
	case FIELD_BYTES:
		return put_text(p, end, b->data, b->len);
	case FIELD_ARGS:
		return put_args(p, end, r);
	case FIELD_ENTITY:
		return put_entity(p, r);
	default:
		len = fixed_size(f->kind);
		memcpy(p, v, len);
		return p + len;
	}
}

/* Rounded down, before 1970 too. */
static int64_t interval_start(int64_t ns, int64_t interval_ns)
{
	int64_t rest = ns % interval_ns;

	return ns - (rest < 0 ? rest + interval_ns : rest);
}

size_t tally_key(struct tally *t, const struct exeunt_record *r)
{
	const uint8_t *end = t->key + TALLY_KEY_MOST;
	uint8_t *p = t->key;

	if (t->options.interval_ns) {
		bool timed = exeunt_has(r, EXEUNT_F_EXIT_TIME);
		int64_t start_ns =
			timed ? interval_start(r->exit_time_ns, t->options.interval_ns) : 0;

		*p++ = timed;
		memcpy(p, &start_ns, sizeof(start_ns));
		p += sizeof(start_ns);
	}
	for (unsigned int i = 0; p && i < t->options.n_fields; i++)
		p = put_field(p, end, r, t->options.fields[i]);
	return p ? (size_t)(p - t->key) : 0;
}

bool tally_key_interval(const struct tally *t, const struct tally_group *g, int64_t *start_ns)
{
	*start_ns = 0;
	if (!t->options.interval_ns || !g->key_len || !g->key[0])
		return false;
	*start_ns = (int64_t)load_u64(g->key + 1);
	return true;
}

/* The fields of a key, behind its interval. */
static const uint8_t *first_field(const struct tally *t, const struct tally_group *g)
{
	return g->key + (t->options.interval_ns ? 1 + sizeof(int64_t) : 0);
}

/* Bytes of the value at `p`. */
static size_t value_size(const uint8_t *p, enum field_kind kind)
{
	size_t size = fixed_size(kind);

	if (size)
		return size;
	size = 4 + load_u32(p);
	if (kind == FIELD_ARGS)
		for (uint32_t n = load_u32(p + 4); n; n--)
			size += 4 + load_u32(p + size);
	return size;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_text(const uint8_t *a, const uint8_t *b)
{
	uint32_t a_len = load_u32(a), b_len = load_u32(b);
	int r = memcmp(a + 4, b + 4, MIN(a_len, b_len));

	return r ? r : order(a_len, b_len);
}

static int compare_args(const uint8_t *a, const uint8_t *b)
{
	uint32_t a_n = load_u32(a + 4), b_n = load_u32(b + 4);
	int r = 0;

	a += 8;
	b += 8;
	for (uint32_t i = 0; !r && i < MIN(a_n, b_n); i++) {
		r = compare_text(a, b);
		a += 4 + load_u32(a);
		b += 4 + load_u32(b);
	}
	return r ? r : order(a_n, b_n);
}

#define SIGN32 (UINT32_C(1) << 31)
#define SIGN64 (UINT64_C(1) << 63)

static int compare_value(const uint8_t *a, const uint8_t *b, enum field_kind kind)
{
	switch (kind) {
	case FIELD_I32:
		return order(load_u32(a) ^ SIGN32, load_u32(b) ^ SIGN32);
	case FIELD_U32:
	case FIELD_SIGNAL_NAME:
	case FIELD_SOURCES:
	case FIELD_CAUSE:
		return order(load_u32(a), load_u32(b));
	case FIELD_U64:
		return order(load_u64(a), load_u64(b));
	case FIELD_TIME:
		return order(load_u64(a) ^ SIGN64, load_u64(b) ^ SIGN64);
	case FIELD_ARGS:
		return compare_args(a, b);
	case FIELD_COMM:
	case FIELD_BYTES:
		return compare_text(a, b);
	case FIELD_BOOL:
	case FIELD_ENTITY:
	case FIELD_PATHS:
		break;
	}
	return memcmp(a, b, fixed_size(kind));
}

int tally_key_compare(const struct tally *t, const struct tally_group *a,
		      const struct tally_group *b)
{
	const uint8_t *p = first_field(t, a), *q = first_field(t, b);
	int r = 0;

	for (unsigned int i = 0; !r && i < t->options.n_fields; i++) {
		enum field_kind kind = field_table[t->options.fields[i]].kind;
		bool p_known = *p++, q_known = *q++;

		if (p_known != q_known)
			return p_known ? -1 : 1;
		if (!p_known)
			continue;
		r = compare_value(p, q, kind);
		p += value_size(p, kind);
		q += value_size(q, kind);
	}
	return r;
}

/* Without memory the list is shorter than it was; there is none in practice. */
static void get_args(struct tally *t, const uint8_t *p, struct exeunt_record *r)
{
	uint32_t n = load_u32(p + 4);

	if (n > t->args_size) {
		struct exeunt_bytes *args = reallocarray(t->args, n, sizeof(*args));

		if (args) {
			t->args = args;
			t->args_size = n;
		}
	}
	r->args = t->args;
	p += 8;
	for (; r->n_args < MIN(n, t->args_size); r->n_args++) {
		t->args[r->n_args] = (struct exeunt_bytes){ (const char *)p + 4, load_u32(p) };
		p += 4 + load_u32(p);
	}
}

static void get_field(struct tally *t, const uint8_t *p, unsigned int field,
		      struct exeunt_record *r)
{
	const struct field_info *f = &field_table[field];
	char *member = (char *)r + f->offset;

	field_set(r, field);
	switch (f->kind) {
	case FIELD_COMM:
		memcpy(member, p + 4, load_u32(p));
		break;
	case FIELD_BYTES:
		*(struct exeunt_bytes *)member =
			(struct exeunt_bytes){ (const char *)p + 4, load_u32(p) };
		break;
	case FIELD_ARGS:
		get_args(t, p, r);
		break;
	case FIELD_ENTITY:
		r->pid = (int32_t)load_u32(p);
		r->entity_start_ns = load_u64(p + 4);
		break;
	default:
		memcpy(member, p, fixed_size(f->kind));
	}
}

void tally_group_record(struct tally *t, const struct tally_group *g, struct exeunt_record *r)
{
	const uint8_t *p = first_field(t, g);

	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->version = EXEUNT_RECORD_VERSION;
	for (unsigned int i = 0; i < t->options.n_fields; i++) {
		unsigned int field = t->options.fields[i];

		if (!*p++)
			continue;
		get_field(t, p, field, r);
		p += value_size(p, field_table[field].kind);
	}
}
