/* SPDX-License-Identifier: MIT */
/* What the files of `exeunt top` share: the run, the hand that draws and takes keys, and where records come from. */
#ifndef CMD_TOP_H
#define CMD_TOP_H

#include <exeunt/exeunt.h>

#include "cmd/options.h"
#include "record/filter.h"
#include "view/top-curses.h"

struct top {
	const struct options *options;
	struct exeunt *x; /* where the records come from; NULL between two replays */
	struct top_view view;
	struct top_model *model;
	struct top_table table;
	struct top_screen *screen;
	struct top_curses *curses; /* NULL: batch */
	struct filter *filter;	   /* what is shown now, typed or chosen; NULL: all */
	bool filter_later;	   /* it judges exits as they come, not the table */
	char filter_error[FILTER_ERROR_SIZE];
	struct top_about about;
	int signal_fd;
	int64_t record_mono_ns;		 /* of the records that come now */
	char failure[256];		 /* to be told when the terminal is given back */
	int64_t drawn_ns;		 /* CLOCK_MONOTONIC of the last table */
	uint64_t printed;		 /* screens of a batch */
	bool quit, again;		 /* again: the replay has to start from the beginning */
	bool stale;			 /* a key was pressed */
	char filter_kept[TOP_TEXT_MOST]; /* that filter_later was made of */

	/* where records come from, unless it is a replay */
	int source_fd; /* -1: from nowhere any more */
	int (*take_input)(struct top *t);
	struct top_attached *attached;

	/* of a replay */
	bool replay, at_end;
	double speed; /* 0: as fast as can be */
	int64_t begin_ns, begin_mono_ns,
		skipped_ns;	/* of the records, of the clock; without gaps */
	unsigned int unchecked; /* records since the keyboard was last looked at */
	int64_t next_print_ns;	/* of a batch, by the records' time */
};

/* top-wiring.c */

/* Filter, model, screen. An exit status after a message, or -1 to go on. */
int top_begin(struct top *t, const struct options *o);
void top_end(struct top *t);

/* Terminal, if one is wanted. */
int top_take_terminal(struct top *t);

/* The filter that is typed, or chosen. */
void top_filter_changed(struct top *t);

/* Everything from now on. */
void top_reset(struct top *t);

/* Makes the table anew, unless it is frozen, and shows it; or prints it. */
void top_turn(struct top *t, int64_t mono_ns);

/* What is waiting at the keyboard, then the screen if one of them changed something. */
void top_keys(struct top *t, int64_t mono_ns);

/* A signal that came: to end, or of another size. */
void top_signals(struct top *t);

/* Waits for keyboard, signals, and `fd` (-1: nothing) until then. True if fd is readable. */
bool top_wait(struct top *t, int fd, int64_t until_mono_ns);

/* When the next table is due. */
int64_t top_due(const struct top *t);

/* Counts a record that comes now, by the clock of the model. */
void top_take(struct top *t, const struct exeunt_record *r, int64_t now_ns);

/* For exeunt_options.on_message. */
void top_message(int level, const char *text, void *userdata);

/* top-file.c: what W writes, and what is read at the start. */
void top_file_read(struct top_view *v);
void top_file_write(struct top_view *v);

/* top.c: takes the terminal, and shows what comes until it is time to end. Returns an exit status. */
int top_run(struct top *t);

/* top-attached.c: shows what a daemon sends; takes the descriptor. Returns an exit status. */
int top_attached(struct top *t, int fd);

/* top-replay.c: returns an exit status. */
int top_replay(struct top *t);

#endif
