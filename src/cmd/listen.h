/* SPDX-License-Identifier: MIT */
/* What the commands that listen to the kernel have in common: opening, dropping privileges, and what they tell. */
#ifndef CMD_LISTEN_H
#define CMD_LISTEN_H

#include <exeunt/exeunt.h>

#include "cmd/options.h"

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGWINCH, and returns a descriptor that reads them. */
int listen_signals(void);

/*
 * Makes and opens a handle, then drops privileges. capture_fd: raw frames go there, -1: nowhere. Tells what is wrong
 * and returns an exit status, or -1 to go on.
 */
int listen_open(struct exeunt **ret, const struct options *o, exeunt_record_fn on_record,
		exeunt_message_fn on_message, void *userdata, int capture_fd);

/* To stderr: why each source that was asked for is not open, and what mends it. */
void listen_explain(const struct exeunt *x);

/* To stderr: what is listened to. */
void listen_announce(const struct exeunt *x, const struct options *o);

#endif
