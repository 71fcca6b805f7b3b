/* SPDX-License-Identifier: MIT */
/*
 * What the sources that read netlink sockets have in common: the size of the receive buffer, datagrams in batches, and
 * the kernel's own count of what it dropped. Overflow neither stops reading nor goes uncounted. Decodes nothing.
 */
#ifndef SOURCE_NETLINK_H
#define SOURCE_NETLINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <linux/netlink.h>

#include "source/source.h"

/* "run exeunt on the host itself ..." */
extern const char netlink_remedy_host[];

/* The source cannot work here. reason and remedy (NULL: none) are constants. Returns -error. */
int netlink_refuse(struct exeunt_source_status *status, int error, const char *reason,
		   const char *remedy);

/*
 * True when this is not the initial network namespace. Where /proc does not tell, the kernel's end of the connector does,
 * which exists there only; without a connector nothing is known, and the answer is false.
 */
bool netlink_is_elsewhere(void);

/* One socket of a source. */
struct netlink_channel {
	int fd;
	int number;	    /* frame.channel */
	uint32_t drops;	    /* SO_MEMINFO as last told */
	int64_t empty_ns;   /* monotonic: the queue was seen empty then */
	int64_t checked_ns; /* monotonic: drops were read then */
};

/* Room for one call of recvmmsg(2); the channels of a source share it. */
struct netlink_batch {
	unsigned int n;
	size_t stride;
	struct mmsghdr *msgs;
	struct iovec *iov;
	struct sockaddr_nl *
		senders; /* NULL: all channels are connected to the kernel, and nobody else can send */
	unsigned char *buffers;
	/* Says whether a datagram is handed on. NULL: each is. */
	bool (*wanted)(struct source *s, const void *data, size_t len);
};

/*
 * connected: the channels are connected to the kernel (netlink_connect()), so that a sender need not be looked at.
 * Errors: -ENOMEM. Strides that are a multiple of 4,096 would all fall into the same few cache sets. */
int netlink_batch_init(struct netlink_batch *b, unsigned int n, size_t stride, bool connected);
void netlink_batch_done(struct netlink_batch *b);

/*
 * A buffer large enough to sit out half a second of a busy CPU, small enough that all of them full is a
 * thirty-second of memory. The kernel uses it only while we are behind.
 */
uint32_t netlink_choose_buffer(int sockets);

/* *granted becomes what the kernel says that it is now. Errors: -errno. */
int netlink_set_buffer(int fd, uint32_t bytes, uint64_t *granted);

/* A raw socket, bound to the groups of the mask; nonblocking. Errors: -errno. */
int netlink_open(int protocol, uint32_t groups);

/*
 * From now on the kernel alone can send to this socket, unicast (net/netlink/af_netlink.c: netlink_getsockbyportid());
 * what comes by multicast is not held off. Errors: -errno.
 */
int netlink_connect(int fd);

/*
 * Sets what every socket of ours has: the buffer, and that the kernel goes on queueing after an overflow, where it
 * would drop everything until the queue has been read empty (NETLINK_NO_ENOBUFS).
 */
int netlink_prepare(int fd, uint32_t bytes, uint64_t *granted);

/* From here on drops and times count. fd and number are set already. Errors: -errno. */
int netlink_channel_begin(struct netlink_channel *c);

/* See source_ops.drain; no FRAME_EMPTY. Datagrams that do not come from the kernel are left out. */
int netlink_channel_drain(struct netlink_channel *c, struct netlink_batch *b, struct source *s,
			  bool woken, frame_fn fn, void *userdata, bool *more);

/* Hands on a FRAME_EMPTY for the whole source: all its queues were seen empty at mono_ns or later. */
int netlink_tell_empty(const struct source *s, int64_t mono_ns, frame_fn fn, void *userdata);

/* See source_ops.check. */
int netlink_channel_check(struct netlink_channel *c, struct source *s, frame_fn fn, void *userdata);

#endif
