/* SPDX-License-Identifier: MIT */
/* Owns entries, buckets and buffers: see audit_window.h. */
#include "decode/audit_window.h"

#include "base/util.h"
#include "decode/audit_text.h"

/* Holds the records of an exit, so that the buffers of a steady stream are always the same few. */
#define BUFFER_MIN 1024

struct stored {
	int32_t type;
	uint32_t flags, raw, enriched;
};

int audit_window_init(struct audit_window *w, uint32_t max_open, uint32_t max_over)
{
	uint32_t n = 64;

	*w = (struct audit_window){ .max_over = max_over };
	w->n_entries = max_open + max_over;
	while (n < w->n_entries)
		n *= 2;
	w->mask = n - 1;
	/* Large and untouched: pages come as they are used. */
	w->entries = calloc(w->n_entries, sizeof(*w->entries));
	w->buckets = calloc(n, sizeof(struct audit_entry *));
	if (w->entries && w->buckets)
		return 0;
	audit_window_done(w);
	return -ENOMEM;
}

void audit_window_done(struct audit_window *w)
{
	for (uint32_t i = 0; w->entries && i < w->n_fresh; i++)
		free(w->entries[i].buf);
	for (uint32_t i = 0; i < w->n_spare; i++)
		free(w->spare[i]);
	free(w->entries);
	free(w->buckets);
	*w = (struct audit_window){ 0 };
}

static uint32_t hash_id(const struct audit_line *line)
{
	uint64_t h = line->serial * UINT64_C(0x9e3779b97f4a7c15);

	h ^= (uint64_t)line->sec * 1000 + line->msec;
	for (uint32_t i = 0; i < line->node.len; i++)
		h = (h ^ (unsigned char)line->node.data[i]) * UINT64_C(0x100000001b3);
	h *= UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(h >> 32);
}

struct audit_entry *audit_window_find(const struct audit_window *w, const struct audit_line *line)
{
	uint32_t hash = hash_id(line);
	struct audit_entry *e = w->buckets[hash & w->mask];

	for (; e; e = e->hash_next)
		if (e->hash == hash && e->serial == line->serial && e->sec == line->sec &&
		    e->msec == line->msec && e->node_len == line->node.len &&
		    !memcmp(e->node, line->node.data, e->node_len))
			return e;
	return NULL;
}

static void list_append(struct audit_list *list, struct audit_entry *e)
{
	e->prev = list->tail;
	e->next = NULL;
	if (list->tail)
		list->tail->next = e;
	else
		list->head = e;
	list->tail = e;
	list->n++;
}

static void list_remove(struct audit_list *list, struct audit_entry *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		list->head = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		list->tail = e->prev;
	list->n--;
}

static struct audit_entry *take_entry(struct audit_window *w)
{
	struct audit_entry *e = w->unused;

	if (!e && w->n_fresh < w->n_entries)
		return &w->entries[w->n_fresh++];
	if (!e) {
		audit_window_remove(w, w->over.head);
		e = w->unused;
	}
	w->unused = e->next;
	return e;
}

struct audit_entry *audit_window_add(struct audit_window *w, const struct audit_line *line)
{
	struct audit_entry *e = take_entry(w), **bucket;
	uint32_t hash = hash_id(line);

	memset(e, 0, offsetof(struct audit_entry, node));
	e->hash = hash;
	e->serial = line->serial;
	e->sec = line->sec;
	e->msec = line->msec;
	e->node_len = (uint8_t)line->node.len;
	if (e->node_len)
		memcpy(e->node, line->node.data, e->node_len);
	bucket = &w->buckets[hash & w->mask];
	e->hash_next = *bucket;
	*bucket = e;
	list_append(&w->open, e);
	return e;
}

static uint32_t stored_size(const struct audit_line *line)
{
	return (uint32_t)sizeof(struct stored) + line->raw.len + line->enriched.len;
}

static uint32_t wanted_cap(const struct audit_entry *e, const struct audit_line *line)
{
	uint32_t cap = e->cap ? e->cap : BUFFER_MIN, need = e->len + stored_size(line);

	while (cap < need)
		cap *= 2;
	return cap;
}

size_t audit_window_growth(const struct audit_entry *e, const struct audit_line *line)
{
	return wanted_cap(e, line) - e->cap;
}

static int reserve(struct audit_window *w, struct audit_entry *e, uint32_t cap)
{
	char *p;

	if (cap == e->cap)
		return 0;
	if (cap == BUFFER_MIN && w->n_spare)
		p = w->spare[--w->n_spare];
	else
		p = realloc(e->buf, cap);
	if (!p)
		return -ENOMEM;
	w->bytes += cap - e->cap;
	e->buf = p;
	e->cap = cap;
	return 0;
}

int audit_window_store(struct audit_window *w, struct audit_entry *e, const struct audit_line *line)
{
	struct stored head = { .type = line->type,
			       .flags = line->flags,
			       .raw = line->raw.len,
			       .enriched = line->enriched.len };
	char *p;

	if (reserve(w, e, wanted_cap(e, line)) < 0)
		return -ENOMEM;
	p = e->buf + e->len;
	memcpy(p, &head, sizeof(head));
	memcpy(p + sizeof(head), line->raw.data, head.raw);
	if (head.enriched)
		memcpy(p + sizeof(head) + head.raw, line->enriched.data, head.enriched);
	e->len += stored_size(line);
	return 0;
}

void audit_window_id(const struct audit_entry *e, int type, struct audit_line *ret)
{
	*ret = (struct audit_line){ .type = type,
				    .sec = e->sec,
				    .msec = e->msec,
				    .serial = e->serial,
				    .node = audit_slice(e->node, e->node + e->node_len) };
}

bool audit_window_record(const struct audit_entry *e, uint32_t *at, struct audit_line *ret)
{
	struct stored head;
	const char *p;

	if (*at >= e->len)
		return false;
	p = e->buf + *at;
	memcpy(&head, p, sizeof(head));
	p += sizeof(head);
	audit_window_id(e, head.type, ret);
	ret->flags = head.flags;
	ret->raw = audit_slice(p, p + head.raw);
	ret->enriched = audit_slice(p + head.raw, p + head.raw + head.enriched);
	*at += (uint32_t)sizeof(head) + head.raw + head.enriched;
	return true;
}

static void give_up_buffer(struct audit_window *w, struct audit_entry *e)
{
	w->bytes -= e->cap;
	if (e->cap == BUFFER_MIN && w->n_spare < AUDIT_WINDOW_SPARE)
		w->spare[w->n_spare++] = TAKE(e->buf);
	free(TAKE(e->buf));
	e->cap = e->len = 0;
}

void audit_window_close(struct audit_window *w, struct audit_entry *e, enum audit_entry_state state)
{
	give_up_buffer(w, e);
	list_remove(&w->open, e);
	e->state = (uint8_t)state;
	if (w->over.n >= w->max_over)
		audit_window_remove(w, w->over.head);
	list_append(&w->over, e);
}

void audit_window_remove(struct audit_window *w, struct audit_entry *e)
{
	struct audit_entry **link = &w->buckets[e->hash & w->mask];

	while (*link != e)
		link = &(*link)->hash_next;
	*link = e->hash_next;
	give_up_buffer(w, e);
	list_remove(e->state == AUDIT_ENTRY_OPEN ? &w->open : &w->over, e);
	e->next = w->unused;
	w->unused = e;
}
