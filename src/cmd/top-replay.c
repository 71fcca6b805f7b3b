/* SPDX-License-Identifier: MIT */
/*
 * A file in the place of the kernel: its records come as they did, at a speed, and the clock is theirs. What is typed is
 * answered from within the callback, since the library reads the file in one go.
 */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/top.h"

#define UNCHECKED_MOST 256
#define KEYS_NS (20 * NS_PER_MSEC)
#define GAP_NS (3600 * NS_PER_SEC) /* longer ones are not waited for */

/* When it was: of an exit the time that it has; above 0. */
static int64_t time_of(const struct exeunt_record *r)
{
	bool exit = r->type == EXEUNT_TYPE_EXIT && exeunt_has(r, EXEUNT_F_EXIT_TIME);

	return MAX(exit ? r->exit_time_ns : r->time_ns, (int64_t)1);
}

static void look(struct top *t, int64_t mono_ns)
{
	top_signals(t);
	top_keys(t, mono_ns);
	if (t->curses && mono_ns >= top_due(t))
		top_turn(t, mono_ns);
}

/* The clock of the records, as the speed has it. */
static int64_t play_ns(const struct top *t, int64_t mono_ns)
{
	return t->begin_ns + t->skipped_ns +
	       (int64_t)((double)(mono_ns - t->begin_mono_ns) * t->speed);
}

static void wait_for(struct top *t, int64_t ns)
{
	int64_t mono_ns = mono_now();

	if (!t->begin_mono_ns) {
		t->begin_mono_ns = mono_ns;
		t->begin_ns = ns;
	}
	if (ns > play_ns(t, mono_ns) + GAP_NS)
		t->skipped_ns += ns - play_ns(t, mono_ns);
	while (!t->quit && !t->again && ns > play_ns(t, mono_ns)) {
		int64_t due =
			mono_ns + (int64_t)((double)(ns - play_ns(t, mono_ns)) / t->speed) + 1;

		top_wait(t, -1, t->curses ? MIN(due, top_due(t)) : due);
		mono_ns = mono_now();
		top_model_advance(t->model, MIN(play_ns(t, mono_ns), ns));
		look(t, mono_ns);
	}
}

/* A screen for each step of the records' time. */
static void print_until(struct top *t, int64_t ns)
{
	if (!t->options->delay_given)
		return;
	if (!t->next_print_ns)
		t->next_print_ns = ns + t->view.delay_ns;
	if (ns < t->next_print_ns)
		return;
	top_model_advance(t->model, t->next_print_ns);
	top_turn(t, mono_now());
	/* nothing is printed for long times in which nothing ended */
	t->next_print_ns += (1 + (ns - t->next_print_ns) / t->view.delay_ns) * t->view.delay_ns;
}

static int on_record(const struct exeunt_record *r, void *userdata)
{
	struct top *t = userdata;
	int64_t ns = time_of(r), mono_ns;

	if (t->quit || t->again)
		return 1;
	t->about.host = exeunt_host_name(t->x);
	if (r->type == EXEUNT_TYPE_EXIT) {
		if (t->options->batch)
			print_until(t, ns);
		if (t->speed > 0)
			wait_for(t, ns);
	}
	if (t->quit || t->again)
		return 1;
	top_take(t, r, r->type == EXEUNT_TYPE_STOP ? top_model_now(t->model) : ns);
	if (++t->unchecked >= UNCHECKED_MOST) {
		t->unchecked = 0;
		mono_ns = mono_now();
		if (mono_ns >= t->drawn_ns + KEYS_NS)
			look(t, mono_ns);
	}
	return 0;
}

/* What the file told so far is forgotten, with its losses: it tells them again. */
static int forget(struct top *t)
{
	struct top_model *m;

	if (!top_model_now(t->model))
		return 0;
	if (top_model_new(&m, 0) < 0)
		return -ENOMEM;
	top_model_free(t->model);
	t->model = m;
	return 0;
}

/* From the beginning. Returns an exit status. */
static int play(struct top *t)
{
	const struct options *o = t->options;
	struct exeunt_options options = { .size = sizeof(options),
					  .no_args = o->no_args,
					  .redact = o->redact,
					  .n_redact = o->n_redact,
					  .on_record = on_record,
					  .on_message = top_message,
					  .userdata = t };
	int r;

	exeunt_free(TAKE(t->x));
	t->again = t->at_end = false;
	t->begin_mono_ns = t->skipped_ns = t->next_print_ns = 0;
	if (forget(t) < 0 || exeunt_new(&t->x, &options) < 0) {
		cmd_error("cannot begin: not enough memory");
		return CMD_FAILED;
	}
	r = exeunt_replay(t->x, &o->replay, 1);
	if (!t->quit && !t->again && exeunt_stop(t->x) < 0)
		r = -1;
	t->at_end = !t->again;
	return r < 0 ? CMD_FAILED : CMD_DONE;
}

/* Nothing moves any more but what is asked for. */
static void stay(struct top *t)
{
	top_turn(t, mono_now());
	while (!t->quit && !t->again) {
		top_wait(t, -1, top_due(t));
		top_keys(t, mono_now());
		if (mono_now() >= top_due(t) && !t->quit && !t->again)
			top_turn(t, mono_now());
	}
}

int top_replay(struct top *t)
{
	int status;

	do {
		status = play(t);
		if (t->again)
			continue;
		if (!t->quit && status != CMD_DONE && !top_model_now(t->model)) {
			/* there is nothing to see; without a terminal it was told at once */
			if (t->curses)
				snprintf(t->failure, sizeof(t->failure), "%.250s", t->view.note);
			break;
		}
		if (!t->quit && t->curses)
			stay(t);
		else if (!t->quit)
			top_turn(t, mono_now());
	} while (t->again && !t->quit && t->x);
	return status;
}
