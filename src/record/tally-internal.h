/* SPDX-License-Identifier: MIT */
/* What the files of the tally share; see tally.h. Not for others. */
#ifndef RECORD_TALLY_INTERNAL_H
#define RECORD_TALLY_INTERNAL_H

#include "base/util.h"
#include "record/fields.h"
#include "record/tally.h"

/* A key that is longer goes to the others. */
#define TALLY_KEY_MOST 65536
#define TALLY_KEY_SLACK 64

struct tally_group {
	struct tally_sums sums;
	uint32_t key_len;
	uint8_t key[];
};

/* What one exit adds. */
struct tally_gift {
	uint64_t value[TALLY_VALUES];
	int64_t end_ns;
	uint8_t known; /* mask of values */
	uint8_t how;   /* mask of enum tally_how */
};

enum tally_how {
	TALLY_FAILED = 1,
	TALLY_KILLED = 2,
	TALLY_CORE = 4,
	TALLY_UNCERTAIN = 8,
	TALLY_STATUS_UNKNOWN = 16,
	TALLY_TIMED = 32,
};

/* Exits are remembered so that they can be amended: by pid, the latest that fell to its place. */
#define TALLY_MEMORIES 8192

struct tally_memory {
	uint64_t entity_start_ns;
	struct tally_group *group; /* NULL: it was left out */
	int32_t pid;
	bool used;
	struct tally_gift gift;
};

struct tally_slot {
	uint64_t hash;
	struct tally_group *group; /* NULL: free */
};

struct tally_chunk;

struct tally {
	struct tally_options options;
	uint64_t seed;
	struct tally_slot *slots;
	uint32_t n_slots; /* a power of two */
	uint32_t n_groups;
	struct tally_group *others; /* those that had no room, or NULL */
	struct tally_chunk *chunks;
	size_t bytes; /* of all chunks */
	uint64_t lost_amends;
	struct tally_memory *memories;
	struct exeunt_bytes *args; /* of tally_group_record() */
	uint32_t args_size;
	uint8_t *key;
	struct tally_row *rows; /* of tally_rows() */
};

/* tally.c: zeroed memory that lives as long as the tally; NULL without memory. */
void *tally_alloc(struct tally *t, size_t size);

/* tally-key.c: what the record is grouped by, as bytes in t->key; their number, or 0 if they are too many. */
size_t tally_key(struct tally *t, const struct exeunt_record *r);

/* True, and the start, if the key has an interval. */
bool tally_key_interval(const struct tally *t, const struct tally_group *g, int64_t *start_ns);

/* Orders keys by their fields, text as bytes; what is not known comes last. */
int tally_key_compare(const struct tally *t, const struct tally_group *a,
		      const struct tally_group *b);

/* tally-sums.c */
void tally_weigh(struct tally_gift *gift, const struct exeunt_record *r);
void tally_give(struct tally_sums *s, const struct tally_gift *gift);
void tally_take_back(struct tally_sums *s, const struct tally_gift *gift);
void tally_merge(struct tally_sums *to, const struct tally_sums *from);

#endif
