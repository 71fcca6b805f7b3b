/* SPDX-License-Identifier: MIT */
/* The terminal of `exeunt top`: the only place that knows curses. Owns the terminal from open to close. */
#ifndef VIEW_TOP_CURSES_H
#define VIEW_TOP_CURSES_H

#include "view/top-screen.h"

struct top_curses;

/* Takes the terminal. Errors: -ENOMEM; -ENOTTY with no terminal that can do it. */
int top_curses_open(struct top_curses **ret, bool color);

/* Gives it back as it was. NULL is accepted. */
void top_curses_close(struct top_curses *c);

/* The size as it is now. */
void top_curses_size(struct top_curses *c, int *width, int *height);

/* The next key, an enum top_press or a character; -1: none is waiting. */
int top_curses_key(struct top_curses *c);

void top_curses_show(struct top_curses *c, const struct top_screen *s);

/* Everything is drawn again with the next screen. */
void top_curses_spoiled(struct top_curses *c);

#endif
