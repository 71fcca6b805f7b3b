/* SPDX-License-Identifier: MIT */
/* The names of what can be chosen, and choices as text. See top-view.h. */
#include "view/top-view.h"

static const struct {
	const char *word, *title;
} bys[TOP_BYS] = {
	[TOP_BY_COMM] = { "comm", "COMMAND" },	     [TOP_BY_EXE] = { "exe", "EXECUTABLE" },
	[TOP_BY_USER] = { "user", "USER" },	     [TOP_BY_LOGIN] = { "login", "LOGIN USER" },
	[TOP_BY_PARENT] = { "ppid", "PARENT" },	     [TOP_BY_UNIT] = { "unit", "UNIT OR CGROUP" },
	[TOP_BY_CONTAINER] = { "container", "CONTAINER" }, [TOP_BY_STATUS] = { "status", "STATUS" },
}, columns[TOP_COLUMNS] = {
	[TOP_COLUMN_EXITS] = { "exits", "EXITS" },
	[TOP_COLUMN_RATE] = { "rate", "RATE/S" },
	[TOP_COLUMN_FAILED] = { "failed", "FAILED" },
	[TOP_COLUMN_KILLED] = { "killed", "KILLED" },
	[TOP_COLUMN_CPU] = { "cpu", "CPU" },
	[TOP_COLUMN_SHARE] = { "share", "CPU%" },
	[TOP_COLUMN_MEAN] = { "mean", "MEAN" },
	[TOP_COLUMN_LONGEST] = { "longest", "LONGEST" },
	[TOP_COLUMN_RSS] = { "rss", "RSS" },
	[TOP_COLUMN_READ] = { "read", "READ" },
	[TOP_COLUMN_WRITTEN] = { "written", "WRITTEN" },
	[TOP_COLUMN_MAJOR] = { "majflt", "MAJFLT" },
	[TOP_COLUMN_DELAY] = { "delay", "DELAY" },
	[TOP_COLUMN_NAME] = { "name", "NAME" },
}, windows[TOP_WINDOWS] = {
	[TOP_10S] = { "10s", "last 10 s" },
	[TOP_1M] = { "1m", "last min" },
	[TOP_5M] = { "5m", "last 5 min" },
	[TOP_START] = { "start", "since start" },
};

const char *top_by_word(enum top_by by)
{
	return by < TOP_BYS ? bys[by].word : NULL;
}

const char *top_by_title(enum top_by by)
{
	return bys[by].title;
}

const char *top_column_word(enum top_column c)
{
	return c < TOP_COLUMNS ? columns[c].word : NULL;
}

const char *top_column_title(enum top_column c)
{
	return columns[c].title;
}

const char *top_window_word(enum top_window w)
{
	return w < TOP_WINDOWS ? windows[w].word : NULL;
}

const char *top_window_title(enum top_window w)
{
	return windows[w].title;
}

static int find_by(const char *value)
{
	/* as the field is called in filters */
	if (!strcmp(value, "parent"))
		return TOP_BY_PARENT;
	if (!strcmp(value, "cgroup"))
		return TOP_BY_UNIT;
	for (int i = 0; i < TOP_BYS; i++)
		if (!strcmp(bys[i].word, value))
			return i;
	return -EINVAL;
}

static int find_column(const char *value)
{
	for (int i = 0; i < TOP_COLUMNS; i++)
		if (!strcmp(columns[i].word, value))
			return i;
	return -EINVAL;
}

static int find_window(const char *value)
{
	for (int i = 0; i < TOP_WINDOWS; i++)
		if (!strcmp(windows[i].word, value))
			return i;
	return -EINVAL;
}

static int find_bool(const char *value)
{
	return !strcmp(value, "yes") ? 1 : !strcmp(value, "no") ? 0 : -EINVAL;
}

static int set_delay(struct top_view *v, const char *value)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !(seconds >= 0.1 && seconds <= 3600))
		return -EINVAL;
	v->delay_ns = (int64_t)(seconds * (double)NS_PER_SEC);
	return 0;
}

static int set_filter(struct top_view *v, const char *value)
{
	size_t len = strlen(value);

	if (len >= sizeof(v->filter))
		return -EINVAL;
	memcpy(v->filter, value, len + 1);
	return 0;
}

int top_view_set(struct top_view *v, const char *name, const char *value)
{
	int r;

	if (!strcmp(name, "delay"))
		return set_delay(v, value);
	if (!strcmp(name, "filter"))
		return set_filter(v, value);
	if (!strcmp(name, "by")) {
		r = find_by(value);
		v->by = r < 0 ? v->by : (enum top_by)r;
	} else if (!strcmp(name, "sort")) {
		r = find_column(value);
		v->sort = r < 0 ? v->sort : (enum top_column)r;
	} else if (!strcmp(name, "window")) {
		r = find_window(value);
		v->window = r < 0 ? v->window : (enum top_window)r;
	} else if (!strcmp(name, "reverse")) {
		r = find_bool(value);
		v->reverse = r < 0 ? v->reverse : r;
	} else if (!strcmp(name, "latest")) {
		r = find_bool(value);
		v->latest = r < 0 ? v->latest : r;
	} else {
		r = -EINVAL;
	}
	return MIN(r, 0);
}

int top_view_write(const struct top_view *v, char *buf, size_t size)
{
	return snprintf(
		buf, size,
		"# Written by exeunt top on the key W, and read when it starts.\n"
		"by = %s\nsort = %s\nreverse = %s\nwindow = %s\nlatest = %s\ndelay = %.1f\nfilter = %s\n",
		bys[v->by].word, columns[v->sort].word, v->reverse ? "yes" : "no",
		windows[v->window].word, v->latest ? "yes" : "no",
		(double)v->delay_ns / (double)NS_PER_SEC, v->filter);
}

/* Without the blanks around it. */
static char *trim(char *s)
{
	size_t len;

	s += strspn(s, " \t\r");
	len = strlen(s);
	while (len && strchr(" \t\r", s[len - 1]))
		s[--len] = '\0';
	return s;
}

int top_view_read(struct top_view *v, char *text)
{
	int n = 0;

	for (char *line = text, *next; line; line = next) {
		char *value;

		n++;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line = trim(line);
		if (!*line || *line == '#')
			continue;
		value = strchr(line, '=');
		if (!value)
			return n;
		*value++ = '\0';
		if (top_view_set(v, trim(line), trim(value)) < 0)
			return n;
	}
	return 0;
}
