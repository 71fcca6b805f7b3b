/* SPDX-License-Identifier: MIT */
/*
 * Immutable strings, each kept once and counted by its users: thousands of processes share one path
 * or one list of arguments. Owns the strings; the buckets are salted, since what is kept comes from
 * hostile programs.
 */
#ifndef JOIN_CONTEXT_POOL_H
#define JOIN_CONTEXT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

enum pool_kind { POOL_TEXT, POOL_ARGS, POOL_CGROUP };

/* The bytes follow the parts; parts point into them, or are {NULL, 0}. */
struct pool_item {
	struct pool_item *next;
	uint32_t hash;
	uint32_t refs;
	uint32_t len;
	uint16_t kind;
	uint16_t n_parts;
	struct exeunt_bytes parts[];
};

struct pool {
	struct pool_item **buckets;
	uint32_t n_buckets; /* a power of two */
	uint32_t n_items;
	size_t bytes; /* items and buckets */
	uint64_t salt;
};

/* Errors: -ENOMEM. */
int pool_init(struct pool *p);

/* Frees the buckets, and the items whatever their counts. */
void pool_done(struct pool *p);

/*
 * Finds or makes the string of `len` bytes; its parts, slices of `data`, belong to it and are taken
 * from the first call that brought it. Returns a reference, or NULL when there is no memory.
 */
struct pool_item *pool_get(struct pool *p, enum pool_kind kind, const char *data, size_t len,
			   const struct exeunt_bytes *parts, uint16_t n_parts);

/* Finds without making; a new reference or NULL. */
struct pool_item *pool_find(struct pool *p, enum pool_kind kind, const char *data, size_t len);

/* True if the item, which may be NULL, is this string. */
bool pool_is(const struct pool_item *i, const char *data, size_t len);

static inline struct pool_item *pool_ref(struct pool_item *i)
{
	if (i)
		i->refs++;
	return i;
}

/* Gives a reference back; NULL is accepted. */
void pool_unref(struct pool *p, struct pool_item *i);

#endif
