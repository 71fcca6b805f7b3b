/* SPDX-License-Identifier: MIT */
/*
 * exeunt top: what ends on this host, on a full screen: how much, by what, and what it cost. Attaches to a running daemon, or
 * opens the sources, gives up all privileges, and draws until q. --replay plays a file instead, -b prints the same text.
 */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/attach.h"
#include "cmd/listen.h"
#include "cmd/top.h"

static const char usage[] =
	"Usage: exeunt top [OPTION]...\n"
	"Watch the processes of this host end: a table of what ends most, and what it cost.\n"
	"Press ? for the keys. Shows what a running daemon collects, if one lets it; else it needs root,\n"
	"but not for --replay, and gives all privileges up before it reads.\n";

static int on_record(const struct exeunt_record *r, void *userdata)
{
	struct top *t = userdata;

	top_take(t, r, t->record_mono_ns);
	return 0;
}

static uint32_t open_sources(const struct exeunt *x)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);
	uint32_t mask = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].state == EXEUNT_STATE_OPEN)
			mask |= EXEUNT_SOURCE_BIT(s[i].source);
	return mask;
}

static int take_input(struct top *t)
{
	int r = exeunt_dispatch(t->x);

	top_model_set_sources(t->model, open_sources(t->x));
	return r < 0 && !open_sources(t->x) ? r : 0;
}

/* Keys come first: what waits in the sockets can wait longer than a person. */
static int run(struct top *t)
{
	int64_t until_ns =
		t->options->duration_ns ? mono_now() + t->options->duration_ns : INT64_MAX;

	t->record_mono_ns = mono_now();
	if (t->curses)
		top_turn(t, t->record_mono_ns);
	else
		t->drawn_ns = t->record_mono_ns;
	while (!t->quit && mono_now() < until_ns) {
		bool readable = top_wait(t, t->source_fd, MIN(top_due(t), until_ns));

		t->record_mono_ns = mono_now();
		top_keys(t, t->record_mono_ns);
		if (readable && t->take_input(t) < 0) {
			snprintf(t->failure, sizeof(t->failure), "%s", exeunt_error(t->x));
			return CMD_FAILED;
		}
		top_model_advance(t->model, t->record_mono_ns);
		if (t->record_mono_ns >= top_due(t))
			top_turn(t, t->record_mono_ns);
	}
	return CMD_DONE;
}

int top_run(struct top *t)
{
	int status;

	t->about.cores = (unsigned int)MAX(sysconf(_SC_NPROCESSORS_ONLN), 0L);
	status = top_take_terminal(t);
	return status < 0 ? run(t) : status;
}

static int listen_here(struct top *t)
{
	const struct options *o = t->options;
	int status = listen_open(&t->x, o, on_record, top_message, t, -1), r;

	if (status >= 0)
		return status;
	t->record_mono_ns = mono_now();
	r = exeunt_start(t->x);
	if (r < 0) {
		listen_explain(t->x);
		return r == -ETIME || r == -EPERM ? CMD_NOT_PERMITTED : CMD_FAILED;
	}
	t->about.host = exeunt_host_name(t->x);
	t->source_fd = exeunt_fd(t->x);
	t->take_input = take_input;
	return top_run(t);
}

/* What a daemon collects, if there is one that lets us; else sources of our own. */
static int live(struct top *t)
{
	int status = CMD_FAILED, fd = attach_connect(t->options, &status);

	if (fd >= 0)
		return top_attached(t, fd);
	return fd == -1 ? listen_here(t) : status;
}

static int take_speed(struct top *t, const char *text)
{
	char *end;

	if (!text || !strcmp(text, "max"))
		return -1;
	t->speed = strtod(text, &end);
	if (end == text || *end || !(t->speed > 0 && t->speed <= 1e6))
		return cmd_usage_error("top ", "--speed=%s: expected a number above 0, or max",
				       text);
	return -1;
}

static int take_choice(struct top *t, const char *name, const char *value, const char *expected)
{
	if (!value || top_view_set(&t->view, name, value) >= 0)
		return -1;
	return cmd_usage_error("top ", "--%s=%s: expected %s", name, value, expected);
}

static int take_choices(struct top *t, const struct options *o)
{
	int status = take_choice(t, "by", o->by,
				 "comm, exe, user, login, ppid, unit, container or status");

	if (status < 0)
		status = take_choice(
			t, "sort", o->sort,
			"exits, rate, failed, killed, cpu, share, mean, longest, rss, read, written, majflt, delay or name");
	if (status < 0)
		status = take_choice(t, "window", o->window, "10s, 1m, 5m or start");
	if (status < 0)
		status = take_choice(t, "delay", o->delay, "seconds, from 0.1 to 3600");
	if (status < 0)
		status = take_choice(t, "filter", o->filter, "no more than 399 bytes");
	if (status < 0)
		status = take_speed(t, o->speed);
	if (status < 0 && o->speed && !o->replay)
		status = cmd_usage_error("top ", "--speed goes with --replay");
	return status;
}

int cmd_top(int argc, char **argv)
{
	static struct top t; /* large, and there is one */
	struct options o;
	int status = options_parse(&o, argc, argv, "top",
				   OPTIONS_LISTEN | OPTIONS_ATTACH | OPTIONS_TOP, usage);

	if (status >= 0)
		return status;
	if (o.first_operand < argc)
		return cmd_usage_error("top ", "unexpected operand '%s'", argv[o.first_operand]);
	top_view_init(&t.view);
	top_file_read(&t.view);
	t.replay = o.replay != NULL;
	status = take_choices(&t, &o);
	if (status < 0)
		status = top_begin(&t, &o);
	if (status < 0) {
		t.signal_fd = listen_signals();
		status = t.signal_fd < 0 ? CMD_FAILED : -1;
	}
	if (status < 0 && o.replay)
		status = top_take_terminal(&t);
	if (status < 0)
		status = o.replay ? top_replay(&t) : live(&t);
	top_end(&t);
	if (t.failure[0])
		cmd_error("%s", t.failure);
	return status;
}
