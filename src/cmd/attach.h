/* SPDX-License-Identifier: MIT */
/*
 * Showing what a running daemon collects, in the place of sources of one's own: connects to its socket, and puts
 * its lines out as they are, or as text. Needs no privilege but that of connecting.
 */
#ifndef CMD_ATTACH_H
#define CMD_ATTACH_H

#include "cmd/options.h"

struct stream;

/*
 * Connects as the options want it. Returns the descriptor; -1 for sources of one's own; or -2 with an exit
 * status, after a message.
 */
int attach_connect(const struct options *o, int *status);

/* Shows what comes, until a signal or a limit; closes nothing. Returns an exit status. */
int attach_show(struct stream *s, int fd, int signal_fd);

#endif
