/* SPDX-License-Identifier: MIT */
/*
 * The inside of the joiner, for the files of join/ that make it up: tasks.c, accounting.c and auditing.c take what a source told
 * and find its process; join.c says when a process is whole, and puts it out.
 */
#ifndef JOIN_JOINER_H
#define JOIN_JOINER_H

#include "base/util.h"
#include "join/join.h"
#include "join/table.h"

#define BIT_TASKSTATS EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS)
#define BIT_PACCT EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT)
#define BIT_AUDIT EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT)
#define BIT_PROCEVENTS EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PROCEVENTS)

/*
 * Companions of the last task trail it by 40 us, 2.7 ms under stress; the leader itself is often among them and is
 * worth waiting for, since it carries the name.
 */
#define GRACE_NS (25 * NS_PER_MSEC)
#define GRACE_LEADER_NS (500 * NS_PER_MSEC)
/* Closed processes are remembered for so long, so that what is still later amends its own process. */
#define REMEMBER_NS (5 * NS_PER_SEC)
/* Whose threads ended that long ago and whose end was not told since, has lived on or its end was lost. */
#define SETTLED_NS NS_PER_SEC
/* Reading times are late by scheduling; starts estimated from them agree to within this. */
#define START_SLACK_NS (20 * NS_PER_MSEC)

/* Audit told of this end. */
struct joiner_ended {
	int32_t pid;
	uint32_t who;
	int64_t audit_ns;
};

#define JOINER_ENDED 1024 /* a power of two */

#define JOINER_FORGOTTEN 4096

struct joiner {
	struct join_options options;
	struct table *table;
	struct context *context; /* borrowed, may be NULL */
	struct exeunt_balance *balance;
	uint32_t active, awaited;
	bool told;	       /* audit tells of executions */
	uint64_t since_second; /* since 1970; taskstats is listened to since then */
	int64_t horizon[EXEUNT_SOURCE_COUNT];
	int64_t real_offset_ns;	    /* CLOCK_REALTIME less CLOCK_MONOTONIC, as last read */
	struct exeunt_loss evicted; /* by a full table, not told yet */
	uint64_t untold;	    /* see join_untold() */
	int64_t delay_ns;	    /* the longest from an audit record's time until it was read */
	int64_t delay_before_ns;    /* the same, of the time before */
	int64_t delay_since_ns;
	int64_t awaited_since_ns; /* audit is waited for since then; while it is not, up to now */
	struct joiner_ended ended[JOINER_ENDED];
	int64_t forgotten_ns[JOINER_FORGOTTEN]; /* see joiner_may_be_forgotten() */
	int64_t deadline_ns;			/* not later than the earliest in PROCESS_ENDING */
};

static inline bool is_active(const struct joiner *j, uint32_t source_bit)
{
	return j->active & source_bit;
}

/* The source whose word makes an exit. */
static inline enum exeunt_source joiner_leading(const struct joiner *j)
{
	return is_active(j, BIT_TASKSTATS) ? EXEUNT_SOURCE_TASKSTATS
	       : is_active(j, BIT_PACCT)   ? EXEUNT_SOURCE_PACCT
					   : EXEUNT_SOURCE_AUDIT;
}

/* Puts a record out, of a process that is not in the table or of one that is. */
void joiner_emit(struct joiner *j, struct exeunt_record *r, enum exeunt_type type);

/* A process in the table has something new: puts it out if it is whole, amends if it is out already. It may be gone then. */
void joiner_update(struct joiner *j, struct process *p, int64_t now_ns);

/* All that is waited for has come, or had its time. */
bool joiner_is_whole(const struct joiner *j, const struct process *p, int64_t now_ns);

/* Puts the exit record out and remembers the process. */
void joiner_close(struct joiner *j, struct process *p, int64_t now_ns);

/* The end was lost, and the process is gone: what its threads and other sources told is all there will be. */
void joiner_close_unended(struct joiner *j, struct process *p, const struct frame *now);

/* room.c: books what a full table has cost since the last call, as one loss. */
void joiner_tell_evicted(struct joiner *j);

/* room.c: its record is out. Keeps a copy of its strings, so that what is late can amend it. */
void joiner_remember(struct joiner *j, struct process *p, int64_t now_ns);

/* Forgets those remembered long enough, or at too high a price. No entry may be held over the call. */
void joiner_forget(struct joiner *j, int64_t now_ns);

/*
 * Whether an end that nobody else told of may be of a process that is out, and was forgotten before its time: then it is none
 * that was lost.
 */
bool joiner_may_be_forgotten(const struct joiner *j, int32_t tgid, int64_t exit_time_ns);

/* A new entry; what is least worth keeping makes room for it, so that no entry may be held over the call. NULL without memory. */
struct process *joiner_add(struct joiner *j, int32_t tgid, const struct frame *f);

/* alone.c: what stood alone and belongs to this process, whose end was told now, goes into it. */
void joiner_take_alone(struct joiner *j, struct process *p);

/* alone.c: another source leads than before; what it told of is an exit now. */
void joiner_promote_alone(struct joiner *j);

/*
 * alone.c: whether the leading source, whose queues were read since, is known to have lost this one; it is out then, and may be
 * gone.
 */
bool joiner_backfill_early(struct joiner *j, struct process *p, int64_t now_ns);

/* alone.c: nothing more will come. Leaves nothing alone, but some that is to be closed. */
void joiner_judge_all_alone(struct joiner *j);
/* Only what accounting told of, before then. */
void joiner_judge_accounted(struct joiner *j, int64_t before_ns);

/* The leading source lost it. */
void joiner_mark_backfilled(struct joiner *j, struct process *p);

/* accounting.c, auditing.c: whether what they told can be of this process. */
bool joiner_pacct_fits(const struct process *p, const struct pacct_exit *e);
/* 0: it cannot; else the higher the likelier. `told` has what audit told, as an entry of its own. */
int joiner_audit_fits(const struct process *p, const struct process *told);

/* auditing.c: what audit told, as an entry of its own that is not in the table. Its text is for free(). */
void joiner_to_entry(const struct audit_event *e, struct process *told);

/*
 * auditing.c: gives a process what audit told of its end; or (not `ends`) of the end of one of its threads: who it was, and no
 * more. The strings of `told` are taken if they are needed.
 */
void joiner_take_told(struct process *p, struct process *told, bool ends);

/* behind.c: how long audit's records take, of late, beyond what they always do. */
int64_t joiner_audit_delay(const struct joiner *j);

/* behind.c: how long after an end audit's record of it is waited for. */
int64_t joiner_audit_wait(const struct joiner *j);

/* behind.c: it waits for audit, which is behind. */
bool joiner_is_behind(const struct joiner *j, const struct process *p, int64_t now_ns);

/* behind.c: puts out those that waited for audit long enough. */
void joiner_close_behind(struct joiner *j, int64_t now_ns);

/* hints.c: a thread ended, says audit, and of its process nothing is known. */
void joiner_add_hint(struct joiner *j, struct process *told, const struct frame *f);

/* hints.c: the end of this process was told now; was that of one of its threads before? */
void joiner_take_hint(struct joiner *j, struct process *p);

/* hints.c: forgets those that no end followed. */
void joiner_forget_hints(struct joiner *j, int64_t now_ns);

/* alone.c: all that others told of an end can be of this process. */
bool joiner_told_fits(const struct process *p, const struct process *told);

void joiner_mark_uncertain(struct exeunt_record *r);

#endif
