/* SPDX-License-Identifier: MIT */
/*
 * What exits are told apart by on the screen: the parts of a key, as bytes; equal bytes, equal group. All parts are in one
 * key, so that one table serves every grouping and most filters: who groups by one part adds up the keys that agree in it.
 * Owns nothing.
 */
#ifndef VIEW_TOP_KEY_H
#define VIEW_TOP_KEY_H

#include <exeunt/record.h>

#include "base/util.h"

/* In the order of the keys 1, 2 ... on the keyboard. */
enum top_by {
	TOP_BY_COMM,
	TOP_BY_EXE,
	TOP_BY_USER,
	TOP_BY_LOGIN,
	TOP_BY_PARENT,
	TOP_BY_UNIT, /* or the cgroup where there is none */
	TOP_BY_CONTAINER,
	TOP_BY_STATUS,
	TOP_BYS
};

/* A part that is longer is cut: names that agree so far are one group. */
#define TOP_PART_MOST 1024
#define TOP_KEY_MOST (11 * (TOP_PART_MOST + 2))

struct top_key {
	size_t without_parent; /* so many bytes are the key without the parent's pid, which changes all the time */
	size_t len;
	uint8_t data[TOP_KEY_MOST];
};

void top_key_make(struct top_key *k, const struct exeunt_record *r);

/* A hash that nobody chooses names for: `seed` is random. */
uint64_t top_key_hash(uint64_t seed, const uint8_t *data, size_t len);

/* The bytes of that part; len 0 and data NULL: not known, and *known false. */
struct exeunt_bytes top_key_part(const uint8_t *key, size_t len, enum top_by by, bool *known);

/* Fills all of `r` with what the key tells; strings are borrowed from it. */
void top_key_record(const uint8_t *key, size_t len, struct exeunt_record *r);

/* True if a record of top_key_record() has all that these fields tell. */
bool top_key_has(const uint64_t fields[EXEUNT_PRESENT_WORDS]);

/* The field of the record that shows the part; EXEUNT_F_COUNT: none. `r` is of top_key_record(). */
enum exeunt_field top_key_field(const struct exeunt_record *r, enum top_by by);

#endif
