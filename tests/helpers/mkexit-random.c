/* SPDX-License-Identifier: MIT */
/*
 * The random case of mkexit: a plan of threads drawn from the seed, among all ways in which a
 * process can end.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

static int any_code(struct child *c)
{
	return (int)rng_below(&c->rng, 256);
}

/* Half of the threads go at once, so that ends collide; the others within 2 ms. */
static int64_t any_delay(struct child *c)
{
	return rng_below(&c->rng, 2) ? 0 : rng_below(&c->rng, 2 * NS_PER_MSEC);
}

static enum thread_end any_rest(struct child *c)
{
	static const enum thread_end ends[] = { END_SLEEP, END_SLEEP, END_SPIN, END_SYS_EXIT,
						END_SYS_EXIT };

	return ends[rng_below(&c->rng, ARRAY_SIZE(ends))];
}

static unsigned int any_worker(struct child *c, const struct thread_plan *p)
{
	return 1 + rng_below(&c->rng, p->n - 1);
}

static void fill(struct child *c, struct thread_plan *p)
{
	unsigned int i;

	for (i = 0; i < p->n; i++)
		p->act[i] = (struct thread_act){ .end = END_SYS_EXIT,
						 .code = any_code(c),
						 .delay_ns = any_delay(c) };
}

static void fill_rest(struct child *c, struct thread_plan *p)
{
	unsigned int i;

	fill(c, p);
	for (i = 0; i < p->n; i++)
		p->act[i].end = any_rest(c);
}

static void leader_first(struct child *c, struct thread_plan *p)
{
	fill(c, p);
	p->act[0].delay_ns = 0;
	if (rng_below(&c->rng, 2))
		p->act[0].end = END_PTHREAD_EXIT;
	p->act[any_worker(c, p)].end = rng_below(&c->rng, 2) ? END_LAST_GROUP : END_LAST_SYS_EXIT;
}

static void leader_last(struct child *c, struct thread_plan *p)
{
	fill(c, p);
	p->act[0].end = rng_below(&c->rng, 2) ? END_LAST_GROUP : END_LAST_SYS_EXIT;
}

static void worker_exit(struct child *c, struct thread_plan *p)
{
	fill_rest(c, p);
	p->act[any_worker(c, p)].end = END_GROUP;
}

static void sigkill(struct child *c, struct thread_plan *p)
{
	fill_rest(c, p);
	p->act[rng_below(&c->rng, p->n)].end = END_KILL;
}

static void segfault(struct child *c, struct thread_plan *p)
{
	fill_rest(c, p);
	p->act[rng_below(&c->rng, p->n)].end = END_SEGV;
}

static void exec_worker(struct child *c, struct thread_plan *p)
{
	fill_rest(c, p);
	p->act[any_worker(c, p)].end = END_EXEC;
}

static void race(struct child *c, struct thread_plan *p)
{
	fill(c, p);
	for (unsigned int i = 0; i < p->n; i++)
		p->act[i].delay_ns = 0;
	p->act[0].end = END_GROUP;
}

static const struct {
	const char *name;
	void (*plan)(struct child *c, struct thread_plan *p);
} kinds[] = {
	{ "leader-first", leader_first },
	{ "leader-last", leader_last },
	{ "worker-exit", worker_exit },
	{ "sigkill", sigkill },
	{ "segv", segfault },
	{ "exec-worker", exec_worker },
	{ "all-sysexit", fill },
	{ "race", race },
};

void child_random(struct child *c)
{
	static struct thread_plan plan;
	unsigned int kind = rng_below(&c->rng, ARRAY_SIZE(kinds));

	snprintf(c->s->kind, sizeof(c->s->kind), "%s", kinds[kind].name);
	plan.n = 2 + rng_below(&c->rng, c->opt->max_threads - 1);
	kinds[kind].plan(c, &plan);
	plan_run(c, &plan);
}
