/* SPDX-License-Identifier: MIT */
/*
 * A frame: one thing that a source saw, with the time it was read. Live sources, captures, golden tests and fuzzers
 * all enter by it. Plain data, borrowed for the call it is passed to.
 */
#ifndef DECODE_FRAME_H
#define DECODE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

/* The numbers are part of the capture format. */
enum frame_kind {
	FRAME_DATA = 1, /* bytes from the kernel: a datagram */
	FRAME_LOST =
		2, /* u64 count: the kernel dropped so many for this channel since `since_ns` */
	FRAME_EMPTY = 3,    /* every queue of the source was seen empty at mono_ns or later */
	FRAME_SELFTEST = 4, /* i32 pid: a child of ours, to be left out */
	FRAME_FILE =
		5, /* u64 offset: a file begins or goes on there, and the decoder starts anew */
};

/* frame.channel of audit. */
enum {
	AUDIT_CHANNEL_NETLINK = 0, /* a datagram; its nlmsg_len may be 16 short of `len` */
	AUDIT_CHANNEL_TEXT = 1,	   /* bytes of lines, cut anywhere */
	AUDIT_CHANNEL_KERNEL = 2,  /* FRAME_LOST alone: records that the kernel itself gave up */
};

struct frame {
	enum exeunt_source source;
	enum frame_kind kind;
	int channel;	  /* index of the socket: for taskstats the CPU; -1: the whole source */
	int64_t mono_ns;  /* CLOCK_MONOTONIC when it was read */
	int64_t real_ns;  /* CLOCK_REALTIME at the same time */
	int64_t since_ns; /* CLOCK_MONOTONIC before which it cannot have been queued */
	const void *data;
	size_t len;
};

/*
 * Times of frames and of what is in them are cut to this where they come in, so that sums of three of them do not overflow:
 * CLOCK_REALTIME in 2065, from a file any nonsense. Less than 0 does not occur.
 */
#define FRAME_TIME_MOST INT64_C(3000000000000000000)

static inline int64_t frame_time(int64_t ns)
{
	if (ns < 0)
		return 0;
	return ns < FRAME_TIME_MOST ? ns : FRAME_TIME_MOST;
}

/* Returns 0, or a negative errno that ends the reading. */
typedef int (*frame_fn)(const struct frame *frame, void *userdata);

#endif
