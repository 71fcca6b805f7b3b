/* SPDX-License-Identifier: MIT */
/*
 * Records on their way from the loop to the thread that writes the store: copied, in order, within a bound. One thread pushes, one
 * takes; neither ever waits for the other longer than it takes to move a pointer.
 */
#ifndef SINK_STORE_QUEUE_H
#define SINK_STORE_QUEUE_H

#include <exeunt/record.h>

#include "base/util.h"
#include "store/writer.h"

struct store_queue;
struct store_chunk;

int store_queue_new(struct store_queue **ret, size_t bound);
void store_queue_free(struct store_queue *q);

/* Copies the record, with the line that goes with it (NULL: none). False: no room. */
bool store_queue_push(struct store_queue *q, const struct exeunt_record *r, const char *json,
		      size_t json_len);

/* Bytes that were pushed and not given back. */
size_t store_queue_bytes(struct store_queue *q);

/* All that is in it, NULL if there is nothing, to be given back by store_queue_give(). */
struct store_chunk *store_queue_take(struct store_queue *q);
void store_queue_give(struct store_queue *q, struct store_chunk *c);

/* The items of the first chunk, borrowed until it is given back, and the chunk behind it, which the caller has then. */
const struct store_item *store_chunk_items(struct store_chunk *c, size_t *n);
struct store_chunk *store_chunk_next(struct store_chunk *c);

#endif
