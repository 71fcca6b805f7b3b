/* SPDX-License-Identifier: MIT */
/* The inside of exeunt last, for last.c and last-store.c. */
#ifndef CMD_LAST_H
#define CMD_LAST_H

#include "cmd/newest.h"
#include "cmd/stream.h"

struct last {
	struct stream stream; /* first: it is the userdata of stream_message() */
	struct options options;
	struct newest *newest;
	int64_t since_ns, until_ns;
	char *filter; /* what the options ask for, as one expression */
	char host[256], boot[64];
	/* of files, in the order in which they came */
	struct exeunt_record **kept;
	size_t n_kept, room;
	bool no_memory;
};

/* JSON names the host that a line is of. */
void last_take_host(struct last *l, const char *host, const char *boot);

/* Puts the record out if it is in time. True when nobody wants more. */
bool last_show(struct last *l, const struct exeunt_record *r);

/* The newest first; a damaged segment is told, and the others are read. An exit status. */
int last_read_store(struct last *l, const char *dir);

/* The last ten, then what comes, until nobody wants more. An exit status. */
int last_follow(struct last *l, const char *dir);

#endif
