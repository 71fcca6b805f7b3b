/* SPDX-License-Identifier: MIT */
/* The groups in order, as a table. See tally.h. */
#include "record/tally-internal.h"

struct order {
	struct tally *tally;
	enum tally_sort sort;
};

static uint64_t sum(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t rank(const struct tally_sums *s, enum tally_sort sort)
{
	switch (sort) {
	case TALLY_BY_CPU:
		return sum(s->value[TALLY_CPU_USER], s->value[TALLY_CPU_SYSTEM]);
	case TALLY_BY_EXITS:
		return s->exits;
	case TALLY_BY_ELAPSED:
		return s->value[TALLY_ELAPSED];
	case TALLY_BY_FAILED:
		return s->failed + s->killed;
	case TALLY_BY_NAME:
		break;
	}
	return 0;
}

static int compare_intervals(const struct tally_row *a, const struct tally_row *b)
{
	if (a->has_interval != b->has_interval)
		return a->has_interval ? -1 : 1;
	if (a->interval_start_ns == b->interval_start_ns)
		return 0;
	return a->interval_start_ns < b->interval_start_ns ? -1 : 1;
}

/* What ties in the sum that was asked for is in the order of CPU, then of exits, then by name: where accounting counts no CPU, too. */
static int compare(const void *x, const void *y, void *userdata)
{
	const struct tally_row *a = x, *b = y;
	const struct order *o = userdata;
	const enum tally_sort sorts[] = { o->sort, TALLY_BY_CPU, TALLY_BY_EXITS };
	int r = compare_intervals(a, b);

	for (size_t i = 0; !r && i < ARRAY_SIZE(sorts) && o->sort != TALLY_BY_NAME; i++) {
		uint64_t of_a = rank(a->sums, sorts[i]), of_b = rank(b->sums, sorts[i]);

		r = of_a > of_b ? -1 : of_a < of_b;
	}
	return r ? r : tally_key_compare(o->tally, a->group, b->group);
}

static void collect(struct tally *t, struct tally_rows *ret)
{
	for (uint32_t i = 0; i < t->n_slots; i++) {
		const struct tally_group *g = t->slots[i].group;
		struct tally_row *row = &ret->rows[ret->n];

		if (!g || !g->sums.exits) /* all that it had were amended away */
			continue;
		*row = (struct tally_row){ .sums = &g->sums, .group = g, .groups = 1 };
		row->has_interval = tally_key_interval(t, g, &row->interval_start_ns);
		tally_merge(&ret->total, &g->sums);
		ret->n++;
	}
	ret->groups = ret->n;
}

/* The rows of one interval: what is beyond the first `top` becomes one. Returns how many are left, or -ENOMEM. */
static ssize_t cut(struct tally *t, struct tally_row *rows, size_t n, uint64_t top)
{
	struct tally_sums *sums;

	if (!top || n <= top)
		return (ssize_t)n;
	sums = tally_alloc(t, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (size_t i = top; i < n; i++)
		tally_merge(sums, rows[i].sums);
	rows[top].sums = sums;
	rows[top].group = NULL;
	rows[top].groups = n - top;
	return (ssize_t)top + 1;
}

static int cut_all(struct tally *t, uint64_t top, struct tally_rows *ret)
{
	size_t done = 0, n;

	for (size_t from = 0; from < ret->n; from += n) {
		ssize_t left;

		for (n = 1; from + n < ret->n &&
			    !compare_intervals(&ret->rows[from], &ret->rows[from + n]);)
			n++;
		left = cut(t, ret->rows + from, n, top);
		if (left < 0)
			return (int)left;
		memmove(ret->rows + done, ret->rows + from, (size_t)left * sizeof(*ret->rows));
		done += (size_t)left;
	}
	ret->n = done;
	return 0;
}

int tally_rows(struct tally *t, enum tally_sort sort, uint64_t top, struct tally_rows *ret)
{
	struct order o = { .tally = t, .sort = sort };
	struct tally_row *rows = calloc((size_t)t->n_groups + 1, sizeof(*rows));
	int r;

	if (!rows)
		return -ENOMEM;
	free(t->rows);
	t->rows = rows;
	*ret = (struct tally_rows){ .rows = rows, .lost_amends = t->lost_amends };
	collect(t, ret);
	qsort_r(rows, ret->n, sizeof(*rows), compare, &o);
	r = cut_all(t, top, ret);
	if (r < 0)
		return r;
	if (t->others && t->others->sums.exits) {
		rows[ret->n++] = (struct tally_row){ .sums = &t->others->sums };
		tally_merge(&ret->total, &t->others->sums);
	}
	return 0;
}
