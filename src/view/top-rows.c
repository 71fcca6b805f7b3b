/* SPDX-License-Identifier: MIT */
/* The table: which columns fit, and what is in them. See top-screen.h. */
#include "view/top-screen.h"

#include <exeunt/exeunt.h>

#include "base/format.h"

#define NAME_LEAST 16

/* With the blank before it. */
static const uint8_t widths[TOP_COLUMN_NAME] = {
	[TOP_COLUMN_EXITS] = 8,	 [TOP_COLUMN_RATE] = 8,	   [TOP_COLUMN_FAILED] = 8,
	[TOP_COLUMN_KILLED] = 8, [TOP_COLUMN_CPU] = 10,	   [TOP_COLUMN_SHARE] = 6,
	[TOP_COLUMN_MEAN] = 9,	 [TOP_COLUMN_LONGEST] = 9, [TOP_COLUMN_RSS] = 7,
	[TOP_COLUMN_READ] = 7,	 [TOP_COLUMN_WRITTEN] = 9, [TOP_COLUMN_MAJOR] = 8,
	[TOP_COLUMN_DELAY] = 9,
};

/* Where not all fit, those come first. */
static const uint8_t order[TOP_COLUMN_NAME] = {
	TOP_COLUMN_EXITS, TOP_COLUMN_CPU,     TOP_COLUMN_FAILED,  TOP_COLUMN_KILLED,
	TOP_COLUMN_SHARE, TOP_COLUMN_MEAN,    TOP_COLUMN_RSS,	  TOP_COLUMN_RATE,
	TOP_COLUMN_READ,  TOP_COLUMN_WRITTEN, TOP_COLUMN_LONGEST, TOP_COLUMN_DELAY,
	TOP_COLUMN_MAJOR,
};

/* A mask. The one that is sorted by is always seen. */
static unsigned int fitting(const struct top_screen *s, enum top_column sort)
{
	int room = s->width - NAME_LEAST;
	unsigned int shown = 0;

	if (sort < TOP_COLUMN_NAME) {
		shown = 1u << sort;
		room -= widths[sort];
	}
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (shown & 1u << order[i])
			continue;
		room -= widths[order[i]];
		if (room < 0)
			break;
		shown |= 1u << order[i];
	}
	return shown;
}

void top_draw_titles(struct top_screen *s, const struct top_view *v)
{
	struct top_line *l = top_screen_line(s, TOP_STYLE_TITLE);
	unsigned int shown = fitting(s, v->sort);
	const char *star = v->reverse ? "^" : "*";

	for (int c = 0; c < TOP_COLUMN_NAME; c++) {
		char title[16];

		if (!(shown & 1u << c))
			continue;
		snprintf(title, sizeof(title), "%s%s", (int)v->sort == c ? star : "",
			 top_column_title((enum top_column)c));
		top_put(s, l, TOP_STYLE_TITLE, "%*s", widths[c], title);
	}
	top_put(s, l, TOP_STYLE_TITLE, " %s%s", v->sort == TOP_COLUMN_NAME ? star : "",
		top_by_title(v->by));
	top_put(s, l, TOP_STYLE_TITLE, "%*s", s->width - l->columns, "");
}

static char *put_count(char *p, double value)
{
	static const char units[] = "kMGTPE";
	const char *unit = units;

	if (value < 9999999.5)
		return p + sprintf(p, "%.0f", value);
	for (value /= 1000; value >= 99999.5 && unit[1]; value /= 1000)
		unit++;
	return p + sprintf(p, "%.0f%c", value, *unit);
}

static uint64_t whole(double value)
{
	return value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* The unknown count that belongs to a column, or -1. */
static int unknown_of(enum top_column c)
{
	static const int8_t of[TOP_COLUMN_NAME] = {
		[TOP_COLUMN_EXITS] = -1,
		[TOP_COLUMN_RATE] = -1,
		[TOP_COLUMN_FAILED] = TOP_FAILED,
		[TOP_COLUMN_KILLED] = TOP_KILLED,
		[TOP_COLUMN_CPU] = TOP_CPU,
		[TOP_COLUMN_SHARE] = -1,
		[TOP_COLUMN_MEAN] = -1,
		[TOP_COLUMN_READ] = TOP_READ,
		[TOP_COLUMN_WRITTEN] = TOP_WRITTEN,
		[TOP_COLUMN_MAJOR] = TOP_MAJOR,
		[TOP_COLUMN_DELAY] = TOP_DELAY,
		[TOP_COLUMN_LONGEST] = TOP_VALUES + TOP_LONGEST,
		[TOP_COLUMN_RSS] = TOP_VALUES + TOP_RSS,
	};

	return of[c];
}

static char *put_share(char *p, double part, double all)
{
	return all > 0 ? p + sprintf(p, "%.1f", 100 * part / all) : FMT_LIT(p, "-");
}

/* 64 bytes are enough. */
static void cell(char *p, const struct top_sums *sums, enum top_column c, const struct top_table *t)
{
	double value = top_column_value(sums, c);
	int unknown = unknown_of(c);

	if (value < 0) {
		memcpy(p, "-", 2);
		return;
	}
	if (unknown >= 0 && sums->unknown[unknown])
		*p++ = '>'; /* some did not tell: at least so much */
	switch (c) {
	case TOP_COLUMN_RATE:
		if (t->seconds > 0)
			p += sprintf(p, value / t->seconds < 100 ? "%.1f" : "%.0f",
				     value / t->seconds);
		else
			*p++ = '-';
		break;
	case TOP_COLUMN_SHARE:
		p = put_share(p, value, top_column_value(&t->total, TOP_COLUMN_CPU));
		break;
	case TOP_COLUMN_CPU:
	case TOP_COLUMN_MEAN:
	case TOP_COLUMN_LONGEST:
	case TOP_COLUMN_DELAY:
		p = fmt_duration_us(p, whole(value));
		break;
	case TOP_COLUMN_RSS:
	case TOP_COLUMN_READ:
	case TOP_COLUMN_WRITTEN:
		p = fmt_bytes(p, whole(value));
		break;
	default:
		p = put_count(p, value);
	}
	*p = '\0';
}

static enum top_style style_of(enum top_column c, double value, enum top_style style)
{
	if (style != TOP_STYLE_PLAIN || value < 0.5)
		return style;
	if (c == TOP_COLUMN_KILLED)
		return TOP_STYLE_BAD;
	return c == TOP_COLUMN_FAILED ? TOP_STYLE_FAILED : style;
}

static void put_status(struct top_screen *s, struct top_line *l, enum top_style style,
		       const struct exeunt_record *r)
{
	const char *name;

	if (!exeunt_has(r, EXEUNT_F_EXIT_SIGNAL)) {
		top_put(s, l, style, "%u", r->exit_code);
		return;
	}
	name = exeunt_signal_name(r->exit_signal);
	if (name)
		top_put(s, l, style, "%s", name);
	else
		top_put(s, l, style, "signal %u", r->exit_signal);
	if (exeunt_has(r, EXEUNT_F_EXIT_CORE_DUMPED) && r->exit_core_dumped)
		top_put(s, l, style, "+core");
}

void top_row_name(struct top_screen *s, struct top_line *l, enum top_style style,
		  const struct top_row *row, const struct top_table *t,
		  const struct top_about *about)
{
	struct exeunt_record r;
	enum exeunt_field field;
	const char *name;

	if (row->others) {
		top_put(s, l, style, "(others: %llu groups)", (unsigned long long)t->given_up);
		return;
	}
	top_key_record(row->key, row->key_len, &r);
	field = top_key_field(&r, t->choice.by);
	if (field == EXEUNT_F_COUNT) {
		top_put(s, l, style, "-");
	} else if (field == EXEUNT_F_EXIT_STATUS) {
		put_status(s, l, style, &r);
	} else if (field == EXEUNT_F_PARENT_PID) {
		top_put(s, l, style, "%d", r.parent_pid);
		name = about->parent_name ? about->parent_name(r.parent_pid, about->userdata)
					  : NULL;
		if (name) {
			top_put(s, l, style, " ");
			top_put_raw(s, l, style, name, strlen(name), s->width, false);
		}
	} else if (row->part.len && field != EXEUNT_F_UID && field != EXEUNT_F_LOGIN_UID) {
		top_put_raw(s, l, style, row->part.data, row->part.len, s->width, false);
	} else if (field == EXEUNT_F_UID || field == EXEUNT_F_LOGIN_UID) {
		top_put(s, l, style, "%u", field == EXEUNT_F_UID ? r.uid : r.login_uid);
	} else {
		top_put(s, l, style, "\"\"");
	}
}

void top_draw_rows(struct top_screen *s, const struct top_view *v, const struct top_table *t,
		   const struct top_about *about, size_t rows)
{
	unsigned int shown = fitting(s, v->sort);

	for (size_t i = v->scroll; i < t->n && i < v->scroll + rows; i++) {
		const struct top_row *row = &t->rows[i];
		bool here = s->height && i == v->cursor;
		enum top_style style = here ? TOP_STYLE_CURSOR : TOP_STYLE_PLAIN;
		struct top_line *l = top_screen_line(s, style);

		for (int c = 0; c < TOP_COLUMN_NAME; c++) {
			char text[64];

			if (!(shown & 1u << c))
				continue;
			cell(text, &row->sums, (enum top_column)c, t);
			top_put(s, l,
				style_of((enum top_column)c,
					 top_column_value(&row->sums, (enum top_column)c), style),
				" %*s", widths[c] - 1, text);
		}
		top_put(s, l, style, " ");
		top_row_name(s, l, style, row, t, about);
		if (here)
			top_put(s, l, style, "%*s", s->width - l->columns, "");
	}
}
