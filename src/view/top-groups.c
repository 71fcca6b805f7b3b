/* SPDX-License-Identifier: MIT */
/* The table of groups, and who has to go when it is full. See top-groups.h; the sums are in top-sums.c. */
#include "view/top-groups.h"

#include "view/top-key.h"

int top_groups_init(struct top_groups *t, uint32_t most, uint64_t seed)
{
	*t = (struct top_groups){ .most = most, .seed = seed, .n_slots = 1 };
	while (t->n_slots < 2 * most)
		t->n_slots *= 2;
	t->groups = calloc(most, sizeof(struct top_group *));
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	t->others = calloc(1, sizeof(*t->others));
	if (t->groups && t->slots && t->others)
		return 0;
	top_groups_clear(t);
	return -ENOMEM;
}

void top_groups_clear(struct top_groups *t)
{
	for (uint32_t i = 0; t->groups && i < t->n; i++)
		free(t->groups[i]);
	free(t->groups);
	free(t->slots);
	free(t->others);
	*t = (struct top_groups){ 0 };
}

static void put_slot(struct top_groups *t, uint32_t place)
{
	uint32_t i = (uint32_t)t->groups[place]->hash & (t->n_slots - 1);

	while (t->slots[i])
		i = (i + 1) & (t->n_slots - 1);
	t->slots[i] = place + 1;
}

/* A millisecond of CPU counts as much as one exit. */
static double weight(const struct top_group *g)
{
	return 1000 * g->total[TOP_EXITS] + g->total[TOP_CPU] +
	       1000 * g->fading[TOP_5M].value[TOP_EXITS];
}

static int heavy_first(const void *a, const void *b)
{
	const struct top_group *x = *(struct top_group *const *)a,
			       *y = *(struct top_group *const *)b;
	double p = weight(x), q = weight(y);

	if (p != q)
		return p > q ? -1 : 1;
	return x->id < y->id ? 1 : -1; /* of two that count the same the older one goes */
}

static void merge(struct top_group *to, const struct top_group *from)
{
	for (int v = 0; v < TOP_VALUES; v++) {
		to->total[v] += from->total[v];
		for (int w = 0; w < TOP_START; w++)
			to->fading[w].value[v] += from->fading[w].value[v];
	}
	for (int m = 0; m < TOP_MAXES; m++) {
		to->total_max[m] = MAX(to->total_max[m], from->total_max[m]);
		for (int w = 0; w < TOP_START; w++)
			for (int k = 0; k < 2; k++)
				to->fading[w].max[k][m] =
					MAX(to->fading[w].max[k][m], from->fading[w].max[k][m]);
	}
	for (int i = 0; i < TOP_VALUES + TOP_MAXES; i++)
		to->unknown[i] += from->unknown[i];
}

static void give_up(struct top_groups *t, int64_t tick)
{
	struct top_sums unused = { 0 };
	uint32_t keep = t->most - MAX(t->most / 4, 1u);

	top_group_add(t->others, TOP_START, tick, &unused);
	for (uint32_t i = 0; i < t->n; i++)
		top_group_add(t->groups[i], TOP_START, tick, &unused);
	qsort(t->groups, t->n, sizeof(*t->groups), heavy_first);
	for (uint32_t i = keep; i < t->n; i++) {
		merge(t->others, t->groups[i]);
		if (t->on_gone)
			t->on_gone(t->groups[i], t->userdata);
		free(TAKE(t->groups[i]));
		t->given_up++;
	}
	t->n = MIN(t->n, keep);
	memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
	for (uint32_t i = 0; i < t->n; i++)
		put_slot(t, i);
}

struct top_group *top_groups_get(struct top_groups *t, const uint8_t *key, size_t len, int64_t tick)
{
	uint64_t hash = top_key_hash(t->seed, key, len);
	struct top_group *g;

	for (uint32_t i = (uint32_t)hash & (t->n_slots - 1); t->slots[i];
	     i = (i + 1) & (t->n_slots - 1)) {
		g = t->groups[t->slots[i] - 1];
		if (g->hash == hash && g->key_len == len && !memcmp(g->key, key, len))
			return g;
	}
	if (t->n == t->most)
		give_up(t, tick);
	g = calloc(1, sizeof(*g) + len);
	if (!g)
		return t->others;
	g->hash = hash;
	g->id = ++t->next_id;
	top_group_begin(g, tick);
	g->key_len = (uint32_t)len;
	memcpy(g->key, key, len);
	t->groups[t->n++] = g;
	put_slot(t, t->n - 1);
	return g;
}

struct top_group *top_groups_again(struct top_groups *t, uint64_t hash, uint32_t id)
{
	for (uint32_t i = (uint32_t)hash & (t->n_slots - 1); t->slots[i];
	     i = (i + 1) & (t->n_slots - 1)) {
		struct top_group *g = t->groups[t->slots[i] - 1];

		if (g->hash == hash && g->id == id)
			return g;
	}
	return t->others;
}
