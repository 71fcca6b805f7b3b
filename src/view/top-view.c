/* SPDX-License-Identifier: MIT */
/* What each key does. See top-view.h. */
#include "view/top-view.h"

#include "base/utf8.h"

void top_view_init(struct top_view *v)
{
	*v = (struct top_view){
		.by = TOP_BY_COMM,
		.window = TOP_1M,
		.sort = TOP_COLUMN_CPU,
		.latest = true,
		.delay_ns = NS_PER_SEC,
	};
}

bool top_view_holds(const struct top_view *v)
{
	return v->frozen || v->page == TOP_PAGE_EXIT ||
	       (v->page == TOP_PAGE_HELP && v->page_before_help == TOP_PAGE_EXIT);
}

/* Moves a cursor within `n` rows, none of which may be the current one any more. */
static void move(size_t *cursor, size_t n, size_t page, int key)
{
	size_t last = n ? n - 1 : 0, step = MAX(page, (size_t)1);

	switch (key) {
	case TOP_PRESS_UP:
		*cursor -= *cursor > 0;
		break;
	case TOP_PRESS_DOWN:
		*cursor += 1;
		break;
	case TOP_PRESS_PAGE_UP:
		*cursor -= MIN(*cursor, step);
		break;
	case TOP_PRESS_PAGE_DOWN:
		*cursor += step;
		break;
	case TOP_PRESS_HOME:
		*cursor = 0;
		break;
	default:
		*cursor = last;
	}
	*cursor = MIN(*cursor, last);
}

static bool is_move(int key)
{
	return (key >= TOP_PRESS_UP && key <= TOP_PRESS_END && key != TOP_PRESS_LEFT &&
		key != TOP_PRESS_RIGHT);
}

static void begin_input(struct top_view *v, enum top_input input)
{
	v->input = input;
	if (input == TOP_INPUT_FILTER)
		memcpy(v->input_text, v->filter, sizeof(v->input_text));
	else
		v->input_text[0] = '\0';
}

static void add_char(struct top_view *v, int key)
{
	size_t len = strlen(v->input_text);
	char c[4];
	int n = 0;

	if (key < 0x80) {
		c[n++] = (char)key;
	} else if (key < 0x800) {
		c[n++] = (char)(0xc0 | key >> 6);
		c[n++] = (char)(0x80 | (key & 0x3f));
	} else if (key < 0x10000) {
		c[n++] = (char)(0xe0 | key >> 12);
		c[n++] = (char)(0x80 | (key >> 6 & 0x3f));
		c[n++] = (char)(0x80 | (key & 0x3f));
	} else {
		c[n++] = (char)(0xf0 | key >> 18);
		c[n++] = (char)(0x80 | (key >> 12 & 0x3f));
		c[n++] = (char)(0x80 | (key >> 6 & 0x3f));
		c[n++] = (char)(0x80 | (key & 0x3f));
	}
	if (len + (size_t)n >= sizeof(v->input_text))
		return;
	memcpy(v->input_text + len, c, (size_t)n);
	v->input_text[len + (size_t)n] = '\0';
}

static void drop_char(struct top_view *v)
{
	size_t len = strlen(v->input_text);

	while (len && ((unsigned char)v->input_text[--len] & 0xc0) == 0x80)
		;
	v->input_text[len] = '\0';
}

static enum top_action end_input(struct top_view *v)
{
	enum top_input input = v->input;

	v->input = TOP_INPUT_NONE;
	if (input == TOP_INPUT_FILTER) {
		memcpy(v->filter, v->input_text, sizeof(v->filter));
		return TOP_ACTION_FILTER;
	}
	if (v->input_text[0] && top_view_set(v, "delay", v->input_text) < 0)
		snprintf(v->note, sizeof(v->note), "seconds, from 0.1 to 3600");
	return TOP_ACTION_NONE;
}

static enum top_action type(struct top_view *v, int key)
{
	bool filter = v->input == TOP_INPUT_FILTER;

	if (key == TOP_PRESS_ENTER)
		return end_input(v);
	if (key == TOP_PRESS_ESCAPE) {
		v->input = TOP_INPUT_NONE;
		return filter ? TOP_ACTION_FILTER : TOP_ACTION_NONE;
	}
	if (key == TOP_PRESS_BACKSPACE)
		drop_char(v);
	else if (key == 'U' - '@') /* as a shell has it */
		v->input_text[0] = '\0';
	else if (key >= ' ' && key < TOP_PRESS_UP && key != 0x7f)
		add_char(v, key);
	else
		return TOP_ACTION_NONE;
	return filter ? TOP_ACTION_FILTER : TOP_ACTION_NONE;
}

static enum top_action open_row(struct top_view *v, const struct top_table *t)
{
	const struct top_row *row;

	if (v->cursor >= t->n)
		return TOP_ACTION_NONE;
	row = &t->rows[v->cursor];
	if (row->others) {
		snprintf(
			v->note, sizeof(v->note),
			"these had no room for groups of their own; their exits are not told apart");
		return TOP_ACTION_NONE;
	}
	v->part_len = (uint32_t)MIN(row->part.len, sizeof(v->part));
	v->part_known = row->known;
	if (v->part_len)
		memcpy(v->part, row->part.data, v->part_len);
	v->page = TOP_PAGE_GROUP;
	v->inner_cursor = v->inner_scroll = 0;
	return TOP_ACTION_NONE;
}

static enum top_action enter(struct top_view *v, const struct top_table *t, const uint64_t *inner)
{
	if (v->page == TOP_PAGE_TABLE)
		return open_row(v, t);
	if (v->page == TOP_PAGE_GROUP && inner && v->inner_cursor < v->inner_n) {
		v->exit_id = inner[v->inner_cursor];
		v->page = TOP_PAGE_EXIT;
		v->inner_scroll = v->inner_cursor = 0;
	}
	return TOP_ACTION_NONE;
}

static enum top_action leave(struct top_view *v)
{
	if (v->page == TOP_PAGE_HELP)
		v->page = v->page_before_help;
	else if (v->page == TOP_PAGE_EXIT)
		v->page = TOP_PAGE_GROUP;
	else
		v->page = TOP_PAGE_TABLE;
	v->inner_cursor = v->inner_scroll = 0;
	return TOP_ACTION_NONE;
}

static enum top_action group_by(struct top_view *v, int by)
{
	v->by = (enum top_by)((by + TOP_BYS) % TOP_BYS);
	v->page = TOP_PAGE_TABLE;
	v->cursor = v->scroll = 0;
	return TOP_ACTION_TABLE;
}

static enum top_action sort_by(struct top_view *v, int column)
{
	v->sort = (enum top_column)((column + TOP_COLUMNS) % TOP_COLUMNS);
	return TOP_ACTION_SORT;
}

static enum top_action press_sort(struct top_view *v, int key)
{
	switch (key) {
	case '<':
	case TOP_PRESS_LEFT:
		return sort_by(v, (int)v->sort - 1);
	case '>':
	case TOP_PRESS_RIGHT:
		return sort_by(v, (int)v->sort + 1);
	case 'P':
		return sort_by(v, TOP_COLUMN_CPU);
	case 'M':
		return sort_by(v, TOP_COLUMN_RSS);
	case 'E':
		return sort_by(v, TOP_COLUMN_EXITS);
	case 'F':
		return sort_by(v, TOP_COLUMN_FAILED);
	case 'K':
		return sort_by(v, TOP_COLUMN_KILLED);
	case 'T':
		return sort_by(v, TOP_COLUMN_LONGEST);
	case 'N':
		return sort_by(v, TOP_COLUMN_NAME);
	case 'R':
		v->reverse = !v->reverse;
		return TOP_ACTION_SORT;
	default:
		return TOP_ACTION_NONE;
	}
}

static enum top_action press_other(struct top_view *v, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
	case 'C' - '@':
		return TOP_ACTION_QUIT;
	case 'g':
	case '\t':
		return group_by(v, (int)v->by + 1);
	case 'G':
		return group_by(v, (int)v->by - 1);
	case 'w':
		v->window = (enum top_window)((v->window + 1) % TOP_WINDOWS);
		return TOP_ACTION_TABLE;
	case ' ':
	case 'z':
		v->frozen = !v->frozen;
		return v->frozen ? TOP_ACTION_NONE : TOP_ACTION_TABLE;
	case 'l':
		v->latest = !v->latest;
		return TOP_ACTION_NONE;
	case '/':
	case 'f':
		begin_input(v, TOP_INPUT_FILTER);
		return TOP_ACTION_NONE;
	case 'd':
	case 's':
		begin_input(v, TOP_INPUT_DELAY);
		return TOP_ACTION_NONE;
	case '0':
		return TOP_ACTION_RESET;
	case 'W':
		return TOP_ACTION_SAVE;
	case 'L' - '@':
	case TOP_PRESS_REDRAW:
		return TOP_ACTION_REDRAW;
	default:
		return press_sort(v, key);
	}
}

static void open_help(struct top_view *v)
{
	if (v->page == TOP_PAGE_HELP)
		return;
	v->page_before_help = v->page;
	v->page = TOP_PAGE_HELP;
	v->inner_cursor = v->inner_scroll = 0;
}

enum top_action top_view_press(struct top_view *v, int key, const struct top_table *t,
			       const uint64_t *inner)
{
	v->note[0] = '\0';
	if (v->input != TOP_INPUT_NONE)
		return type(v, key);
	if (is_move(key)) {
		if (v->page == TOP_PAGE_TABLE)
			move(&v->cursor, t->n, v->page_rows, key);
		else
			move(&v->inner_cursor, v->inner_n, v->page_rows, key);
		return TOP_ACTION_NONE;
	}
	if (key == TOP_PRESS_ENTER)
		return enter(v, t, inner);
	if (key == TOP_PRESS_ESCAPE || key == TOP_PRESS_BACKSPACE)
		return leave(v);
	/* in the help any key but the one that ends leads back */
	if (v->page == TOP_PAGE_HELP && key != 'q')
		return leave(v);
	if (key == '?' || key == 'h') {
		open_help(v);
		return TOP_ACTION_NONE;
	}
	if (key >= '1' && key < '1' + TOP_BYS)
		return group_by(v, key - '1');
	return press_other(v, key);
}
