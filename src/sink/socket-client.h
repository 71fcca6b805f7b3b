/* SPDX-License-Identifier: MIT */
/*
 * One reader of a socket: its stream as JSON Lines, from a start record with seq 1 on, and the one line that it
 * may send.
 *
 * The line is a filter. Taken, the stream begins anew under it: a start record with seq 1 is the answer.
 * Refused, the answer is a line of type "error", the last one. Nothing that a reader sends or leaves undone
 * costs more than its bounded memory; the line is looked at only when there is room for its answer. What is
 * behind the line is never read.
 */
#ifndef SINK_SOCKET_CLIENT_H
#define SINK_SOCKET_CLIENT_H

#include "sink/feed.h"
#include "sink/rate.h"
#include "sink/sink.h"

struct json;

#define CLIENT_BUFFER_DEFAULT (1u << 20)
#define CLIENT_LINE_MAX 4096 /* with its newline */

struct client {
	const struct sink_options *options; /* of the sink */
	struct json *json;		    /* of the sink: all its readers get the same lines */
	int fd;
	struct output *output;
	struct feed feed;
	struct rate rate;
	struct filter *filter;
	bool measured;		 /* it is asked here, and the time taken, not in the feed */
	struct sink_report past; /* of the stream before the filter */
	char line[CLIENT_LINE_MAX];
	size_t len;
	bool heard;	  /* the line is taken, or none will come */
	bool refused;	  /* what is queued is the last */
	bool behind;	  /* its buffer in the kernel is full */
	uint32_t waiting; /* what epoll is told to wait for */
	int64_t cost_ns;  /* of its filter; kept by the sink */
};

/* Takes the descriptor, and begins the stream. -ENOMEM or -EBADF: the descriptor is still the caller's. */
int client_new(struct client **ret, int fd, const struct sink_options *o, struct json *json);
void client_free(struct client *c);

void client_record(struct client *c, const struct exeunt_record *r);

/* Reads what the other end sent. False: it is gone. */
bool client_read(struct client *c);

/* False: it is gone, or got all that it will get. */
bool client_flush(struct client *c);

/* Ends the stream with a line that says why, if there is room for it. */
void client_refuse(struct client *c, const char *why);

/* What to wait for, as epoll has it. */
uint32_t client_wants(const struct client *c);

/* Adds what it did. */
void client_report(const struct client *c, struct sink_report *ret);

/* To one that cannot become a client: one line, if its kernel buffer takes it. */
void client_turn_away(int fd, const char *why);

#endif
