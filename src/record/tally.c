/* SPDX-License-Identifier: MIT */
/* The groups: a hash of keys, each with its sums, in chunks that never move; and which exits were lately counted. See tally.h. */
#include "record/fields.h"
#include "record/tally-internal.h"

#include <sys/random.h>

#define CHUNK ((size_t)256 * 1024)
#define SLOTS_FIRST 1024u
#define ALIGN 8

struct tally_chunk {
	struct tally_chunk *next;
	size_t size, used;
	uint8_t data[] __attribute__((aligned(ALIGN)));
};

bool tally_can_group(enum exeunt_field field)
{
	for (int i = 0; i < TALLY_VALUES; i++)
		if (tally_fields[i] == field)
			return false;
	return field < EXEUNT_F_COUNT;
}

int tally_new(struct tally **ret, const struct tally_options *o)
{
	struct tally *t;

	if (o->n_fields > TALLY_FIELDS_MOST || o->interval_ns < 0)
		return -EINVAL;
	for (unsigned int i = 0; i < o->n_fields; i++)
		if (!tally_can_group(o->fields[i]))
			return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->options = *o;
	if (!t->options.most_groups)
		t->options.most_groups = TALLY_GROUPS_MOST;
	t->n_slots = SLOTS_FIRST;
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	t->memories = calloc(TALLY_MEMORIES, sizeof(*t->memories));
	t->key = calloc(1, TALLY_KEY_MOST + TALLY_KEY_SLACK);
	if (!t->slots || !t->memories || !t->key) {
		tally_free(t);
		return -ENOMEM;
	}
	/* Names are chosen by whoever runs the programs: nobody shall choose ones that fall together. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != (ssize_t)sizeof(t->seed))
		t->seed = (uintptr_t)t;
	*ret = t;
	return 0;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	while (t->chunks) {
		struct tally_chunk *c = t->chunks;

		t->chunks = c->next;
		free(c);
	}
	free(t->slots);
	free(t->memories);
	free(t->args);
	free(t->key);
	free(t->rows);
	free(t);
}

void tally_asks_for(const struct tally *t, uint64_t *ret_mask)
{
	static const uint8_t always[] = { EXEUNT_F_PID,		EXEUNT_F_ENTITY_ID,
					  EXEUNT_F_EXIT_TIME,	EXEUNT_F_EXIT_CODE,
					  EXEUNT_F_EXIT_SIGNAL, EXEUNT_F_EXIT_CAUSE,
					  EXEUNT_F_EXIT_CERTAIN };

	memset(ret_mask, 0, EXEUNT_PRESENT_WORDS * sizeof(*ret_mask));
	for (size_t i = 0; i < sizeof(always); i++)
		field_add(ret_mask, always[i]);
	for (size_t i = 0; i < TALLY_VALUES; i++)
		field_add(ret_mask, tally_fields[i]);
	for (unsigned int i = 0; i < t->options.n_fields; i++)
		field_add(ret_mask, t->options.fields[i]);
}

int64_t tally_interval(const struct tally *t)
{
	return t->options.interval_ns;
}

void *tally_alloc(struct tally *t, size_t size)
{
	struct tally_chunk *c = t->chunks;
	void *p;

	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!c || c->size - c->used < size) {
		size_t want = MAX(size, CHUNK);

		c = calloc(1, sizeof(*c) + want);
		if (!c)
			return NULL;
		c->size = want;
		c->next = t->chunks;
		t->chunks = c;
		t->bytes += want;
	}
	p = c->data + c->used;
	c->used += size;
	return p;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) *
				    (b ^ UINT64_C(0xd1b54a32d192ed03));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time; the last ones overlap, or are zeros behind a key that is shorter. */
static inline uint64_t hash_key(uint64_t seed, const uint8_t *p, size_t len)
{
	uint64_t hash = seed ^ len, last = 0;

	for (size_t i = 0; i + 8 <= len; i += 8)
		hash = mix(hash, load_u64(p + i));
	if (len >= 8)
		last = load_u64(p + len - 8);
	else
		memcpy(&last, p, len);
	return mix(hash, last);
}

static struct tally_slot *find_slot(struct tally_slot *slots, uint32_t n, uint64_t hash,
				    const uint8_t *key, size_t len)
{
	for (uint32_t i = (uint32_t)hash & (n - 1);; i = (i + 1) & (n - 1)) {
		struct tally_slot *s = &slots[i];

		if (!s->group)
			return s;
		if (s->hash == hash && s->group->key_len == len && !memcmp(s->group->key, key, len))
			return s;
	}
}

/* Twice as many slots; false without memory. */
static bool grow(struct tally *t)
{
	uint32_t n = t->n_slots * 2;
	struct tally_slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < t->n_slots; i++) {
		const struct tally_slot *s = &t->slots[i];

		if (s->group)
			*find_slot(slots, n, s->hash, s->group->key, s->group->key_len) = *s;
	}
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	return true;
}

static struct tally_group *new_group(struct tally *t, size_t key_len)
{
	struct tally_group *g;

	if (t->bytes >= TALLY_BYTES_MOST && key_len)
		return NULL;
	g = tally_alloc(t, sizeof(*g) + key_len);
	if (!g)
		return NULL;
	g->key_len = (uint32_t)key_len;
	memcpy(g->key, t->key, key_len);
	return g;
}

/* For what has no room. Without memory even for that it is the only thing that is not counted, and the total is short. */
static struct tally_group *others(struct tally *t)
{
	if (!t->others)
		t->others = new_group(t, 0);
	return t->others;
}

static struct tally_group *add_group(struct tally *t, uint64_t hash, size_t len)
{
	struct tally_slot *s;
	struct tally_group *g;

	if (t->n_groups >= t->options.most_groups || (t->n_groups >= t->n_slots / 2 && !grow(t)))
		return others(t);
	g = new_group(t, len);
	if (!g)
		return others(t);
	s = find_slot(t->slots, t->n_slots, hash, t->key, len);
	*s = (struct tally_slot){ .hash = hash, .group = g };
	t->n_groups++;
	return g;
}

static struct tally_group *find_group(struct tally *t, const struct exeunt_record *r)
{
	size_t len = tally_key(t, r);
	const struct tally_slot *s;
	uint64_t hash;

	if (unlikely(!len && t->options.n_fields))
		return others(t);
	hash = hash_key(t->seed, t->key, len);
	s = find_slot(t->slots, t->n_slots, hash, t->key, len);
	return likely(s->group) ? s->group : add_group(t, hash, len);
}

static struct tally_memory *memory_of(struct tally *t, const struct exeunt_record *r)
{
	return &t->memories[(uint32_t)r->pid % TALLY_MEMORIES];
}

static bool remembers(const struct tally_memory *m, const struct exeunt_record *r)
{
	return m->used && m->pid == r->pid && m->entity_start_ns == r->entity_start_ns;
}

static void amend(struct tally *t, const struct exeunt_record *r, bool counted)
{
	struct tally_memory *m = memory_of(t, r);

	if (!exeunt_has(r, EXEUNT_F_ENTITY_ID) || !remembers(m, r)) {
		t->lost_amends++;
		return;
	}
	if (m->group)
		tally_take_back(&m->group->sums, &m->gift);
	m->group = counted ? find_group(t, r) : NULL;
	tally_weigh(&m->gift, r);
	if (m->group)
		tally_give(&m->group->sums, &m->gift);
}

void tally_take(struct tally *t, const struct exeunt_record *r, bool counted)
{
	struct tally_group *g;
	struct tally_memory *m;

	if (unlikely(r->type != EXEUNT_TYPE_EXIT)) {
		if (r->type == EXEUNT_TYPE_AMEND)
			amend(t, r, counted);
		return;
	}
	g = counted ? find_group(t, r) : NULL;
	m = memory_of(t, r);
	m->used = exeunt_has(r, EXEUNT_F_ENTITY_ID);
	m->pid = r->pid;
	m->entity_start_ns = r->entity_start_ns;
	m->group = g;
	tally_weigh(&m->gift, r);
	if (g)
		tally_give(&g->sums, &m->gift);
}
