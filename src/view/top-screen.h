/* SPDX-License-Identifier: MIT */
/*
 * The screen of `exeunt top` as lines of text with styles. Owns the lines. Pure: the caller has set LC_CTYPE. Nothing that a
 * process named can act on the terminal, see utf8_visible(); no line is wider than the screen.
 */
#ifndef VIEW_TOP_SCREEN_H
#define VIEW_TOP_SCREEN_H

#include "sink/text-field.h"
#include "sink/text.h"
#include "view/top-view.h"

#define TOP_WIDTH_LEAST 80
#define TOP_HEIGHT_LEAST 24

enum top_style {
	TOP_STYLE_PLAIN,
	TOP_STYLE_STRONG,
	TOP_STYLE_TITLE, /* of a table */
	TOP_STYLE_CURSOR,
	TOP_STYLE_BAD,	  /* red: loss, kills */
	TOP_STYLE_FAILED, /* yellow */
	TOP_STYLE_QUIET,
};

struct top_span {
	uint32_t from, to; /* bytes of the text */
	enum top_style style;
};

#define TOP_SPANS 12

struct top_line {
	struct text_buffer text; /* no newline */
	int columns;
	enum top_style style; /* of what has no span, and of the rest of the line */
	struct top_span spans[TOP_SPANS];
	unsigned int n_spans;
};

/* What is told besides the model; strings are borrowed. */
struct top_about {
	const char *host;
	int64_t real_ns;    /* the time that is shown; 0: none */
	unsigned int cores; /* 0: not known */
	const char
		*source_note; /* what stands behind the sources: where they are read from; NULL */
	const char *filter_error; /* of what is typed; NULL: none */
	bool filter_later;	  /* the filter holds for what ends from its time on */
	bool ended;		  /* nothing more comes */
	bool utc;
	const char *(*parent_name)(int32_t pid, void *userdata); /* NULL, or may return NULL */
	void *userdata;
};

struct top_screen {
	int width, height; /* height 0: no end, for a file; nothing is pinned to the bottom */
	bool utf8;
	struct top_line *lines;
	int n, room;
	struct text *text; /* makes lines of exits */
	int text_width;
	/* of the exits that are on the screen */
	const struct top_exit **exits;
	uint64_t *ids;
	size_t n_exits;
};

/* Errors: -ENOMEM. */
int top_screen_new(struct top_screen **ret);
void top_screen_free(struct top_screen *s);

/* The size from here on. Errors: -ENOMEM. */
int top_screen_size(struct top_screen *s, int width, int height, bool utc);

/*
 * Makes all lines anew. Sets of `v` what was drawn, and keeps cursors within it. Without memory some text is missing.
 * `filter` says which exits are listed; NULL: all.
 */
void top_screen_draw(struct top_screen *s, struct top_view *v, const struct top_table *t,
		     struct top_model *m, const struct top_about *about,
		     const struct filter *filter);

/* The pieces, for the files that draw pages. */
struct top_line *top_screen_line(struct top_screen *s, enum top_style style);
void top_put(struct top_screen *s, struct top_line *l, enum top_style style, const char *format,
	     ...) PRINTF(4, 5);
/* Hostile bytes, at most so many columns; then blanks up to there if `pad`. */
void top_put_raw(struct top_screen *s, struct top_line *l, enum top_style style, const char *data,
		 size_t len, int columns, bool pad);
/* Bytes that take that many columns, as they are. */
void top_put_columns(struct top_screen *s, struct top_line *l, enum top_style style,
		     const char *text, int columns);

/* top-head.c */
void top_draw_head(struct top_screen *s, const struct top_view *v, const struct top_table *t,
		   struct top_model *m, const struct top_about *about);
/* top-rows.c: `rows` lines of the table, titles not counted. */
void top_draw_titles(struct top_screen *s, const struct top_view *v);
void top_draw_rows(struct top_screen *s, const struct top_view *v, const struct top_table *t,
		   const struct top_about *about, size_t rows);
void top_row_name(struct top_screen *s, struct top_line *l, enum top_style style,
		  const struct top_row *row, const struct top_table *t,
		  const struct top_about *about);
/* top-pages.c */
void top_draw_latest(struct top_screen *s, struct top_model *m, const struct filter *filter,
		     int rows);
void top_draw_group(struct top_screen *s, struct top_view *v, struct top_model *m,
		    const struct filter *filter, int rows);
void top_draw_exit(struct top_screen *s, struct top_view *v, struct top_model *m, int rows,
		   bool utc);
void top_draw_help(struct top_screen *s, struct top_view *v, int rows);

#endif
