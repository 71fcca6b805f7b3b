/* SPDX-License-Identifier: MIT */
/*
 * The bounded table of processes that are not yet, or no longer, a record: some threads have ended, or the last one has
 * and others or other sources may follow. Owns its entries; a tgid may have several at once, for pids are used again.
 */
#ifndef JOIN_TABLE_H
#define JOIN_TABLE_H

#include <exeunt/record.h>

#include "base/list.h"
#include "decode/pacct.h"
#include "join/merge.h"
#include "join/verdict.h"

enum process_state {
	PROCESS_OPEN, /* lives on; ended threads are kept here */
	PROCESS_ENDING, /* the last task ended; its companions and other sources have a time of grace */
	PROCESS_BEHIND, /* the same, but all that is waited for is audit, which is behind */
	PROCESS_ALONE,	/* another source told of the end, taskstats has not */
	PROCESS_CLOSED, /* its record is out; kept for a while, so that what is late amends it */
	PROCESS_HINT,	/* what audit told of a thread that ended; perhaps it was the last */
	PROCESS_STATES
};

struct process {
	struct list node;	   /* in the list of its state, oldest first */
	struct process *hash_next; /* or next free */
	struct process **hash_at;  /* what points to it */
	enum process_state state;
	int32_t tgid;
	int64_t start_low_ns; /* the leader began between these two, CLOCK_MONOTONIC */
	int64_t start_high_ns;
	uint64_t leader_at_us; /* ac_tgetime of the leader's record that gave the name */
	uint64_t elapsed_us;   /* of the process, by taskstats */
	uint64_t exit_second;  /* seconds since 1970 in which it ended, by taskstats */
	int64_t touched_ns;    /* last record read */
	int64_t deadline_ns;   /* of grace, or of being remembered */
	int64_t gone_ns;       /* OPEN: no process of that pid was there; 0: not known */
	uint32_t sources;      /* mask of those that told of the end */
	bool single;	       /* it never had a second thread */
	bool guess; /* the kernel does not tell a process from a thread (before version 12) */
	bool backfilled;
	struct verdict verdict;
	struct merge_ticks ticks;
	struct pacct_exit pacct; /* with the bit of pacct in `sources` */
	int64_t audit_ns;	 /* real time of audit's record, with its bit in `sources` */
	uint32_t audit_who;	 /* a hash of what it said of the process, with the same */
	char tty[16];		 /* what record.tty points to */
	void *text;		 /* what other strings of the record point to, or NULL */
	void *kept;		 /* CLOSED: what all strings it then had point to, or NULL */
	size_t kept_len;
	bool untold;	     /* it ended by itself, and went out without audit */
	bool lacks_program;  /* audit may still tell what it executed */
	bool args_are_title; /* audit's PROCTITLE: what the process made of them */
	struct exeunt_record record;
};

struct table;

/* Errors: -ENOMEM. */
int table_new(struct table **ret, unsigned int most);
void table_free(struct table *t);

/* The entries of a tgid, newest first: table_first() and from there hash_next, leaving out other tgids. */
struct process *table_first(const struct table *t, int32_t tgid);
struct process *table_following(const struct process *p);

/* A new zeroed entry in state OPEN. NULL when the table is full, or memory is. */
struct process *table_add(struct table *t, int32_t tgid);
void table_remove(struct table *t, struct process *p);

/* Puts the entry at the end of the list of this state. */
void table_move(struct table *t, struct process *p, enum process_state state);

/* The oldest entry of a state, or NULL; and the one behind it. */
struct process *table_oldest(const struct table *t, enum process_state state);
struct process *table_next(const struct table *t, const struct process *p);

/* So many entries there can be. */
unsigned int table_most(const struct table *t);

unsigned int table_count(const struct table *t, enum process_state state);

/* The entry owns this allocation from now on, as what its strings point to; those before are freed. */
void table_keep(struct table *t, struct process *p, void *kept, size_t len);

/* Bytes that entries own by table_keep(). */
size_t table_kept_bytes(const struct table *t);

#endif
