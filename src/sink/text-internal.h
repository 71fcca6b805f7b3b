/* SPDX-License-Identifier: MIT */
/* What the files of the text sink share; see text.h. Not for others. */
#ifndef SINK_TEXT_INTERNAL_H
#define SINK_TEXT_INTERNAL_H

#include "base/format.h"
#include "base/utf8.h"
#include "sink/text.h"

enum column {
	COLUMN_TIME,
	COLUMN_PID,
	COLUMN_PPID,
	COLUMN_USER,
	COLUMN_LOGIN,
	COLUMN_STATUS,
	COLUMN_ELAPSED,
	COLUMN_CPU,
	COLUMN_RSS,
	COLUMN_READ,
	COLUMN_WRITTEN,
	COLUMN_CGROUP,
	COLUMN_COMMAND,
	COLUMN_COUNT
};

/* Room for everything in a line but the user and the command, colours included. */
#define LINE_ROOM 512

#define CLOCK_LEN 12 /* 12:34:56.789 */
#define DATE_LEN 19  /* 2026-01-02 12:34:56 */

struct text {
	struct text_options options;
	bool shown[COLUMN_COUNT];
	int user_width;
	int64_t minute; /* that `hour_minute` is of */
	char date[16], hour_minute[8];
	char *line;
	size_t line_size;
	char *command; /* the raw bytes of a command, before they are made visible */
	size_t command_size;
};

/* A line that grows. */
struct line {
	char *p;
	int column;
};

/* Sees to `size` bytes at *buf. */
int text_room(char **buf, size_t *have, size_t size);

/* "12:34:56.789"; CLOCK_LEN bytes, or DATE_LEN of "2026-01-02 12:34:56" in a history. */
char *text_clock(struct text *t, char *p, int64_t ns);

/* text-cell.c: what stands under STATUS and the other short columns, plain ASCII; returns its end. 64 bytes are enough. */
char *text_cell(struct text *t, char *p, enum column c, const struct exeunt_record *r);

/* The SGR parameters for the status of this record, or NULL. */
const char *text_status_color(const struct exeunt_record *r);

/* The command as raw bytes in t->command, at most `max` of them; returns their number or -ENOMEM. */
ssize_t text_command(struct text *t, const struct exeunt_record *r, size_t max);

/* text-other.c: a loss; LINE_ROOM bytes are there. */
char *text_loss(struct text *t, char *p, const struct exeunt_loss *l);

#endif
