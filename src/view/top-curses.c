/* SPDX-License-Identifier: MIT */
/* See top-curses.h. */
#include "view/top-curses.h"

#include <sys/ioctl.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

struct top_curses {
	SCREEN *screen;
	bool color;
};

/* Pairs; the background stays that of the terminal, be it light or dark. */
enum { PAIR_BAD = 1, PAIR_FAILED };

static void begin_colors(struct top_curses *c, bool color)
{
	c->color = color && has_colors() && start_color() != ERR && use_default_colors() != ERR;
	if (!c->color)
		return;
	init_pair(PAIR_BAD, COLOR_RED, -1);
	init_pair(PAIR_FAILED, COLOR_YELLOW, -1);
}

/* A terminal that can only go on, as "dumb", would be a heap of lines. */
static bool can_move(void)
{
	const char *move = tigetstr("cup");

	return move && move != (const char *)-1;
}

int top_curses_open(struct top_curses **ret, bool color)
{
	struct top_curses *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->screen = newterm(NULL, stdout, stdin);
	if (!c->screen || !can_move()) {
		if (c->screen)
			top_curses_close(c);
		else
			free(c);
		return -ENOTTY;
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	curs_set(0);
	begin_colors(c, color);
	*ret = c;
	return 0;
}

void top_curses_close(struct top_curses *c)
{
	if (!c)
		return;
	endwin();
	delscreen(c->screen);
	free(c);
}

void top_curses_size(struct top_curses *c, int *width, int *height)
{
	struct winsize size;

	(void)c;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS)) {
		resizeterm(size.ws_row, size.ws_col);
		clearok(stdscr, TRUE);
	}
	*width = COLS;
	*height = LINES;
}

static int translate(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return TOP_PRESS_UP;
	case KEY_DOWN:
		return TOP_PRESS_DOWN;
	case KEY_LEFT:
		return TOP_PRESS_LEFT;
	case KEY_RIGHT:
		return TOP_PRESS_RIGHT;
	case KEY_PPAGE:
		return TOP_PRESS_PAGE_UP;
	case KEY_NPAGE:
		return TOP_PRESS_PAGE_DOWN;
	case KEY_HOME:
		return TOP_PRESS_HOME;
	case KEY_END:
		return TOP_PRESS_END;
	case KEY_ENTER:
		return TOP_PRESS_ENTER;
	case KEY_BACKSPACE:
		return TOP_PRESS_BACKSPACE;
	default: /* a resize, or a key that means nothing here */
		return TOP_PRESS_REDRAW;
	}
}

int top_curses_key(struct top_curses *c)
{
	wint_t key;
	int r = get_wch(&key);

	(void)c;
	if (r == ERR)
		return -1;
	if (r == KEY_CODE_YES)
		return translate(key);
	if (key == '\r' || key == '\n')
		return TOP_PRESS_ENTER;
	if (key == 27)
		return TOP_PRESS_ESCAPE;
	return key == 0x7f || key == '\b' ? TOP_PRESS_BACKSPACE : (int)key;
}

/* Without colours what matters is bold, so that it stands out all the same. */
static attr_t attributes(const struct top_curses *c, enum top_style style)
{
	switch (style) {
	case TOP_STYLE_STRONG:
		return A_BOLD;
	case TOP_STYLE_TITLE:
		return A_REVERSE;
	case TOP_STYLE_CURSOR:
		return A_REVERSE | A_BOLD;
	case TOP_STYLE_BAD:
		return c->color ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_BAD) : A_BOLD;
	case TOP_STYLE_FAILED:
		return c->color ? (attr_t)COLOR_PAIR(PAIR_FAILED) : A_BOLD;
	case TOP_STYLE_PLAIN:
	case TOP_STYLE_QUIET:
		break;
	}
	return A_NORMAL;
}

static void put(const struct top_curses *c, const struct top_line *l, size_t from, size_t to,
		enum top_style style)
{
	if (to <= from)
		return;
	attrset((int)attributes(c, style));
	addnstr(l->text.data + from, (int)(to - from));
}

static void show_line(const struct top_curses *c, const struct top_line *l)
{
	size_t at = 0;

	for (unsigned int i = 0; i < l->n_spans; i++) {
		put(c, l, at, l->spans[i].from, l->style);
		put(c, l, l->spans[i].from, l->spans[i].to, l->spans[i].style);
		at = l->spans[i].to;
	}
	put(c, l, at, l->text.len, l->style);
}

void top_curses_show(struct top_curses *c, const struct top_screen *s)
{
	erase();
	for (int i = 0; i < s->n && i < LINES; i++) {
		move(i, 0);
		show_line(c, &s->lines[i]);
	}
	attrset(A_NORMAL);
	refresh();
}

void top_curses_spoiled(struct top_curses *c)
{
	(void)c;
	clearok(stdscr, TRUE);
}
