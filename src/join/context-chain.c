/* SPDX-License-Identifier: MIT */
/* The hash of the context table, and in it the generations of a pid; see context.h. */
#include "join/context-internal.h"

/*
 * An estimate of a start is late, never early, but for some microseconds between the kernel's clock
 * reads (seen: 7). More than that would let the next process of the same pid pass for this one.
 */
#define EARLY_NS NS_PER_MSEC

/* Pids are given in turn: those of one time lie side by side, in few cache lines. */
static struct context_entry **bucket(const struct context *c, int32_t tgid)
{
	return &c->buckets[(uint32_t)tgid & c->mask];
}

/* Younger ones come first in a chain, so that the first whose start is known is the one, however often a pid came again. */
struct context_entry *context_find(const struct context *c, int32_t tgid, int64_t mono_ns)
{
	struct context_entry *e = *bucket(c, tgid), *unknown = NULL;

	for (; e; e = e->hash_next) {
		if (e->tgid != tgid || e->start_ns > mono_ns + EARLY_NS)
			continue;
		if (e->start_ns)
			return e;
		if (!unknown)
			unknown = e;
	}
	return unknown;
}

static void put(struct context_entry *e, struct context_entry **at)
{
	e->hash_next = *at;
	e->hash_at = at;
	if (*at)
		(*at)->hash_at = &e->hash_next;
	*at = e;
}

void context_chain(struct context *c, struct context_entry *e)
{
	put(e, bucket(c, e->tgid));
}

void context_unchain(struct context_entry *e)
{
	*e->hash_at = e->hash_next;
	if (e->hash_next)
		e->hash_next->hash_at = e->hash_at;
}

void context_date(struct context *c, struct context_entry *e, int64_t start_ns)
{
	struct context_entry **at = bucket(c, e->tgid), *f;

	context_unchain(e);
	e->start_ns = start_ns;
	for (f = *at; f && (f->tgid != e->tgid || f->start_ns > start_ns); f = f->hash_next)
		if (f->tgid == e->tgid)
			at = &f->hash_next;
	put(e, at);
}
