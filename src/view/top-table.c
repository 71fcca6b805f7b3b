/* SPDX-License-Identifier: MIT */
/* See top-table.h. */
#include "view/top-table.h"

#include <math.h>

#include "record/filter.h"

double top_window_seconds(const struct top_model *m, enum top_window window)
{
	double seen = top_model_seconds(m), length = top_window_s[window];

	return window == TOP_START ? seen : length * (1 - exp(-seen / length));
}

static bool is_known(const struct top_sums *s, int what)
{
	return (double)s->unknown[what] < s->exits || s->exits <= 0;
}

static double known_or(const struct top_sums *s, int what, double value)
{
	return is_known(s, what) ? value : -1;
}

/* Over those that told it; windows do not know how many did, so their part since the start stands for it. */
static double mean(const struct top_sums *s)
{
	double told = s->exits > 0 ? 1 - (double)s->unknown[TOP_ELAPSED] / s->exits : 0;

	if (told <= 0 || s->value[TOP_EXITS] <= 0)
		return -1;
	return s->value[TOP_ELAPSED] / (s->value[TOP_EXITS] * told);
}

double top_column_value(const struct top_sums *s, enum top_column c)
{
	switch (c) {
	case TOP_COLUMN_FAILED:
		return known_or(s, TOP_FAILED, s->value[TOP_FAILED]);
	case TOP_COLUMN_KILLED:
		return known_or(s, TOP_KILLED, s->value[TOP_KILLED]);
	case TOP_COLUMN_CPU:
	case TOP_COLUMN_SHARE:
		return known_or(s, TOP_CPU, s->value[TOP_CPU]);
	case TOP_COLUMN_MEAN:
		return mean(s);
	case TOP_COLUMN_LONGEST:
		return known_or(s, TOP_VALUES + TOP_LONGEST, (double)s->max[TOP_LONGEST]);
	case TOP_COLUMN_RSS:
		return known_or(s, TOP_VALUES + TOP_RSS, (double)s->max[TOP_RSS]);
	case TOP_COLUMN_READ:
		return known_or(s, TOP_READ, s->value[TOP_READ]);
	case TOP_COLUMN_WRITTEN:
		return known_or(s, TOP_WRITTEN, s->value[TOP_WRITTEN]);
	case TOP_COLUMN_MAJOR:
		return known_or(s, TOP_MAJOR, s->value[TOP_MAJOR]);
	case TOP_COLUMN_DELAY:
		return known_or(s, TOP_DELAY, s->value[TOP_DELAY]);
	case TOP_COLUMN_EXITS:
	case TOP_COLUMN_RATE:
	case TOP_COLUMN_NAME:
	case TOP_COLUMNS:
		break;
	}
	return s->value[TOP_EXITS];
}

/* What is not known comes last, whatever the order. */
static int compare_names(const struct top_row *a, const struct top_row *b)
{
	int r;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	r = a->part.len && b->part.len
		    ? memcmp(a->part.data, b->part.data, MIN(a->part.len, b->part.len))
		    : 0;
	return r ? r : (int)a->part.len - (int)b->part.len;
}

/* Numbers are kept in the order of the host. */
static int compare_parts(const struct top_row *a, const struct top_row *b, enum top_by by)
{
	if ((by == TOP_BY_PARENT || by == TOP_BY_STATUS) && a->known && b->known) {
		uint32_t x = load_u32(a->part.data), y = load_u32(b->part.data);

		return x < y ? -1 : x > y;
	}
	return compare_names(a, b);
}

static int compare(const void *p, const void *q, void *userdata)
{
	const struct top_choice *c = userdata;
	const struct top_row *a = p, *b = q;
	double x, y;

	if (a->others != b->others)
		return a->others ? 1 : -1;
	if (c->sort == TOP_COLUMN_NAME)
		return c->reverse ? compare_parts(b, a, c->by) : compare_parts(a, b, c->by);
	x = top_column_value(&a->sums, c->sort);
	y = top_column_value(&b->sums, c->sort);
	if ((x < 0) != (y < 0))
		return x < 0 ? 1 : -1;
	if (x != y)
		return (x > y) != c->reverse ? -1 : 1;
	return compare_parts(a, b, c->by);
}

void top_table_sort(struct top_table *t, enum top_column sort, bool reverse)
{
	t->choice.sort = sort;
	t->choice.reverse = reverse;
	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), compare, &t->choice);
}

void top_table_clear(struct top_table *t)
{
	free(t->rows);
	free(t->text);
	free(t->slots);
	*t = (struct top_table){ 0 };
}

static int make_room(struct top_table *t, const struct top_groups *g)
{
	size_t text = 0, slots = 1;

	for (uint32_t i = 0; i < g->n; i++)
		text += g->groups[i]->key_len;
	while (slots < 2 * (size_t)g->n)
		slots *= 2;
	if (t->room < (size_t)g->n + 1 || t->text_size < text || t->n_slots < slots) {
		top_table_clear(t);
		t->room = (size_t)g->n + 1;
		t->text_size = text;
		t->n_slots = slots;
		t->rows = calloc(t->room, sizeof(*t->rows));
		t->text = malloc(text + 1);
		t->slots = calloc(slots, sizeof(*t->slots));
		if (!t->rows || !t->text || !t->slots) {
			top_table_clear(t);
			return -ENOMEM;
		}
	}
	memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
	t->n = 0;
	return 0;
}

static struct top_row *find_row(struct top_table *t, struct exeunt_bytes part, bool known)
{
	uint64_t hash = top_key_hash(known, (const uint8_t *)(known ? part.data : ""), part.len);

	for (size_t i = hash & (t->n_slots - 1);; i = (i + 1) & (t->n_slots - 1)) {
		struct top_row *row;

		if (!t->slots[i]) {
			t->slots[i] = (uint32_t)++t->n;
			row = &t->rows[t->n - 1];
			*row = (struct top_row){ .known = known };
			return row;
		}
		row = &t->rows[t->slots[i] - 1];
		if (row->known == known && row->part.len == part.len &&
		    (!part.len || !memcmp(row->part.data, part.data, part.len)))
			return row;
	}
}

static bool passes(const struct filter *f, const struct top_group *g)
{
	struct exeunt_record r;

	if (!f)
		return true;
	top_key_record(g->key, g->key_len, &r);
	return filter_match(f, &r);
}

/* What is summed has to be seen: a window in which a group has faded away does not show it. */
static bool is_there(const struct top_sums *s)
{
	return s->value[TOP_EXITS] >= 0.5;
}

static void drop_empty(struct top_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (is_there(&t->rows[i].sums))
			t->rows[n++] = t->rows[i];
	t->n = n;
}

static void add_sums(struct top_sums *to, const struct top_sums *from)
{
	for (int v = 0; v < TOP_VALUES; v++)
		to->value[v] += from->value[v];
	for (int m = 0; m < TOP_MAXES; m++)
		to->max[m] = MAX(to->max[m], from->max[m]);
	for (int i = 0; i < TOP_VALUES + TOP_MAXES; i++)
		to->unknown[i] += from->unknown[i];
	to->exits += from->exits;
}

static void collect(struct top_table *t, struct top_groups *groups, const struct top_choice *c,
		    int64_t tick)
{
	uint8_t *text = t->text;

	for (uint32_t i = 0; i < groups->n; i++) {
		struct top_group *g = groups->groups[i];
		struct top_row *row;
		struct exeunt_bytes part;
		bool known;

		if (!passes(c->filter, g))
			continue;
		part = top_key_part(g->key, g->key_len, c->by, &known);
		row = find_row(t, part, known);
		if (!row->key) {
			memcpy(text, g->key, g->key_len);
			row->key = text;
			row->key_len = g->key_len;
			row->part = top_key_part(text, g->key_len, c->by, &known);
			text += g->key_len;
		}
		top_group_add(g, c->window, tick, &row->sums);
	}
}

int top_table_make(struct top_table *t, struct top_model *m, const struct top_choice *c)
{
	struct top_groups *groups = top_model_groups(m, c->by == TOP_BY_PARENT);
	int64_t tick = top_model_now(m) / TOP_TICK_NS;
	struct top_sums others = { 0 };
	int r = make_room(t, groups);

	if (r < 0)
		return r;
	t->choice = *c;
	t->choice.filter = NULL;
	t->seconds = top_window_seconds(m, c->window);
	t->given_up = groups->given_up;
	t->total = (struct top_sums){ 0 };
	collect(t, groups, c, tick);
	drop_empty(t);
	top_group_add(groups->others, c->window, tick, &others);
	if (groups->given_up && is_there(&others))
		t->rows[t->n++] = (struct top_row){ .sums = others, .others = true };
	for (size_t i = 0; i < t->n; i++)
		add_sums(&t->total, &t->rows[i].sums);
	top_table_sort(t, c->sort, c->reverse);
	return 0;
}
