/* SPDX-License-Identifier: MIT */
/* What one exit adds to its group, and how that fades. See top-groups.h. */
#include "view/top-groups.h"

#include <math.h>

const int top_window_s[TOP_WINDOWS] = { 10, 60, 300, 0 };

static void weigh_value(struct top_gift *g, enum top_value v, bool known, uint64_t value)
{
	g->value[v] = known ? MIN(value, TOP_VALUE_MOST) : 0;
	if (!known)
		g->unknown |= 1u << v;
}

static void weigh_max(struct top_gift *g, enum top_max m, bool known, uint64_t value)
{
	g->max[m] = known ? value : 0;
	if (!known)
		g->unknown |= 1u << (TOP_VALUES + m);
}

/* As the tally of `report` judges it. */
static void weigh_status(struct top_gift *g, const struct exeunt_record *r)
{
	bool known = exeunt_has(r, EXEUNT_F_EXIT_CAUSE);
	bool exited = known && r->exit_cause == EXEUNT_CAUSE_EXITED;

	weigh_value(g, TOP_FAILED, known, exited && r->exit_code);
	weigh_value(g, TOP_KILLED, known, known && !exited);
}

static void weigh_delays(struct top_gift *g, const struct exeunt_record *r)
{
	uint64_t ns = 0;
	bool known = false;

	for (int i = 0; i < EXEUNT_DELAY_COUNT; i++) {
		if (!exeunt_has(r, (enum exeunt_field)(EXEUNT_F_DELAY + 4 * i + 1)))
			continue;
		known = true;
		ns += MIN(r->delay[i].total_ns, TOP_VALUE_MOST);
	}
	weigh_value(g, TOP_DELAY, known, ns / 1000);
}

void top_weigh(struct top_gift *g, const struct exeunt_record *r)
{
	bool user = exeunt_has(r, EXEUNT_F_CPU_USER), system = exeunt_has(r, EXEUNT_F_CPU_SYSTEM);
	bool elapsed = exeunt_has(r, EXEUNT_F_ELAPSED);

	g->unknown = 0;
	g->value[TOP_EXITS] = 1;
	weigh_status(g, r);
	weigh_value(g, TOP_CPU, user || system,
		    (user ? MIN(r->cpu_user_us, TOP_VALUE_MOST) : 0) +
			    (system ? MIN(r->cpu_system_us, TOP_VALUE_MOST) : 0));
	weigh_value(g, TOP_ELAPSED, elapsed, r->elapsed_us);
	weigh_value(g, TOP_READ, exeunt_has(r, EXEUNT_F_READ_BYTES), r->read_bytes);
	weigh_value(g, TOP_WRITTEN, exeunt_has(r, EXEUNT_F_WRITE_BYTES), r->write_bytes);
	weigh_value(g, TOP_MAJOR, exeunt_has(r, EXEUNT_F_MAJOR_FAULTS), r->major_faults);
	weigh_delays(g, r);
	weigh_max(g, TOP_LONGEST, elapsed, r->elapsed_us);
	weigh_max(g, TOP_RSS, exeunt_has(r, EXEUNT_F_RSS_PEAK), r->rss_peak_bytes);
}

/* The two latest windows are kept apart, so that what is older goes. */
static void turn(struct top_fading *f, int64_t epoch)
{
	if (epoch == f->epoch)
		return;
	for (int i = 0; i < TOP_MAXES; i++) {
		f->max[1][i] = epoch == f->epoch + 1 ? f->max[0][i] : 0;
		f->max[0][i] = 0;
	}
	f->epoch = epoch;
}

static int64_t epoch_of(int64_t tick, int window)
{
	return tick / (top_window_s[window] * NS_PER_SEC / TOP_TICK_NS);
}

void top_group_begin(struct top_group *g, int64_t tick)
{
	g->tick = tick;
	for (int w = 0; w < TOP_START; w++)
		g->fading[w].epoch = epoch_of(tick, w);
}

/* Asked again and again for the same few distances. */
static double fade(int64_t ticks, int window)
{
	static int64_t asked[TOP_START] = { -1, -1, -1 };
	static double answer[TOP_START];

	if (asked[window] != ticks) {
		asked[window] = ticks;
		answer[window] = exp(-(double)ticks * (double)TOP_TICK_NS /
				     ((double)top_window_s[window] * (double)NS_PER_SEC));
	}
	return answer[window];
}

static void pour(struct top_group *g)
{
	for (int v = 0; v < TOP_VALUES; v++) {
		double fresh = (double)(int64_t)g->fresh[v];

		g->total[v] += fresh;
		for (int w = 0; w < TOP_START; w++)
			g->fading[w].value[v] += fresh;
		g->fresh[v] = 0;
	}
	for (int m = 0; m < TOP_MAXES; m++) {
		g->total_max[m] = MAX(g->total_max[m], g->fresh_max[m]);
		for (int w = 0; w < TOP_START; w++)
			g->fading[w].max[0][m] = MAX(g->fading[w].max[0][m], g->fresh_max[m]);
		g->fresh_max[m] = 0;
	}
}

/* What is fresh is of g->tick; time never goes back. */
static void move_on(struct top_group *g, int64_t tick)
{
	pour(g);
	if (tick <= g->tick)
		return;
	for (int w = 0; w < TOP_START; w++) {
		double factor = fade(tick - g->tick, w);

		for (int v = 0; v < TOP_VALUES; v++)
			g->fading[w].value[v] *= factor;
		turn(&g->fading[w], epoch_of(tick, w));
	}
	g->tick = tick;
}

static void count_unknown(struct top_group *g, uint32_t unknown, uint64_t one)
{
	for (; unknown; unknown &= unknown - 1)
		g->unknown[__builtin_ctz(unknown)] += one;
}

void top_group_give(struct top_group *g, const struct top_gift *gift, int64_t tick)
{
	if (tick != g->tick)
		move_on(g, tick);
	for (int v = 0; v < TOP_VALUES; v++)
		g->fresh[v] += gift->value[v];
	for (int m = 0; m < TOP_MAXES; m++)
		g->fresh_max[m] = MAX(g->fresh_max[m], gift->max[m]);
	count_unknown(g, gift->unknown, 1);
}

/* A maximum cannot be taken back. */
void top_group_take_back(struct top_group *g, const struct top_gift *gift, int64_t tick)
{
	if (tick != g->tick)
		move_on(g, tick);
	for (int v = 0; v < TOP_VALUES; v++)
		g->fresh[v] -= gift->value[v];
	count_unknown(g, gift->unknown, (uint64_t)-1);
}

void top_group_add(struct top_group *g, enum top_window window, int64_t tick, struct top_sums *ret)
{
	const struct top_fading *f = &g->fading[window == TOP_START ? 0 : window];
	const double *value = window == TOP_START ? g->total : f->value;

	move_on(g, tick);
	for (int v = 0; v < TOP_VALUES; v++)
		ret->value[v] += MAX(value[v], 0.0);
	for (int m = 0; m < TOP_MAXES; m++) {
		uint64_t max =
			window == TOP_START ? g->total_max[m] : MAX(f->max[0][m], f->max[1][m]);

		ret->max[m] = MAX(ret->max[m], max);
	}
	for (int i = 0; i < TOP_VALUES + TOP_MAXES; i++)
		ret->unknown[i] += g->unknown[i];
	ret->exits += g->total[TOP_EXITS];
}
