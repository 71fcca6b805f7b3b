/* SPDX-License-Identifier: MIT */
/*
 * The keeper of a plugin: a small process of ours, forked while there are privileges, which it keeps. It starts the plugin as
 * auditd would, as root and with all capabilities, whenever the main process asks, which has given up its own by then; and
 * it is the plugin's parent, whose SIGTERM plugins obey. It reads nothing but single bytes of questions.
 *
 * The plugin's standard input is one socket for all its lives. The keeper holds the plugin's end of it too: what a plugin
 * that died had not read is there for the next one. Of a line that it had read in part the rest is passed over, and
 * told. Our end is held by the main process alone: when that ends, however it does, the plugin reads what is left and
 * then the end of its input; if it does not leave then, the keeper ends it.
 */
#ifndef SINK_PLUGIN_KEEPER_H
#define SINK_PLUGIN_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

struct plugin_keeper;

enum plugin_ask {
	PLUGIN_ASK_START = 1, /* answered by STARTED; by nothing if it runs */
	PLUGIN_ASK_RELOAD,    /* SIGHUP to the plugin */
	PLUGIN_ASK_TERM,
	PLUGIN_ASK_KILL,
	PLUGIN_ASK_DRAIN, /* the plugin has ended, and no other will come: reads to the end of its input, then says DRAINED */
};

enum plugin_told {
	PLUGIN_STARTED = 1, /* or not: `error` and `why` */
	PLUGIN_ENDED,	    /* `status` as of wait(2) */
	PLUGIN_DRAINED,
};

struct plugin_word {
	enum plugin_told what;
	pid_t pid;
	int error, status;
	uint64_t lost; /* records: of which the last plugin read a part; that nobody read */
	char why[128];
};

/*
 * Whether this may be run as a plugin: what auditd asks for, in all its versions. An absolute path; a regular file of root
 * that its owner and group can read and run, and that nobody else can change. Returns 0, or -errno with a sentence.
 */
int plugin_check(const char *path, char *why, size_t size);

/*
 * Path and arguments, split at blanks as auditd does. Both are the caller's to free, also on an error: -ENOMEM, -EINVAL
 * (there is nothing).
 */
int plugin_split(const char *target, char **ret_words, char ***ret_argv);

/* Forks it; argv[0] is the path, a NULL the end. Errors: -ENOMEM, of fork(2) and socketpair(2). */
int plugin_keeper_new(struct plugin_keeper **ret, char *const *argv);

/* Closes both sockets, and waits a moment for the end. NULL is accepted. */
void plugin_keeper_free(struct plugin_keeper *k);

/* Our end of the plugin's input: a stream socket that blocks. */
int plugin_keeper_input(const struct plugin_keeper *k);

/* Readable when there is a word. */
int plugin_keeper_fd(const struct plugin_keeper *k);

/* Never waits. Errors: -EAGAIN, -EPIPE (it is gone). */
int plugin_keeper_ask(struct plugin_keeper *k, enum plugin_ask what);

/* Takes a word. Returns 1; 0 if there is none; -EPIPE. */
int plugin_keeper_word(struct plugin_keeper *k, struct plugin_word *ret);

#endif
