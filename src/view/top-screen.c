/* SPDX-License-Identifier: MIT */
/* Lines, and which part of the screen is for what. See top-screen.h. */
#include "view/top-screen.h"

#include <stdarg.h>

#include "base/utf8.h"

#define LATEST_LINES 6 /* of the pane, with its title */

int top_screen_new(struct top_screen **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void top_screen_free(struct top_screen *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->room; i++)
		free(s->lines[i].text.data);
	free(s->lines);
	free(s->exits);
	free(s->ids);
	text_free(s->text);
	free(s);
}

int top_screen_size(struct top_screen *s, int width, int height, bool utc)
{
	const struct text_options o = { .width = MAX(width, 40), .utc = utc };
	struct text *text;

	s->width = width;
	s->height = height;
	if (s->text && s->text_width == width)
		return 0;
	if (text_new(&text, &o) < 0)
		return -ENOMEM;
	text_free(s->text);
	s->text = text;
	s->text_width = width;
	return 0;
}

/* There is always one: without memory the last one is used again. */
struct top_line *top_screen_line(struct top_screen *s, enum top_style style)
{
	static struct top_line nowhere;
	struct top_line *l;

	if (s->n == s->room) {
		int room = s->room ? 2 * s->room : 64;
		struct top_line *lines = reallocarray(s->lines, (size_t)room, sizeof(*lines));

		if (!lines) {
			nowhere.columns = s->width; /* full */
			nowhere.n_spans = 0;
			return &nowhere;
		}
		memset(lines + s->room, 0, (size_t)(room - s->room) * sizeof(*lines));
		s->lines = lines;
		s->room = room;
	}
	l = &s->lines[s->n++];
	l->text.len = 0;
	l->columns = 0;
	l->n_spans = 0;
	l->style = style;
	return l;
}

static void mark(struct top_line *l, size_t from, enum top_style style)
{
	if (style != l->style && l->n_spans < TOP_SPANS && from < l->text.len)
		l->spans[l->n_spans++] =
			(struct top_span){ (uint32_t)from, (uint32_t)l->text.len, style };
}

void top_put_raw(struct top_screen *s, struct top_line *l, enum top_style style, const char *data,
		 size_t len, int columns, bool pad)
{
	size_t from = l->text.len;
	int room = MIN(columns, s->width - l->columns), used;

	if (room <= 0)
		return;
	used = text_field_raw(&l->text, data, len, room);
	if (used < 0)
		return;
	l->columns += used;
	if (pad && text_buffer_room(&l->text, (size_t)(room - used)) >= 0) {
		memset(l->text.data + l->text.len, ' ', (size_t)(room - used));
		l->text.len += (size_t)(room - used);
		l->columns += room - used;
	}
	mark(l, from, style);
}

/* Plain ASCII of our own, cut at the edge. */
void top_put(struct top_screen *s, struct top_line *l, enum top_style style, const char *format,
	     ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = MIN(n, (int)sizeof(text) - 1);
	top_put_columns(s, l, style, text, n);
}

void top_put_columns(struct top_screen *s, struct top_line *l, enum top_style style,
		     const char *text, int columns)
{
	size_t from = l->text.len, len = strlen(text);

	if (columns > s->width - l->columns) {
		if ((int)len != columns) /* not to be cut */
			return;
		columns = MAX(s->width - l->columns, 0);
		len = (size_t)columns;
	}
	if (text_buffer_room(&l->text, len) < 0)
		return;
	memcpy(l->text.data + l->text.len, text, len);
	l->text.len += len;
	l->columns += columns;
	mark(l, from, style);
}

static void draw_last(struct top_screen *s, const struct top_view *v, const struct top_about *about)
{
	struct top_line *l = top_screen_line(s, TOP_STYLE_PLAIN);

	if (v->input == TOP_INPUT_NONE && v->note[0]) {
		top_put_raw(s, l, TOP_STYLE_STRONG, v->note, strlen(v->note), s->width, false);
	} else if (v->input == TOP_INPUT_NONE) {
		top_put(s, l, TOP_STYLE_QUIET,
			"? help  q quit  1-8 group  <> sort  R reverse  w window  / filter  Enter open");
	} else {
		int room = s->width - 10;
		size_t len = strlen(v->input_text), skip = 0;

		/* its end is what is typed at */
		while ((int)(len - skip) > room)
			skip++;
		while (skip < len && ((unsigned char)v->input_text[skip] & 0xc0) == 0x80)
			skip++;
		top_put(s, l, TOP_STYLE_STRONG, "%s",
			v->input == TOP_INPUT_FILTER ? "filter: " : "seconds: ");
		top_put_raw(s, l, TOP_STYLE_PLAIN, v->input_text + skip, len - skip, room, false);
		top_put(s, l, TOP_STYLE_STRONG, "_");
		if (!about->filter_error)
			return;
		top_put(s, l, TOP_STYLE_PLAIN, "  ");
		top_put_raw(s, l, TOP_STYLE_FAILED, about->filter_error,
			    strlen(about->filter_error), s->width, false);
	}
}

/* The cursor is always among what is seen. */
static void scroll(size_t *at, size_t *cursor, size_t n, size_t rows)
{
	*cursor = MIN(*cursor, n ? n - 1 : 0);
	if (*cursor < *at)
		*at = *cursor;
	if (rows && *cursor >= *at + rows)
		*at = *cursor - rows + 1;
	if (*at + rows > n)
		*at = n > rows ? n - rows : 0;
}

static void draw_table(struct top_screen *s, struct top_view *v, const struct top_table *t,
		       struct top_model *m, const struct top_about *about,
		       const struct filter *filter, int rows)
{
	int latest = v->latest ? LATEST_LINES + MAX(rows - 30, 0) / 4 : 0, body;

	if (s->height == 0) {
		top_draw_titles(s, v);
		top_draw_rows(s, v, t, about, t->n);
		return;
	}
	body = MAX(rows - latest - 1, 1);
	scroll(&v->scroll, &v->cursor, t->n, (size_t)body);
	v->page_rows = (size_t)body;
	top_draw_titles(s, v);
	top_draw_rows(s, v, t, about, (size_t)body);
	while (s->n < s->height - 1 - latest)
		top_screen_line(s, TOP_STYLE_PLAIN);
	if (latest)
		top_draw_latest(s, m, filter, latest - 1);
}

void top_screen_draw(struct top_screen *s, struct top_view *v, const struct top_table *t,
		     struct top_model *m, const struct top_about *about,
		     const struct filter *filter)
{
	int rows;

	s->n = 0;
	top_draw_head(s, v, t, m, about);
	rows = MAX(s->height - s->n - 1, 1);
	switch (v->page) {
	case TOP_PAGE_TABLE:
		draw_table(s, v, t, m, about, filter, rows);
		break;
	case TOP_PAGE_GROUP:
		top_draw_group(s, v, m, filter, rows);
		break;
	case TOP_PAGE_EXIT:
		top_draw_exit(s, v, m, rows, about->utc);
		break;
	case TOP_PAGE_HELP:
		top_draw_help(s, v, rows);
		break;
	}
	if (s->height == 0)
		return;
	while (s->n < s->height - 1)
		top_screen_line(s, TOP_STYLE_PLAIN);
	s->n = MIN(s->n, s->height - 1);
	draw_last(s, v, about);
}
