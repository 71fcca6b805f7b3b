/* SPDX-License-Identifier: MIT */
/* Between model, screen, terminal and keyboard. See top.h. */
#include "cmd/cmd.h"

#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "cmd/top.h"

#define BATCH_WIDTH 512 /* as top has it */

/* A word alone is looked for in the command: who types that means it. */
static bool is_word(const char *text)
{
	return text[strspn(
		       text,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+/:@")] ==
	       '\0';
}

static int compile(struct top *t, const char *text, struct filter **ret)
{
	char expr[TOP_TEXT_MOST + 32];
	int r = filter_new(ret, text, t->filter_error, sizeof(t->filter_error));

	if (r < 0 && is_word(text)) {
		snprintf(expr, sizeof(expr), "comm ~ '%s'", text);
		r = filter_new(ret, expr, t->filter_error, sizeof(t->filter_error));
	}
	if (r >= 0)
		t->filter_error[0] = '\0';
	return r;
}

static bool judges_groups(const struct filter *f)
{
	uint64_t fields[EXEUNT_PRESENT_WORDS];

	filter_fields(f, fields);
	return top_key_has(fields);
}

/* One that asks for more than the groups know has to see each exit as it comes: everything is counted anew. */
static void judge_later(struct top *t, const char *text)
{
	if (!strcmp(t->filter_kept, text) && t->filter_later)
		return;
	t->filter_later = true;
	snprintf(t->filter_kept, sizeof(t->filter_kept), "%s", text);
	if (t->replay && strcmp(t->options->replay, "-") != 0)
		t->again = true;
	else
		top_reset(t);
}

static void judge_groups(struct top *t)
{
	if (!t->filter_later)
		return;
	t->filter_later = false;
	t->filter_kept[0] = '\0';
	if (t->replay && strcmp(t->options->replay, "-") != 0)
		t->again = true;
	else
		top_reset(t);
}

void top_filter_changed(struct top *t)
{
	bool typing = t->view.input == TOP_INPUT_FILTER;
	const char *text = typing ? t->view.input_text : t->view.filter;
	struct filter *f = NULL;

	t->filter_error[0] = '\0';
	if (*text && compile(t, text, &f) < 0) {
		t->filter_error[strcspn(t->filter_error, "\n")] = '\0';
		if (!typing) {
			snprintf(t->view.note, sizeof(t->view.note), "%.300s", t->filter_error);
			t->view.filter[0] = '\0';
			filter_free(TAKE(t->filter));
			judge_groups(t);
		}
		return;
	}
	/* while it is typed nothing is counted anew */
	if (typing && (t->filter_later || (f && !judges_groups(f)))) {
		filter_free(f);
		return;
	}
	filter_free(t->filter);
	t->filter = f;
	if (f && !judges_groups(f))
		judge_later(t, text);
	else
		judge_groups(t);
}

void top_reset(struct top *t)
{
	struct top_model *m;

	if (top_model_again(&m, t->model) < 0)
		return;
	top_model_free(t->model);
	t->model = m;
	top_model_hold(m, top_view_holds(&t->view));
}

static bool is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static const char *parent_name(int32_t pid, void *userdata)
{
	static char name[64];
	struct top *t = userdata;
	_cleanup_fd_
	int fd = -1;
	ssize_t n;

	if (t->replay)
		return NULL;
	snprintf(name, sizeof(name), "/proc/%d/comm", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (n <= 0)
		return NULL;
	name[n - (name[n - 1] == '\n')] = '\0';
	return name;
}

int top_begin(struct top *t, const struct options *o)
{
	t->options = o;
	t->signal_fd = -1;
	t->about = (struct top_about){
		.host = "", .utc = o->utc, .parent_name = parent_name, .userdata = t
	};
	if (top_model_new(&t->model, 0) < 0 || top_screen_new(&t->screen) < 0) {
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	if (t->view.filter[0]) {
		struct filter *f;

		if (compile(t, t->view.filter, &f) < 0) {
			fprintf(stderr, "exeunt: %s\n", t->filter_error);
			return CMD_USAGE;
		}
		t->filter = f;
		t->filter_later = !judges_groups(f);
		snprintf(t->filter_kept, sizeof(t->filter_kept), "%s", t->view.filter);
	}
	t->screen->utf8 = is_utf8();
	return -1;
}

void top_end(struct top *t)
{
	top_curses_close(t->curses);
	exeunt_free(t->x);
	filter_free(t->filter);
	top_table_clear(&t->table);
	top_screen_free(t->screen);
	top_model_free(t->model);
	close_fd(t->signal_fd);
}

static bool want_color(const struct options *o)
{
	const char *no_color = getenv("NO_COLOR");

	if (o->color != COLOR_AUTO)
		return o->color == COLOR_ALWAYS;
	return !(no_color && *no_color);
}

int top_take_terminal(struct top *t)
{
	const char *columns = getenv("COLUMNS");
	int r, width = columns ? atoi(columns) : 0;

	if (t->options->batch) {
		top_screen_size(t->screen, width >= 40 ? MIN(width, 4096) : BATCH_WIDTH, 0,
				t->options->utc);
		return -1;
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cmd_usage_error("top ", "this needs a terminal; -b is for files and pipes");
	r = top_curses_open(&t->curses, want_color(t->options));
	if (r >= 0)
		return -1;
	cmd_error("cannot use this terminal: %s",
		  r == -ENOMEM ? "not enough memory" : "TERM names none that can show a screen");
	return CMD_FAILED;
}

static void print(struct top *t)
{
	for (int i = 0; i < t->screen->n; i++) {
		const struct top_line *l = &t->screen->lines[i];
		size_t len = l->text.len;

		while (len && l->text.data[len - 1] == ' ')
			len--;
		printf("%.*s\n", (int)len, len ? l->text.data : "");
	}
	putchar('\n');
	if (fflush(stdout) || ferror(stdout))
		t->quit = true; /* main() tells */
	t->printed++;
	if (t->options->iterations && t->printed >= t->options->iterations)
		t->quit = true;
}

static void draw(struct top *t)
{
	int width, height;

	t->about.filter_error = t->filter_error[0] ? t->filter_error : NULL;
	t->about.filter_later = t->filter_later;
	t->about.ended = t->at_end;
	if (t->replay)
		t->about.real_ns = top_model_now(t->model);
	else
		t->about.real_ns = real_now();
	if (t->curses) {
		top_curses_size(t->curses, &width, &height);
		top_screen_size(t->screen, width, height, t->options->utc);
	}
	top_model_hold(t->model, top_view_holds(&t->view));
	top_screen_draw(t->screen, &t->view, &t->table, t->model, &t->about,
			t->filter_later ? NULL : t->filter);
	if (t->curses)
		top_curses_show(t->curses, t->screen);
	else
		print(t);
}

static void make_table(struct top *t)
{
	const struct top_choice c = {
		.by = t->view.by,
		.window = t->view.window,
		.sort = t->view.sort,
		.reverse = t->view.reverse,
		.filter = t->filter_later ? NULL : t->filter,
	};

	top_table_make(&t->table, t->model, &c);
}

void top_turn(struct top *t, int64_t mono_ns)
{
	if (!t->view.frozen)
		make_table(t);
	t->drawn_ns = mono_ns;
	draw(t);
	if (t->options->iterations && t->curses && ++t->printed >= t->options->iterations)
		t->quit = true;
}

static void act(struct top *t, enum top_action action)
{
	switch (action) {
	case TOP_ACTION_TABLE:
		make_table(t);
		break;
	case TOP_ACTION_SORT:
		top_table_sort(&t->table, t->view.sort, t->view.reverse);
		break;
	case TOP_ACTION_FILTER:
		top_filter_changed(t);
		make_table(t);
		break;
	case TOP_ACTION_RESET:
		top_reset(t);
		make_table(t);
		break;
	case TOP_ACTION_SAVE:
		top_file_write(&t->view);
		break;
	case TOP_ACTION_REDRAW:
		top_curses_spoiled(t->curses);
		break;
	case TOP_ACTION_QUIT:
		t->quit = true;
		break;
	case TOP_ACTION_NONE:
		break;
	}
}

void top_keys(struct top *t, int64_t mono_ns)
{
	int key;

	(void)mono_ns;
	while (t->curses && !t->quit && (key = top_curses_key(t->curses)) >= 0) {
		act(t, top_view_press(&t->view, key, &t->table, t->screen->ids));
		t->stale = true;
		/* the next key may be about what this one brought */
		if (t->view.page != TOP_PAGE_TABLE)
			draw(t);
	}
	if (t->stale && !t->quit)
		draw(t);
	t->stale = false;
}

void top_signals(struct top *t)
{
	struct signalfd_siginfo info;

	while (read(t->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			t->stale = true;
		else
			t->quit = true;
	}
}

int64_t top_due(const struct top *t)
{
	return t->drawn_ns + t->view.delay_ns;
}

bool top_wait(struct top *t, int fd, int64_t until_mono_ns)
{
	struct pollfd p[3] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = t->signal_fd, .events = POLLIN },
		{ .fd = t->curses ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int64_t left = MAX(until_mono_ns - mono_now(), (int64_t)0);

	if (poll(p, ARRAY_SIZE(p), (int)MIN((left + NS_PER_MSEC - 1) / NS_PER_MSEC, 60000)) <= 0)
		return false;
	if (p[1].revents)
		top_signals(t);
	if (p[2].revents & (POLLHUP | POLLERR | POLLNVAL))
		t->quit = true; /* the terminal is gone */
	return p[0].revents;
}

void top_take(struct top *t, const struct exeunt_record *r, int64_t now_ns)
{
	bool counted = !t->filter_later || !t->filter || filter_match(t->filter, r);

	top_model_take(t->model, r, now_ns, counted);
}

void top_message(int level, const char *text, void *userdata)
{
	struct top *t = userdata;

	if (t->curses)
		snprintf(t->view.note, sizeof(t->view.note), "%.*s", (int)sizeof(t->view.note) - 1,
			 text);
	else if (level <= 3 || !t->options->quiet)
		cmd_error("%s", text);
}
