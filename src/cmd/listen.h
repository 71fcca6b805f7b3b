/* SPDX-License-Identifier: MIT */
/* What the commands that listen to the kernel have in common: opening, dropping privileges, and what they tell. */
#ifndef CMD_LISTEN_H
#define CMD_LISTEN_H

#include <exeunt/exeunt.h>

#include "cmd/options.h"

struct signalfd_siginfo;
struct stream;

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGWINCH, and returns a descriptor that reads them; or -1 after a message. */
int listen_signals(void);

/*
 * Makes and opens a handle, then drops privileges. capture_fd: raw frames go there, -1: nowhere. Tells what is wrong
 * and returns an exit status, or -1 to go on.
 */
int listen_open(struct exeunt **ret, const struct options *o, exeunt_record_fn on_record,
		exeunt_message_fn on_message, void *userdata, int capture_fd);

/* The two halves of it; `keep`: capabilities that are kept besides, as exeunt_capabilities(). */
int listen_open_sources(struct exeunt **ret, const struct options *o, exeunt_record_fn on_record,
			exeunt_message_fn on_message, void *userdata, int capture_fd);
int listen_drop(const struct exeunt *x, const struct options *o, uint64_t keep);

struct listening {
	struct stream *stream; /* its handle has been started */
	int signal_fd;
	/* Returns true when it is time to end. */
	bool (*take_signal)(const struct signalfd_siginfo *info, struct stream *s);
	uint32_t while_open; /* mask of sources: it is the end when none of them is open any more */
	int64_t until_ns;    /* CLOCK_MONOTONIC; 0: no limit */
};

/* Puts out records until it is time to end: 0. Else -EPIPE when the reader of the output left, or the library's error. */
int listen_run(const struct listening *l);

/* To stderr: why each source that was asked for is not open, and what mends it. */
void listen_explain(const struct exeunt *x);

/* The names of the open sources, with commas between. */
void listen_names(const struct exeunt *x, char *buf, size_t size);

/* To stderr: what is listened to. */
void listen_announce(const struct exeunt *x, const struct options *o);

#endif
