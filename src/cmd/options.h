/* SPDX-License-Identifier: MIT */
/* The options that several commands share, parsed once here. Strings are borrowed from argv. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_group {
	OPTIONS_SOURCES = 1, /* which sources, and how: --source, --pacct, --user ... */
	OPTIONS_RECORDS = 2, /* which records, and where to: --filter, --output ... */
	OPTIONS_JSON = 4,
	OPTIONS_BY_HAND = 8, /* what auditd would decide: --audit, --duration */
	OPTIONS_PEOPLE = 16, /* for who looks at the output: --count, --color ... */
	OPTIONS_REPORT =
		32, /* what report takes: --by, --sort, --top, --interval, and some of the others */
	OPTIONS_RUN = 64,      /* for the daemon: --to, --config ... */
	OPTIONS_OF_SINK = 128, /* what may stand behind a --to */
	OPTIONS_ARGS = 256,    /* what becomes of arguments */
	OPTIONS_TOP = 1024,    /* what top takes: --replay, --speed, --batch ... */
	OPTIONS_ATTACH = 512,  /* to a daemon: --socket */
	OPTIONS_HISTORY = 512, /* of last: --since, --failed ... */
	OPTIONS_LISTEN = OPTIONS_SOURCES | OPTIONS_BY_HAND,
	OPTIONS_SHOW = OPTIONS_RECORDS | OPTIONS_JSON | OPTIONS_PEOPLE,
};

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

#define OPTIONS_SINKS 16

/* One --to, and what was said of it. NULL and 0: not given. */
struct sink_choice {
	const char *spec, *name, *filter, *fields;
	uint64_t buffer, rate, keep_bytes;
	int64_t interval_ns, keep_ns;
};

struct options {
	bool json, threads, numeric, quiet, utc, source_given, status_given;
	const char *replay, *speed, *window, *delay; /* NULL: not given */
	uint64_t iterations;			     /* 0: no limit */
	bool batch, delay_given;
	enum color_when color;
	bool no_args, force;
	const char *since_last; /* the name of a cursor */
	const char *of_user, *signal, *since, *until;
	bool failed, follow;
	bool history; /* set by the command: lines of days, not of now */
	bool append;  /* set by the command: the output is added to, and a FIFO needs no reader */
	const char *filter, *user, *output; /* NULL: not given */
	const char *audit, *audit_rules, *pacct, *pacct_state;
	const char *redact[16];
	unsigned int n_redact;
	uint32_t sources; /* mask; 0: all */
	uint32_t needed;  /* mask: these too, and they have to work */
	uint32_t receive_buffer;
	uint32_t status_seconds;
	uint64_t count;	       /* 0: no limit */
	int64_t duration_ns;   /* 0: no limit */
	uint64_t buffer;       /* bytes; 0: default */
	const char *by, *sort; /* NULL: not given */
	uint64_t top;	       /* 0: all */
	int64_t interval_ns;   /* 0: none */
	struct sink_choice to[OPTIONS_SINKS];
	unsigned int n_to;
	unsigned int n_to_before; /* of them, those that the command line found there */
	const char *config, *pid_file, *socket;
	bool check_config, no_seccomp;
	int first_operand; /* index in argv */
};

/*
 * Parses argv of `command`. Returns -1 to go on, or the exit status: help was printed, or an error was told.
 * usage: text for --help before the list of options.
 */
int options_parse(struct options *o, int argc, char **argv, const char *command, int groups,
		  const char *usage);

/* The same, over what `o` has already. */
int options_parse_onto(struct options *o, int argc, char **argv, const char *command, int groups,
		       const char *usage);

/*
 * Sets one by its long name, as a line of a file has it; an option without a value takes yes or no. -EINVAL with a sentence.
 * `value` is borrowed.
 */
int options_set(struct options *o, int groups, const char *name, const char *value, char *error,
		size_t size);

/* True if a line of a file may have that name. */
bool options_has(int groups, const char *name);

#endif
