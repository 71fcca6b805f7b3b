/* SPDX-License-Identifier: MIT */
/*
 * The table behind audit_assemble.h: unfinished events with copies of their records, found by their
 * id, oldest first, and the ids of events that are over. Owns all of that memory and keeps to its
 * bounds; knows nothing of what the records mean.
 */
#ifndef DECODE_AUDIT_WINDOW_H
#define DECODE_AUDIT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/audit_line.h"

enum audit_entry_state {
	AUDIT_ENTRY_OPEN,
	AUDIT_ENTRY_TOLD,    /* over: what still comes is late */
	AUDIT_ENTRY_IGNORED, /* of no interest: what still comes is dropped */
};

struct audit_entry {
	struct audit_entry *hash_next, *prev, *next;
	int64_t since_ns;
	uint64_t since_line;
	uint64_t serial;
	int64_t sec;
	uint32_t msec, hash;
	uint32_t len, cap;
	char *buf;
	uint32_t items, paths;
	int32_t pid; /* of an exec */
	uint8_t state, seen, call;
	bool dropped; /* there were more records than an event may have */
	uint8_t node_len;
	char node[AUDIT_NODE_MAX];
};

struct audit_list {
	struct audit_entry *head, *tail;
	uint32_t n;
};

#define AUDIT_WINDOW_SPARE 64

struct audit_window {
	struct audit_entry *entries, *unused, **buckets;
	uint32_t n_entries, n_fresh, mask;
	struct audit_list open, over;
	uint32_t max_over;
	size_t bytes; /* in buffers of entries */
	char *spare[AUDIT_WINDOW_SPARE];
	uint32_t n_spare;
};

/* Errors: -ENOMEM. */
int audit_window_init(struct audit_window *w, uint32_t max_open, uint32_t max_over);
void audit_window_done(struct audit_window *w);

struct audit_entry *audit_window_find(const struct audit_window *w, const struct audit_line *line);

/* A new open entry; there must be fewer than `max_open`. May forget the oldest that is over. */
struct audit_entry *audit_window_add(struct audit_window *w, const struct audit_line *line);

/* Bytes by which audit_window_store() would let the window grow. */
size_t audit_window_growth(const struct audit_entry *e, const struct audit_line *line);

/* Copies the record into the entry. Errors: -ENOMEM. */
int audit_window_store(struct audit_window *w, struct audit_entry *e,
		       const struct audit_line *line);

/* A record of this event with its id and nothing else. */
void audit_window_id(const struct audit_entry *e, int type, struct audit_line *ret);

/* Walks the stored records: *at starts with 0. Returns false behind the last one. */
bool audit_window_record(const struct audit_entry *e, uint32_t *at, struct audit_line *ret);

/* Gives the records up and keeps the id. */
void audit_window_close(struct audit_window *w, struct audit_entry *e,
			enum audit_entry_state state);

/* Forgets the entry. */
void audit_window_remove(struct audit_window *w, struct audit_entry *e);

#endif
