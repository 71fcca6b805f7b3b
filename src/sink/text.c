/* SPDX-License-Identifier: MIT */
/* See text.h: the choice of columns, and how a line is put together. */
#include "sink/text-internal.h"

#include <time.h>

#include "record/fields.h"
#include "sink/output.h"

#define WIDTH_MIN 40
#define COMMAND_MIN \
	16 /* columns that other columns leave to the command; a short name has at most 15 */
#define USER_WIDE_FROM 132 /* from this width on, long user names fit */
#define USER_WIDTH 8
#define USER_WIDTH_WIDE 16
#define CGROUP_WIDTH 24

static const struct {
	const char *title;
	int width;
	bool left;
	int drop; /* the highest goes first; 0 stays */
} columns[COLUMN_COUNT] = {
	[COLUMN_TIME] = { "TIME", CLOCK_LEN, true, 1 },
	[COLUMN_PID] = { "PID", 7, false, 0 },
	[COLUMN_PPID] = { "PPID", 7, false, 6 },
	[COLUMN_USER] = { "USER", USER_WIDTH, true, 3 },
	[COLUMN_LOGIN] = { "LOGIN", USER_WIDTH, true, 4 },
	[COLUMN_STATUS] = { "STATUS", 12, true, 0 },
	[COLUMN_ELAPSED] = { "ELAPSED", 8, false, 2 },
	[COLUMN_CPU] = { "CPU", 8, false, 4 },
	[COLUMN_RSS] = { "RSS", 5, false, 5 },
	[COLUMN_READ] = { "READ", 5, false, 7 },
	[COLUMN_WRITTEN] = { "WRITTEN", 7, false, 8 },
	[COLUMN_CGROUP] = { "CGROUP", CGROUP_WIDTH, true, 9 },
	[COLUMN_COMMAND] = { "COMMAND", COMMAND_MIN, true, 0 },
};

static int column_width(const struct text *t, enum column c)
{
	if (c == COLUMN_USER || c == COLUMN_LOGIN)
		return t->user_width;
	return c == COLUMN_TIME && t->options.history ? DATE_LEN : columns[c].width;
}

static int total_width(const struct text *t)
{
	int total = -1;

	for (enum column c = 0; c < COLUMN_COUNT; c++) {
		if (t->shown[c])
			total += column_width(t, c) + 1;
	}
	return total;
}

static bool drop_one(struct text *t)
{
	enum column worst = COLUMN_PID;

	for (enum column c = 0; c < COLUMN_COUNT; c++) {
		if (t->shown[c] && columns[c].drop > columns[worst].drop)
			worst = c;
	}
	if (columns[worst].drop == 0)
		return false;
	t->shown[worst] = false;
	return true;
}

static void choose_columns(struct text *t)
{
	int width = t->options.width;

	memset(t->shown, true, sizeof(t->shown));
	t->shown[COLUMN_LOGIN] = t->shown[COLUMN_CGROUP] = t->options.history;
	t->user_width = width == 0 || width >= USER_WIDE_FROM ? USER_WIDTH_WIDE : USER_WIDTH;
	while (width > 0 && total_width(t) > width && drop_one(t))
		;
}

int text_new(struct text **ret, const struct text_options *options)
{
	struct text *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (options)
		t->options = *options;
	if (t->options.width < 0)
		t->options.width = 0;
	if (t->options.width > 0)
		t->options.width = MAX(t->options.width, WIDTH_MIN);
	t->minute = INT64_MIN;
	choose_columns(t);
	*ret = t;
	return 0;
}

void text_free(struct text *t)
{
	if (!t)
		return;
	free(t->line);
	free(t->command);
	free(t);
}

int text_room(char **buf, size_t *have, size_t size)
{
	char *grown;

	if (size <= *have)
		return 0;
	size += size / 2;
	grown = realloc(*buf, size);
	if (!grown)
		return -ENOMEM;
	*buf = grown;
	*have = size;
	return 0;
}

char *text_clock(struct text *t, char *p, int64_t ns)
{
	int64_t second = ns / NS_PER_SEC - (ns % NS_PER_SEC < 0);
	int64_t minute = second / 60 - (second % 60 < 0);
	unsigned int ms = (unsigned int)((ns - second * NS_PER_SEC) / NS_PER_MSEC);

	/* Offsets from UTC are whole minutes in all zones since 1972. */
	if (minute != t->minute) {
		time_t start = minute * 60;
		struct tm tm;
		char *q = t->hour_minute;

		if (t->options.utc)
			gmtime_r(&start, &tm);
		else
			localtime_r(&start, &tm);
		q = fmt_2(q, (unsigned int)tm.tm_hour);
		*q++ = ':';
		q = fmt_2(q, (unsigned int)tm.tm_min);
		*q = ':';
		/* years beyond 9999 are nonsense of a damaged file */
		if (!strftime(t->date, sizeof(t->date), "%Y-%m-%d ", &tm) || strlen(t->date) != 11)
			snprintf(t->date, sizeof(t->date), "%-11s", "?");
		t->minute = minute;
	}
	if (t->options.history)
		p = fmt_mem(p, t->date, 11);
	p = fmt_mem(p, t->hour_minute, 6);
	p = fmt_2(p, (unsigned int)(second - minute * 60));
	if (t->options.history)
		return p;
	*p++ = '.';
	*p++ = (char)('0' + ms / 100);
	return fmt_2(p, ms % 100);
}

/* Columns that are left in the line; what is pushed to the right by something too long ends there. */
static int room(const struct text *t, const struct line *l, int wanted)
{
	int left = MAX(t->options.width - l->column, 0);

	return t->options.width ? MIN(wanted, left) : wanted;
}

static void pad(const struct text *t, struct line *l, int n)
{
	n = room(t, l, n);
	if (n <= 0)
		return;
	memset(l->p, ' ', (size_t)n);
	l->p += n;
	l->column += n;
}

/* A short column of plain ASCII. */
static void put_cell(const struct text *t, struct line *l, enum column c, const char *s, int len)
{
	int blank = column_width(t, c) - len;

	if (!columns[c].left)
		pad(t, l, blank);
	len = room(t, l, len);
	l->p = fmt_mem(l->p, s, (size_t)len);
	l->column += len;
	if (columns[c].left)
		pad(t, l, blank);
}

static void put_status(struct text *t, struct line *l, const struct exeunt_record *r)
{
	const char *color = t->options.color ? text_status_color(r) : NULL;
	char cell[64];
	int len = (int)(text_cell(t, cell, COLUMN_STATUS, r) - cell);

	if (color) {
		l->p = FMT_LIT(l->p, "\x1b[");
		l->p = fmt_str(l->p, color);
		*l->p++ = 'm';
	}
	put_cell(t, l, COLUMN_STATUS, cell, len);
	if (color)
		l->p = FMT_LIT(l->p, "\x1b[0m");
}

/* What a user or a program named, as far as the column goes. */
static void put_bytes(const struct text *t, struct line *l, struct exeunt_bytes b, int width)
{
	int used;

	l->p = utf8_visible(l->p, b.data, b.len, t->options.width ? room(t, l, width) : -1, &used);
	l->column += used;
	pad(t, l, width - used);
}

/* The name if it is known, else the number. */
static void put_user(const struct text *t, struct line *l, const struct exeunt_record *r,
		     enum exeunt_field name, enum exeunt_field id)
{
	char number[32];
	struct exeunt_bytes user = { "-", 1 };

	if (exeunt_has(r, name)) {
		user = *(const struct exeunt_bytes *)field_ptr(r, name);
	} else if (exeunt_has(r, id) &&
		   *(const uint32_t *)field_ptr(r, id) != UINT32_MAX) { /* which is nobody */
		user.len =
			(uint32_t)(fmt_u32(number, *(const uint32_t *)field_ptr(r, id)) - number);
		user.data = number;
	}
	put_bytes(t, l, user, t->user_width);
}

/* The unit, or the end of the path, which says more than its beginning. */
static struct exeunt_bytes cgroup_of(const struct exeunt_record *r)
{
	struct exeunt_bytes b = { "-", 1 };
	const char *slash;

	if (exeunt_has(r, EXEUNT_F_UNIT))
		return r->unit;
	if (exeunt_has(r, EXEUNT_F_CGROUP))
		b = r->cgroup;
	slash = b.len > 1 ? memrchr(b.data, '/', b.len - 1) : NULL;
	if (slash) {
		b.len -= (uint32_t)(slash + 1 - b.data);
		b.data = slash + 1;
	}
	return b;
}

static void put_command(const struct text *t, struct line *l, size_t len)
{
	l->p = utf8_visible(l->p, t->command, len,
			    t->options.width ? room(t, l, t->options.width) : -1, NULL);
}

static void put_columns(struct text *t, struct line *l, const struct exeunt_record *r,
			size_t command)
{
	for (enum column c = 0; c < COLUMN_COMMAND; c++) {
		char cell[64];

		if (!t->shown[c])
			continue;
		if (c == COLUMN_STATUS)
			put_status(t, l, r);
		else if (c == COLUMN_USER)
			put_user(t, l, r, EXEUNT_F_USER, EXEUNT_F_UID);
		else if (c == COLUMN_LOGIN)
			put_user(t, l, r, EXEUNT_F_LOGIN_USER, EXEUNT_F_LOGIN_UID);
		else if (c == COLUMN_CGROUP)
			put_bytes(t, l, cgroup_of(r), CGROUP_WIDTH);
		else
			put_cell(t, l, c, cell, (int)(text_cell(t, cell, c, r) - cell));
		pad(t, l, 1);
	}
	put_command(t, l, command);
}

static ssize_t format_process(struct text *t, const struct exeunt_record *r)
{
	size_t width = (size_t)t->options.width;
	size_t max = width ? UTF8_VISIBLE_COLUMN_MAX * (width + 1) : SIZE_MAX;
	size_t names = (exeunt_has(r, EXEUNT_F_USER) ? r->user.len : 0) +
		       (exeunt_has(r, EXEUNT_F_LOGIN_USER) ? r->login_user.len : 0) +
		       cgroup_of(r).len;
	ssize_t command = text_command(t, r, max);
	struct line l = { 0 };

	if (command < 0)
		return command;
	if (text_room(&t->line, &t->line_size, LINE_ROOM + 4 * (names + (size_t)command)) < 0)
		return -ENOMEM;
	l.p = t->line;
	put_columns(t, &l, r, (size_t)command);
	*l.p++ = '\n';
	return l.p - t->line;
}

static ssize_t format_header(struct text *t)
{
	struct line l;

	if (text_room(&t->line, &t->line_size, LINE_ROOM) < 0)
		return -ENOMEM;
	l = (struct line){ .p = t->line };
	for (enum column c = 0; c < COLUMN_COMMAND; c++) {
		if (!t->shown[c])
			continue;
		put_cell(t, &l, c, columns[c].title, (int)strlen(columns[c].title));
		pad(t, &l, 1);
	}
	l.p = fmt_str(l.p, columns[COLUMN_COMMAND].title);
	*l.p++ = '\n';
	return l.p - t->line;
}

static ssize_t format_loss(struct text *t, const struct exeunt_record *r)
{
	char plain[LINE_ROOM];
	char *end = text_loss(t, plain, r->loss);
	char *p;

	if (text_room(&t->line, &t->line_size, 2 * LINE_ROOM) < 0)
		return -ENOMEM;
	p = t->line;
	if (t->options.color)
		p = FMT_LIT(p, "\x1b[1;33m");
	p = utf8_visible(p, plain, (size_t)(end - plain), t->options.width ? t->options.width : -1,
			 NULL);
	if (t->options.color)
		p = FMT_LIT(p, "\x1b[0m");
	*p++ = '\n';
	return p - t->line;
}

/* The line in t->line, without NUL. */
static ssize_t format(struct text *t, const struct exeunt_record *r)
{
	if (!r)
		return format_header(t);
	switch (r->type) {
	case EXEUNT_TYPE_EXIT:
	case EXEUNT_TYPE_THREAD:
	case EXEUNT_TYPE_AMEND:
	case EXEUNT_TYPE_INTERIM:
		return format_process(t, r);
	case EXEUNT_TYPE_LOSS:
		return r->loss ? format_loss(t, r) : 0;
	default:
		return 0;
	}
}

ssize_t text_format(struct text *t, const struct exeunt_record *r, const char **ret)
{
	ssize_t len = format(t, r);

	if (len < 0)
		return len;
	if (text_room(&t->line, &t->line_size, (size_t)len + 1) < 0)
		return -ENOMEM;
	t->line[len] = '\0';
	*ret = t->line;
	return len;
}

int text_write(struct text *t, const struct exeunt_record *r, struct output *o)
{
	ssize_t len = format(t, r);
	char *p;

	if (len <= 0)
		return (int)len;
	p = output_reserve(o, (size_t)len);
	if (!p)
		return 1;
	memcpy(p, t->line, (size_t)len);
	output_commit(o, (size_t)len);
	return 0;
}

int text_header(struct text *t, struct output *o)
{
	return text_write(t, NULL, o);
}
