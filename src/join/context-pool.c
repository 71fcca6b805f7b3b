/* SPDX-License-Identifier: MIT */
/* Shared immutable strings; see context-pool.h. */
#include "join/context-pool.h"

#include <sys/random.h>

#include "base/clock.h"
#include "base/util.h"

#define POOL_FIRST_BUCKETS 256u

/* Without a random number the salt is only hard to guess. */
static uint64_t make_salt(const struct pool *p)
{
	uint64_t salt;

	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) != (ssize_t)sizeof(salt))
		salt = (uint64_t)mono_now() ^ (uint64_t)(uintptr_t)p;
	return salt | 1;
}

int pool_init(struct pool *p)
{
	*p = (struct pool){ .n_buckets = POOL_FIRST_BUCKETS, .salt = make_salt(p) };
	p->buckets = calloc(p->n_buckets, sizeof(*p->buckets));
	if (!p->buckets)
		return -ENOMEM;
	p->bytes = p->n_buckets * sizeof(*p->buckets);
	return 0;
}

void pool_done(struct pool *p)
{
	for (uint32_t b = 0; b < p->n_buckets && p->buckets; b++)
		for (struct pool_item *i = p->buckets[b], *next; i; i = next) {
			next = i->next;
			free(i);
		}
	free(p->buckets);
	*p = (struct pool){ 0 };
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Eight bytes a step: argument lists run to kilobytes. */
static uint32_t hash_of(const struct pool *p, enum pool_kind kind, const char *data, size_t len)
{
	uint64_t h = p->salt ^ len ^ ((uint64_t)kind << 56), tail = 0;

	for (; len >= 8; data += 8, len -= 8)
		h = mix(h ^ load_u64(data), UINT64_C(0x9e3779b97f4a7c15) ^ p->salt);
	memcpy(&tail, data, len);
	h = mix(h ^ tail, UINT64_C(0xd6e8feb86659fd93) ^ p->salt);
	return (uint32_t)(h ^ h >> 32);
}

static const char *item_data(const struct pool_item *i)
{
	return (const char *)(i->parts + i->n_parts);
}

bool pool_is(const struct pool_item *i, const char *data, size_t len)
{
	return i && i->len == len && !memcmp(item_data(i), data, len);
}

static size_t item_size(size_t len, uint16_t n_parts)
{
	return sizeof(struct pool_item) + n_parts * sizeof(struct exeunt_bytes) + len;
}

/* Growing is an optimisation: without memory the chains stay longer. */
static void grow(struct pool *p)
{
	uint32_t n = p->n_buckets * 2;
	struct pool_item **to = calloc(n, sizeof(*to));

	if (!to)
		return;
	for (uint32_t b = 0; b < p->n_buckets; b++)
		for (struct pool_item *i = p->buckets[b], *next; i; i = next) {
			next = i->next;
			i->next = to[i->hash & (n - 1)];
			to[i->hash & (n - 1)] = i;
		}
	free(p->buckets);
	p->bytes += (n - p->n_buckets) * sizeof(*to);
	p->buckets = to;
	p->n_buckets = n;
}

static struct pool_item *find(const struct pool *p, uint32_t hash, enum pool_kind kind,
			      const char *data, size_t len)
{
	struct pool_item *i = p->buckets[hash & (p->n_buckets - 1)];

	for (; i; i = i->next)
		if (i->hash == hash && i->kind == kind && i->len == len &&
		    !memcmp(item_data(i), data, len))
			return i;
	return NULL;
}

struct pool_item *pool_find(struct pool *p, enum pool_kind kind, const char *data, size_t len)
{
	return pool_ref(find(p, hash_of(p, kind, data, len), kind, data, len));
}

struct pool_item *pool_get(struct pool *p, enum pool_kind kind, const char *data, size_t len,
			   const struct exeunt_bytes *parts, uint16_t n_parts)
{
	uint32_t hash = hash_of(p, kind, data, len);
	struct pool_item *i = find(p, hash, kind, data, len);
	char *copy;

	if (i)
		return pool_ref(i);
	if (p->n_items >= p->n_buckets)
		grow(p);
	i = malloc(item_size(len, n_parts));
	if (!i)
		return NULL;
	*i = (struct pool_item){ .next = p->buckets[hash & (p->n_buckets - 1)],
				 .hash = hash,
				 .refs = 1,
				 .len = (uint32_t)len,
				 .kind = (uint16_t)kind,
				 .n_parts = n_parts };
	copy = (char *)(i->parts + n_parts);
	memcpy(copy, data, len);
	for (uint16_t k = 0; k < n_parts; k++) {
		i->parts[k] = parts[k];
		if (parts[k].data)
			i->parts[k].data = copy + (parts[k].data - data);
	}
	p->buckets[hash & (p->n_buckets - 1)] = i;
	p->n_items++;
	p->bytes += item_size(len, n_parts);
	return i;
}

void pool_unref(struct pool *p, struct pool_item *i)
{
	struct pool_item **at;

	if (!i || --i->refs)
		return;
	at = &p->buckets[i->hash & (p->n_buckets - 1)];
	while (*at != i)
		at = &(*at)->next;
	*at = i->next;
	p->n_items--;
	p->bytes -= item_size(i->len, i->n_parts);
	free(i);
}
