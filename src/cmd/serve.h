/* SPDX-License-Identifier: MIT */
/*
 * The loop of the daemon: from the sources to the sinks, until a signal. Owns the sinks. Promises that no sink is waited for
 * while the sources speak, and that at the end each gets what was collected, within a time.
 */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include <exeunt/exeunt.h>

#include "cmd/notify.h"
#include "cmd/options.h"
#include "record/filter.h"
#include "sink/sink.h"

struct serving {
	const struct options *options;
	struct exeunt *x;
	struct sink_host host;
	struct sink *sinks[OPTIONS_SINKS];
	struct filter *filters[OPTIONS_SINKS];
	uint64_t fields[OPTIONS_SINKS][EXEUNT_PRESENT_WORDS];
	char names[OPTIONS_SINKS][64];
	size_t n_sinks;
	struct exeunt_status about; /* of the start record: what describe() begins with */
	struct notify notify;
	int signal_fd;	       /* borrowed */
	int64_t checkpoint_ns; /* the next one; CLOCK_MONOTONIC, as is the next */
	int64_t marked_ns;     /* when the position was marked; 0: it is not */
	int save_error;	       /* of the state of accounting, as last told */
	char summary[512];     /* of the last status or stop record, for people */
};

/* Checks what the options say of sinks; opens nothing. Tells what is wrong and returns an exit status, or -1. */
int serve_check(struct serving *s, const struct options *o);

/* Opens the sinks, while privileges last. `s->x` is open. An exit status, or -1. */
int serve_open(struct serving *s);

/* What the sinks need to keep, as exeunt_capabilities(). */
uint64_t serve_capabilities(const struct serving *s);

/* Begins: sinks first, then the sources. An exit status, or -1. */
int serve_start(struct serving *s);

/*
 * Until SIGTERM or SIGINT, that time (0: for ever), or that nobody is left who will ever read: 0. Errors: -ENOLINK when no source
 * is left, or the library's.
 */
int serve_run(struct serving *s, int64_t until_ns);

/* The last records, to every sink that takes them in time; told once more to end, to those that have them. An exit status. */
int serve_stop(struct serving *s);

void serve_close(struct serving *s);

/* For exeunt_options.on_record and on_message, with the serving as userdata. */
int serve_record(const struct exeunt_record *r, void *userdata);
void serve_message(int level, const char *text, void *userdata);

#endif
