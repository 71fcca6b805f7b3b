/* SPDX-License-Identifier: MIT */
/*
 * The one door: every frame, live or replayed, comes in here, is decoded and goes to the joiner,
 * the context table or the ledger. What cannot be decoded is counted and becomes a loss; reading
 * goes on.
 */
#ifndef LIB_INTAKE_H
#define LIB_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/audit_assemble.h"
#include "decode/audit_stream.h"
#include "decode/frame.h"
#include "decode/pacct_stream.h"
#include "join/context.h"
#include "join/join.h"
#include "join/ledger.h"

/* A child of our self-test, of which so many sources have told. */
struct intake_own {
	int32_t pid;
	uint32_t told;
	int64_t until_ns; /* then its pid may be another's */
};

#define INTAKE_OWN_MOST 4096

/* For a person, about a file: no newline. */
typedef void (*intake_message_fn)(void *userdata, const char *text);

struct intake {
	struct joiner *joiner;	 /* borrowed */
	struct ledger *ledger;	 /* borrowed */
	struct context *context; /* borrowed; NULL: none */
	struct context *cleaner; /* borrowed; what may be told of arguments; NULL: all */
	intake_message_fn message;
	void *userdata;
	bool from_file;	  /* times are those of the records */
	bool untimed;	  /* an audit log: the times of the records stand for those of frames */
	const char *name; /* of the file, for messages; NULL: none */
	bool delay_accounting;
	int versions[EXEUNT_SOURCE_COUNT]; /* of the kernel's structs and formats, as last seen */
	int64_t mono_ns, real_ns;	   /* of the latest frame */
	uint64_t unparsable[EXEUNT_SOURCE_COUNT]; /* since the last intake_settle() */
	int64_t unparsable_since_ns;
	bool lost_since_sweep;
	uint64_t execs;		/* EXEC events */
	uint64_t audit_exits;	/* ends that audit told of */
	uint64_t audit_untold;	/* join_untold(), when it told of one last */
	int64_t audit_told_ns;	/* when that was, CLOCK_REALTIME */
	uint64_t audit_changes; /* of rules and settings, that it told of */
	uint64_t audit_execs,
		audit_execs_before; /* executions that it told of; when it was read last */
	int64_t told_until_ns;	    /* by then no more are waited for */

	struct pacct_stream pacct;
	uint64_t pacct_offset; /* in the file, of the next byte */
	bool pacct_begun;

	struct audit_assemble *audit;
	struct audit_stream audit_text;
	bool audit_begun, audit_untimed;
	char audit_node[256]; /* the host that audit told of first */
	int audit_nodes;      /* 0, 1, or more than one, which are 2 */

	const struct frame *frame; /* the one that was taken last, without its data */
	struct frame last;
	struct intake_own *own;
	int n_own;
	int32_t self;	   /* whose test children they are; 0: not known */
	uint32_t own_told; /* mask of the sources that have told of any child of ours */
};

int intake_init(struct intake *in);
void intake_done(struct intake *in);

/* Takes one frame; 0, or -ENOMEM. */
int intake_frame(struct intake *in, const struct frame *f);

/*
 * Books what is outstanding: unparsable messages, sequence gaps. Call now and then, when queues
 * were read empty.
 */
void intake_settle(struct intake *in);

/* Nothing waits for a later intake_settle(), or for time to pass. */
bool intake_is_settled(const struct intake *in);

/* No more frames will come: what decoders hold back comes out. */
void intake_end(struct intake *in);

/* How many bytes of the accounting file have been taken and not decided on. */
size_t intake_pacct_undecoded(const struct intake *in);

/* The exit of this child of ours is to be left out. False when there are too many. */
bool intake_expect_own(struct intake *in, int32_t pid);

/* The files of lib/ that make it up. */
/* `parent` 0: not told. */
bool intake_take_own(struct intake *in, int32_t pid, int32_t parent, enum exeunt_source source);
void intake_count_unparsable(struct intake *in, const struct frame *f);
void intake_lost(struct intake *in, const struct frame *f, enum exeunt_loss_cause cause,
		 bool exact);
int intake_taskstats(struct intake *in, const struct frame *f);
int intake_pacct(struct intake *in, const struct frame *f);
int intake_audit(struct intake *in, const struct frame *f);
int intake_procevents(struct intake *in, const struct frame *f);
void intake_pacct_end(struct intake *in);
/* When it ended, to the second. */
int64_t intake_pacct_end_ns(const struct pacct_exit *e);
void intake_audit_end(struct intake *in);

#endif
