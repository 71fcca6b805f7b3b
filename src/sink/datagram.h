/* SPDX-License-Identifier: MIT */
/*
 * Messages to a Unix datagram socket that somebody else serves, such as /dev/log: a bounded queue in front of it. Never waits. A
 * socket that is missing or has no reader is tried again each second, and what is queued is kept for it. Messages leave
 * in order, each once; what their receiver had not read when it died nobody knows.
 */
#ifndef SINK_DATAGRAM_H
#define SINK_DATAGRAM_H

#include "base/util.h"

struct datagram;

/* `bound` is in bytes; 0: 1 MiB. Connects by the first message. Errors: -EINVAL (the path is too long), -ENOMEM, of epoll_create1(2). */
int datagram_new(struct datagram **ret, const char *path, size_t bound);
void datagram_free(struct datagram *d);

/* Sends or queues it. Returns 0, or 1 when it was dropped because there was no room or it is too long for the socket. */
int datagram_send(struct datagram *d, const void *data, size_t len, int64_t mono_ns);

/* Sends what the socket takes now. Returns 0 when all is out, 1 when the reader is behind, or -errno of the socket: all is kept. */
int datagram_flush(struct datagram *d, int64_t mono_ns);

/* Leaves the socket and connects again. */
void datagram_reconnect(struct datagram *d);

/* Readable when a reader that was behind takes more. */
int datagram_poll_fd(const struct datagram *d);

/* When to flush again; INT64_MAX: never by itself. */
int64_t datagram_deadline(const struct datagram *d);

struct datagram_report {
	size_t pending;	   /* bytes */
	uint64_t waiting;  /* messages that they are */
	uint64_t written;  /* bytes */
	uint64_t connects; /* that succeeded */
	uint64_t too_long; /* messages that were queued, and that the socket then refused */
	int error;	   /* errno; 0: connected, or not yet tried */
};

void datagram_report(const struct datagram *d, struct datagram_report *ret);

#endif
