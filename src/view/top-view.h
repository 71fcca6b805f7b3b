/* SPDX-License-Identifier: MIT */
/*
 * What the user of `exeunt top` has chosen, and how keys change it. Pure: keys are numbers, what has to be done elsewhere
 * is an answer. Also how choices are written down, and read.
 */
#ifndef VIEW_TOP_VIEW_H
#define VIEW_TOP_VIEW_H

#include "view/top-table.h"

/* Keys that are no character. */
enum top_press {
	TOP_PRESS_UP = 0x110000, /* behind Unicode */
	TOP_PRESS_DOWN,
	TOP_PRESS_LEFT,
	TOP_PRESS_RIGHT,
	TOP_PRESS_PAGE_UP,
	TOP_PRESS_PAGE_DOWN,
	TOP_PRESS_HOME,
	TOP_PRESS_END,
	TOP_PRESS_ENTER,
	TOP_PRESS_ESCAPE,
	TOP_PRESS_BACKSPACE,
	TOP_PRESS_REDRAW,
};

enum top_page { TOP_PAGE_TABLE, TOP_PAGE_GROUP, TOP_PAGE_EXIT, TOP_PAGE_HELP };
enum top_input { TOP_INPUT_NONE, TOP_INPUT_FILTER, TOP_INPUT_DELAY };

/* What has to be done for a key, besides drawing. */
enum top_action {
	TOP_ACTION_NONE,
	TOP_ACTION_TABLE, /* the table is to be made anew */
	TOP_ACTION_SORT,  /* the same rows in another order */
	TOP_ACTION_FILTER, /* the text of the filter changed: `input_text` while it is typed, else `filter` */
	TOP_ACTION_RESET, /* count from now on */
	TOP_ACTION_SAVE,
	TOP_ACTION_REDRAW, /* the whole screen */
	TOP_ACTION_QUIT
};

#define TOP_TEXT_MOST 400

struct top_view {
	enum top_by by;
	enum top_window window;
	enum top_column sort;
	bool reverse, frozen;
	bool latest; /* the pane with the latest exits */
	int64_t delay_ns;
	char filter[TOP_TEXT_MOST]; /* "" for none */

	enum top_page page, page_before_help;
	size_t cursor, scroll;		   /* in the table */
	size_t inner_cursor, inner_scroll; /* in the other pages */
	size_t page_rows;	     /* lines that the list has on the screen, as last drawn */
	size_t inner_n;		     /* rows of the other pages, as last drawn */
	uint8_t part[TOP_PART_MOST]; /* of the group that is looked into */
	uint32_t part_len;
	bool part_known;
	uint64_t exit_id; /* that is looked at */

	enum top_input input;
	char input_text[TOP_TEXT_MOST];
	char note[TOP_TEXT_MOST]; /* for the last line, until a key is pressed; plain text */
};

void top_view_init(struct top_view *v);

/* `t` is what is on the screen; `inner`: ids of the exits that are, when a group is open. */
enum top_action top_view_press(struct top_view *v, int key, const struct top_table *t,
			       const uint64_t *inner);

/* True while the latest exits have to stand still. */
bool top_view_holds(const struct top_view *v);

/* The words of --by, --sort and --window, and of the file. NULL: no such number. */
const char *top_by_word(enum top_by by);
const char *top_by_title(enum top_by by);
const char *top_column_word(enum top_column c);
const char *top_column_title(enum top_column c);
const char *top_window_word(enum top_window w);
const char *top_window_title(enum top_window w);

/* Sets one by its name; -EINVAL: no such name or value. Names: by, sort, reverse, window, latest, delay, filter. */
int top_view_set(struct top_view *v, const char *name, const char *value);

/* All of them as lines "name = value". Returns the length, as snprintf(). */
int top_view_write(const struct top_view *v, char *buf, size_t size);

/* Reads such lines; blank ones and those with '#' are passed over. Returns the number of the first bad line, or 0. */
int top_view_read(struct top_view *v, char *text);

#endif
