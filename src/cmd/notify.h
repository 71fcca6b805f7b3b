/* SPDX-License-Identifier: MIT */
/*
 * What systemd is told of a service (sd_notify(3)): ready, reloading, stopping, a line of status, and that the loop still turns.
 * Does nothing when nobody asked. Never waits.
 */
#ifndef CMD_NOTIFY_H
#define CMD_NOTIFY_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/util.h"

struct notify {
	int fd; /* -1: nobody asked */
	struct sockaddr_un to;
	socklen_t to_len;
	int64_t every_ns; /* of the watchdog: half of what it allows; 0: there is none */
	int64_t next_ns;  /* CLOCK_MONOTONIC */
};

/* Reads and removes $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, so that children do not speak for us. */
void notify_open(struct notify *n);
void notify_close(struct notify *n);

/* Sends lines such as "READY=1\nSTATUS=...". */
void notify_send(const struct notify *n, const char *format, ...) PRINTF(2, 3);

/* From the loop. Returns when it is to be called again; INT64_MAX: never. */
int64_t notify_alive(struct notify *n, int64_t mono_ns);

#endif
