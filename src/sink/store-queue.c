/* SPDX-License-Identifier: MIT */
/* See store-queue.h. Chunks of fixed size: what was copied never moves, as it points into itself. */
#include "sink/store-queue.h"

#include <pthread.h>
#include <stdalign.h>

#include "record/copy.h"

#define CHUNK_BYTES (256u << 10)
#define CHUNK_ITEMS 1024

struct store_chunk {
	struct store_chunk *next;
	size_t size, used, n;
	struct store_item items[CHUNK_ITEMS];
	alignas(struct exeunt_record) char data[];
};

struct store_queue {
	pthread_mutex_t mutex;
	size_t bound, bytes; /* of chunks that are with either side */
	struct store_chunk *head, *tail, *spare;
};

int store_queue_new(struct store_queue **ret, size_t bound)
{
	struct store_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->mutex, NULL);
	q->bound = bound;
	*ret = q;
	return 0;
}

static void free_all(struct store_chunk *c)
{
	while (c) {
		struct store_chunk *next = c->next;

		free(c);
		c = next;
	}
}

void store_queue_free(struct store_queue *q)
{
	if (!q)
		return;
	free_all(q->head);
	free(q->spare);
	pthread_mutex_destroy(&q->mutex);
	free(q);
}

/* Called with the mutex. A chunk counts from when it is made until it is freed. */
static struct store_chunk *chunk_for(struct store_queue *q, size_t size)
{
	struct store_chunk *c = q->tail;

	if (c && c->n < CHUNK_ITEMS && c->size - c->used >= size)
		return c;
	if (q->spare && q->spare->size >= size) {
		c = TAKE(q->spare);
	} else {
		size = MAX(size, (size_t)CHUNK_BYTES);
		if (q->bytes + size > q->bound)
			return NULL;
		c = malloc(sizeof(*c) + size);
		if (!c)
			return NULL;
		c->size = size;
		q->bytes += size;
	}
	c->next = NULL;
	c->used = c->n = 0;
	if (q->tail)
		q->tail->next = c;
	else
		q->head = c;
	q->tail = c;
	return c;
}

bool store_queue_push(struct store_queue *q, const struct exeunt_record *r, const char *json,
		      size_t json_len)
{
	size_t record_size = record_copy_size(r);
	const size_t align = alignof(struct exeunt_record);
	size_t size = record_size + (json_len + align - 1) / align * align;
	struct store_chunk *c;

	pthread_mutex_lock(&q->mutex);
	c = chunk_for(q, size);
	if (c) {
		char *at = c->data + c->used;
		struct store_item *item = &c->items[c->n++];

		item->record = record_copy(at, r);
		item->json = json ? memcpy(at + record_size, json, json_len) : NULL;
		item->json_len = json_len;
		c->used += size;
	}
	pthread_mutex_unlock(&q->mutex);
	return c != NULL;
}

size_t store_queue_bytes(struct store_queue *q)
{
	size_t bytes;

	pthread_mutex_lock(&q->mutex);
	bytes = q->bytes - (q->spare ? q->spare->size : 0);
	pthread_mutex_unlock(&q->mutex);
	return bytes;
}

struct store_chunk *store_queue_take(struct store_queue *q)
{
	struct store_chunk *c;

	pthread_mutex_lock(&q->mutex);
	c = TAKE(q->head);
	q->tail = NULL;
	pthread_mutex_unlock(&q->mutex);
	return c;
}

void store_queue_give(struct store_queue *q, struct store_chunk *c)
{
	pthread_mutex_lock(&q->mutex);
	if (!q->spare && c->size == CHUNK_BYTES) {
		q->spare = c;
		c = NULL;
	} else {
		q->bytes -= c->size;
	}
	pthread_mutex_unlock(&q->mutex);
	free(c);
}

const struct store_item *store_chunk_items(struct store_chunk *c, size_t *n)
{
	*n = c->n;
	return c->items;
}

struct store_chunk *store_chunk_next(struct store_chunk *c)
{
	return TAKE(c->next);
}
