/* SPDX-License-Identifier: MIT */
/* A hash by tgid over entries that are allocated in slabs and never moved. See table.h. */
#include "join/table.h"

#include "base/util.h"

#define SLAB 64

struct slab {
	struct slab *next;
	struct process entries[SLAB];
};

struct table {
	struct process **buckets;
	unsigned int n_buckets; /* a power of two */
	unsigned int most, n;
	size_t kept_bytes;
	struct list lists[PROCESS_STATES];
	unsigned int counts[PROCESS_STATES];
	struct process *unused;
	struct slab *slabs;
};

int table_new(struct table **ret, unsigned int most)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->most = most;
	t->n_buckets = 1024;
	while (t->n_buckets < most)
		t->n_buckets *= 2;
	t->buckets = calloc(t->n_buckets, sizeof(*t->buckets));
	if (!t->buckets) {
		free(t);
		return -ENOMEM;
	}
	for (int s = 0; s < PROCESS_STATES; s++)
		list_init(&t->lists[s]);
	*ret = t;
	return 0;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	while (t->slabs) {
		struct slab *s = t->slabs;

		t->slabs = s->next;
		for (int i = 0; i < SLAB; i++) {
			free(s->entries[i].text);
			free(s->entries[i].kept);
		}
		free(s);
	}
	free(t->buckets);
	free(t);
}

/* Pids are given in turn: those of one time lie side by side, in few cache lines. */
static struct process **bucket(const struct table *t, int32_t tgid)
{
	return &t->buckets[(uint32_t)tgid & (t->n_buckets - 1)];
}

static struct process *skip_others(struct process *p, int32_t tgid)
{
	while (p && p->tgid != tgid)
		p = p->hash_next;
	return p;
}

struct process *table_following(const struct process *p)
{
	return skip_others(p->hash_next, p->tgid);
}

struct process *table_first(const struct table *t, int32_t tgid)
{
	return skip_others(*bucket(t, tgid), tgid);
}

static bool add_slab(struct table *t)
{
	struct slab *s = malloc(sizeof(*s));

	if (!s)
		return false;
	s->next = t->slabs;
	t->slabs = s;
	for (int i = 0; i < SLAB; i++) {
		s->entries[i].text = s->entries[i].kept = NULL;
		s->entries[i].hash_next = t->unused;
		t->unused = &s->entries[i];
	}
	return true;
}

struct process *table_add(struct table *t, int32_t tgid)
{
	struct process *p, **head = bucket(t, tgid);

	if (t->n >= t->most || (!t->unused && !add_slab(t)))
		return NULL;
	p = t->unused;
	t->unused = p->hash_next;
	memset(p, 0, sizeof(*p));
	p->tgid = tgid;
	p->state = PROCESS_OPEN;
	p->hash_next = *head;
	p->hash_at = head;
	if (*head)
		(*head)->hash_at = &p->hash_next;
	*head = p;
	list_append(&t->lists[p->state], &p->node);
	t->counts[p->state]++;
	t->n++;
	return p;
}

void table_keep(struct table *t, struct process *p, void *kept, size_t len)
{
	free(TAKE(p->text));
	free(p->kept);
	t->kept_bytes += len - p->kept_len;
	p->kept = kept;
	p->kept_len = len;
}

void table_remove(struct table *t, struct process *p)
{
	*p->hash_at = p->hash_next;
	if (p->hash_next)
		p->hash_next->hash_at = p->hash_at;
	table_keep(t, p, NULL, 0);
	list_remove(&p->node);
	t->counts[p->state]--;
	t->n--;
	p->hash_next = t->unused;
	t->unused = p;
}

void table_move(struct table *t, struct process *p, enum process_state state)
{
	t->counts[p->state]--;
	t->counts[state]++;
	p->state = state;
	list_move_to_end(&t->lists[state], &p->node);
}

struct process *table_oldest(const struct table *t, enum process_state state)
{
	const struct list *head = &t->lists[state];

	return list_is_empty(head) ? NULL : container_of(head->next, struct process, node);
}

struct process *table_next(const struct table *t, const struct process *p)
{
	const struct list *next = p->node.next;

	return next == &t->lists[p->state] ? NULL : container_of(next, struct process, node);
}

unsigned int table_most(const struct table *t)
{
	return t->most;
}

unsigned int table_count(const struct table *t, enum process_state state)
{
	return t->counts[state];
}

size_t table_kept_bytes(const struct table *t)
{
	return t->kept_bytes;
}
