/* SPDX-License-Identifier: MIT */
/* A doubly linked ring with a head; nodes are embedded and owned by others. An unlinked node points to itself. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct list {
	struct list *prev, *next;
};

#define container_of(p, type, member) ((type *)((uintptr_t)(p)-offsetof(type, member)))

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

static inline void list_append(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_move_to_end(struct list *head, struct list *node)
{
	list_remove(node);
	list_append(head, node);
}

#endif
