/* SPDX-License-Identifier: MIT */
/* The table of options: names, who takes them, help. Shared by options.c and option-rows.c, and by nobody else. */
#ifndef CMD_OPTION_ROWS_H
#define CMD_OPTION_ROWS_H

#include <getopt.h>
#include <stddef.h>

enum {
	OPT_THREADS = 256,
	OPT_COUNT,
	OPT_DURATION,
	OPT_RCVBUF,
	OPT_USER,
	OPT_STATUS,
	OPT_UTC,
	OPT_COLOR,
	OPT_NO_COLOR,
	OPT_BUFFER,
	OPT_JSON,
	OPT_SOURCE,
	OPT_AUDIT,
	OPT_AUDIT_RULES,
	OPT_PACCT,
	OPT_PACCT_STATE,
	OPT_FORCE,
	OPT_NO_ARGS,
	OPT_REDACT,
	OPT_BY,
	OPT_SORT,
	OPT_TOP,
	OPT_INTERVAL,
	OPT_TO,
	OPT_NAME,
	OPT_FIELDS,
	OPT_RATE,
	OPT_KEEP,
	OPT_SINCE,
	OPT_SINCE_LAST,
	OPT_UNTIL,
	OPT_OF_USER,
	OPT_SIGNAL,
	OPT_FAILED,
	OPT_FOLLOW,
	OPT_KEEP_BYTES,
	OPT_CONFIG,
	OPT_REPLAY,
	OPT_SPEED,
	OPT_WINDOW,
	OPT_CHECK_CONFIG,
	OPT_PID_FILE,
	OPT_NO_SECCOMP,
	OPT_SOCKET,
};

/* Enough for all of them, and the end. */
#define OPTION_ROWS_MAX 64

/* What a command with these groups takes, for getopt_long(). `letters` has room for 2 * OPTION_ROWS_MAX + 1. */
void option_rows_collect(int groups, struct option *options, char *letters);

/* To standard output. */
void option_rows_help(int groups, const char *usage);

/* The long name that it has in these groups; "" if there is none. */
const char *option_name(int groups, int opt);

/* The option of that long name out of these groups, *has_arg as getopt_long() has it; or -ENOENT. */
int option_find(int groups, const char *name, int *has_arg);

#endif
