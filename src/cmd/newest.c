/* SPDX-License-Identifier: MIT */
/* See newest.h. */
#include "cmd/newest.h"

#include "record/copy.h"
#include "record/fill.h"

#define KEPT 512

struct newest {
	newest_fn fn;
	void *userdata;
	struct exeunt_record *amends[KEPT]; /* a ring */
	unsigned int next;
};

int newest_new(struct newest **ret, newest_fn fn, void *userdata)
{
	struct newest *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->fn = fn;
	n->userdata = userdata;
	*ret = n;
	return 0;
}

void newest_free(struct newest *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < KEPT; i++)
		free(n->amends[i]);
	free(n);
}

/* Without memory the exit is shown as it was first known. */
static void keep(struct newest *n, const struct exeunt_record *r)
{
	struct exeunt_record **at = &n->amends[n->next++ % KEPT];
	void *copy = malloc(record_copy_size(r));

	free(*at);
	*at = copy ? record_copy(copy, r) : NULL;
}

static struct exeunt_record **find(struct newest *n, const struct exeunt_record *r)
{
	if (!exeunt_has(r, EXEUNT_F_ENTITY_ID))
		return NULL;
	for (size_t i = 0; i < KEPT; i++) {
		const struct exeunt_record *a = n->amends[i];

		if (a && a->pid == r->pid && a->entity_start_ns == r->entity_start_ns)
			return &n->amends[i];
	}
	return NULL;
}

bool newest_take(struct newest *n, const struct exeunt_record *r)
{
	struct exeunt_record **amend, whole;

	if (r->type == EXEUNT_TYPE_AMEND) {
		keep(n, r);
		return false;
	}
	if (r->type != EXEUNT_TYPE_EXIT)
		return r->loss && n->fn(r, n->userdata);
	amend = find(n, r);
	if (!amend)
		return n->fn(r, n->userdata);
	whole = **amend;
	whole.type = r->type;
	whole.seq = r->seq;
	whole.time_ns = r->time_ns;
	record_fill(&whole, r);
	if (n->fn(&whole, n->userdata))
		return true;
	free(TAKE(*amend));
	return false;
}
