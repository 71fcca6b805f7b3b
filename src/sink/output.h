/* SPDX-License-Identifier: MIT */
/*
 * The bounded byte output under every sink: a queue of records as bytes in front of one file descriptor.
 *
 * Promises: no call but output_drain() waits for a reader; never more memory than the bound; a record is taken
 * wholly or refused wholly, so dropping never tears a line; bytes leave in order. The descriptor is borrowed and its
 * flags are left alone: O_NONBLOCK belongs to the open file description, which a shell shares with other programs.
 *
 *	regular file	write(2). Trouble (ENOSPC, EDQUOT, EFBIG, EIO) is reported and the bytes are kept; each later
 *			output_flush() tries again. A record that only got out in part when the output is freed is
 *			cut off again, if nobody wrote behind it.
 *	pipe, FIFO, tty	a second description of the same object, opened through /proc/self/fd with O_NONBLOCK. Where
 *			that fails, poll(2) before writes of at most PIPE_BUF bytes, which a pipe takes without waiting
 *			as long as no other writer fills it between the two calls.
 *	socket		send(2) with MSG_DONTWAIT.
 *
 * The caller ignores SIGPIPE and SIGXFSZ. A record ends with a newline.
 */
#ifndef SINK_OUTPUT_H
#define SINK_OUTPUT_H

#include "base/util.h"

#define OUTPUT_BOUND_DEFAULT (8u << 20)
#define OUTPUT_CHUNK (128u << 10) /* bytes of one write(2), when there are as many */

struct output;

/*
 * Makes an output in front of `fd`; bound 0 is OUTPUT_BOUND_DEFAULT. To be called while the privileges last, as it
 * may open. Errors: -EBADF (not open for writing), -ENOMEM.
 */
int output_new(struct output **ret, int fd, size_t bound);

/* Forgets what is still queued; output_drain() comes first. The descriptor stays open. NULL is accepted. */
void output_free(struct output *o);

/*
 * From here on what is queued goes to `fd`. A record of which only a part got out goes there whole, and is cut off in the old
 * file where that can be; a socket or pipe keeps its part. To be called when the old one is flushed as far as it goes. The old
 * descriptor is no longer used. Errors: as output_new(); nothing has changed then.
 */
int output_move(struct output *o, int fd);

/*
 * Contiguous room for a record of at most `size` bytes, valid until the next call; NULL if there is none: the caller
 * counts a dropped record. When the queue is full it first tries to write, unless the reader is known to be behind.
 */
char *output_reserve(struct output *o, size_t size);

/* Queues the first `len` bytes of what was reserved; 0 gives it back. */
void output_commit(struct output *o, size_t len);

/* True if `size` bytes would fit without writing anything first. */
bool output_has_room(const struct output *o, size_t size);

/* Bytes queued. At OUTPUT_CHUNK and above, a flush is worth its system call. */
size_t output_pending(const struct output *o);

/*
 * Writes what the descriptor takes now. Returns 0 when all is out; 1 when the reader is behind: wait for POLLOUT on
 * output_poll_fd(), then call again; -EPIPE when nobody will ever read: end quietly; or the -errno of disk trouble,
 * after which everything is kept: call again a second later.
 */
int output_flush(struct output *o);

/* What to poll for POLLOUT after output_flush() returned 1. */
int output_poll_fd(const struct output *o);

/* The errno of the last flush that failed, 0 once one succeeded again. EPIPE stays. */
int output_error(const struct output *o);

/* Bytes that got out, and records refused for lack of room, since the start. */
uint64_t output_written(const struct output *o);
uint64_t output_refused(const struct output *o);

/*
 * For the end, or for a batch program that may wait: writes all, waiting at most timeout_ms (negative: for ever) for
 * the reader. Returns 0, -ETIME, or the error of output_flush(), which it does not try again.
 */
int output_drain(struct output *o, int timeout_ms);

#endif
