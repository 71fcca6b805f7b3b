/* SPDX-License-Identifier: MIT */
/*
 * The context table: who was this pid. Fed by proc connector events, by /proc and by audit, asked
 * when a process has ended and nothing of it can be read any more. Owns its entries and an open
 * /proc.
 *
 * At FORK a child gets what its parent had (a few references, no system call, but see below). At
 * EXEC the process itself is read: executable, arguments, working directory, control group, login
 * uid, session. What came from the parent, or could not be read in time, is marked; a value known
 * to be wrong (the parent's executable after an EXEC that was read too late) is not told at all,
 * and its mark stays.
 *
 * The login uid and the control group change without any event. So a parent is read again when it
 * forks: the first time after its own FORK or EXEC, then after 2, 4, 8 ms ... 1 s; and when its ids
 * change or a child turns out to differ.
 *
 * Bounds: entries, bytes, and reads of processes a second; what each of them cost is counted. Time
 * is passed in: CLOCK_MONOTONIC in ns, the kernel's own stamp where there is one. Never blocks but
 * for /proc. One thread.
 */
#ifndef JOIN_CONTEXT_H
#define JOIN_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

#include "base/list.h"

struct context;
struct pool_item;
struct proc_event_info;

/* Zero is the default of each member. */
struct context_options {
	const char *proc_path;	   /* NULL: "/proc"; "": none, as in a replay */
	bool no_args;		   /* arguments are never read */
	const char *const *redact; /* patterns, see context-args.h */
	size_t n_redact;
	uint32_t max_entries;	   /* 65,536 */
	size_t max_bytes;	   /* 32 MiB: entries and strings */
	uint32_t args_bytes;	   /* 4,096: of all arguments of a process */
	uint32_t args_count;	   /* 32 */
	uint32_t reads_per_second; /* 5,000 processes, each of some files; unused ones last 1 s */
	int64_t linger_ns;	   /* 10 s: how long an ended process waits for context_release() */
	int64_t (*clock)(void);	   /* CLOCK_MONOTONIC now; for tests */
};

/* What an entry may know. */
enum context_field {
	CONTEXT_COMM = 1 << 0,
	CONTEXT_EXE = 1 << 1,
	CONTEXT_ARGS = 1 << 2,
	CONTEXT_CWD = 1 << 3,
	CONTEXT_CGROUP = 1 << 4, /* with container id and unit */
	CONTEXT_LOGIN = 1 << 5,	 /* login uid and session */
	CONTEXT_UID = 1 << 6,	 /* real and effective */
	CONTEXT_GID = 1 << 7,
	CONTEXT_PARENT = 1 << 8, /* at fork */
};

enum context_flag {
	CONTEXT_BORN = 1 << 0,	     /* FORK was seen: start_ns is its stamp */
	CONTEXT_EXECED = 1 << 1,     /* EXEC was seen */
	CONTEXT_READ = 1 << 2,	     /* found in /proc: start_ns is from there, rounded down */
	CONTEXT_ENDED = 1 << 3,	     /* the leader's EXIT was seen; threads may go on */
	CONTEXT_RELEASED = 1 << 4,   /* joined; kept a moment for late events */
	CONTEXT_LEADERLESS = 1 << 5, /* the leader has ended; the process may go on */
	CONTEXT_KTHREAD = 1 << 6,
};

/* One process. Borrowed until the next call that is not context_to_record(). */
struct context_entry {
	struct context_entry *hash_next, **hash_at; /* what points to it */
	struct list list; /* living, ended or released, the longest untouched first */
	int32_t tgid;
	int32_t parent_tgid;
	/*
	 * With CONTEXT_BORN some 10 us late; with CONTEXT_READ up to 10 ms early; 0 with neither:
	 * not known.
	 */
	int64_t start_ns;
	int64_t end_ns;	      /* the last EXIT, with CONTEXT_ENDED or CONTEXT_RELEASED */
	int64_t seen_ns;      /* the latest time at which it is known to have existed */
	int64_t checked_ns;   /* when login and control group were read; or its release */
	int64_t exec_ns;      /* the last EXEC, of either source; 0: none */
	uint64_t start_ticks; /* as /proc/PID/stat told; 0: not read */
	struct pool_item *exe, *args, *cwd, *cgroup;
	uint32_t login_uid, session;
	uint32_t uid, euid, gid, egid;
	uint16_t known;	     /* enum context_field */
	uint16_t inherited;  /* from the parent; if not known: could not be read in time */
	uint16_t flags;	     /* enum context_flag */
	uint16_t checks;     /* since FORK or EXEC */
	uint8_t execs, told; /* EXECs shortly after one another: events, and what audit told */
	char comm[16];
};

/* Counts since start, but for the first two. */
struct context_stats {
	uint32_t entries;
	size_t bytes;
	uint64_t forks, execs;
	uint64_t reads;	  /* processes looked at in /proc */
	uint64_t gone;	  /* of them, no longer there or not whole: read too late */
	uint64_t denied;  /* of them, exe or cwd was refused: CAP_SYS_PTRACE is missing */
	uint64_t refused; /* reads left out, because the budget was spent */
	int64_t refused_first_ns, refused_last_ns; /* when; 0: never */
	uint64_t orphans;   /* FORKs whose parent was not known, and could not be read */
	uint64_t evicted;   /* entries that a bound cost, not yet joined */
	uint64_t expired;   /* ended, and nobody asked in time */
	uint64_t swept;	    /* found dead: their EXIT was lost */
	uint64_t args_cut;  /* lists of arguments that a bound cut */
	uint64_t no_memory; /* entries or values that an allocation cost */
};

/*
 * Makes a table; opens /proc, so that it can be read after privileges are gone. (Of those, exe and
 * cwd of other users need CAP_SYS_PTRACE for as long as it runs.) `options` may be NULL. Errors:
 * -EINVAL (a pattern that does not compile; *bad, if not NULL, is its index), -ENOMEM, those of
 * opening /proc.
 */
int context_new(struct context **ret, const struct context_options *options, size_t *bad);
void context_free(struct context *c);

/*
 * CLOCK_BOOTTIME minus CLOCK_MONOTONIC: starts in /proc count the time asleep. Set it now and then.
 */
void context_set_boot_offset(struct context *c, int64_t offset_ns);

/*
 * Reads every process that is not known yet, outside of the budget: at start, when the event socket
 * already listens, and after a loss. Returns how many were added, or a negative errno of reading
 * /proc.
 */
int context_seed(struct context *c, int64_t now_ns);

/* Takes any event; calls the ones below. */
void context_event(struct context *c, const struct proc_event_info *e);

void context_fork(struct context *c, int32_t parent_tgid, int32_t tgid, int64_t mono_ns);
/*
 * Reads /proc: about 30 us, for most of what is read has to be made first. To be called as
 * soon as the event can be read, not in batches: a short program is gone half a millisecond after
 * its EXEC. Of true(1) 500 times a second on two CPUs, executable and arguments were caught in 99.5
 * % on a machine with time to spare; with both CPUs busy in 86 %, under nice -20 in 89 %, under
 * SCHED_FIFO in all; and by a reader that slept 5 ms before it read, in 10 %. What an EXEC leaves
 * alone (login uid, session, control group, parent) was right in every one of these.
 */
void context_exec(struct context *c, int32_t tgid, int64_t mono_ns);
void context_comm(struct context *c, int32_t tgid, const char comm[16], int64_t mono_ns);
void context_uid(struct context *c, int32_t tgid, uint32_t uid, uint32_t euid, int64_t mono_ns);
void context_gid(struct context *c, int32_t tgid, uint32_t gid, uint32_t egid, int64_t mono_ns);
void context_sid(struct context *c, int32_t tgid, int64_t mono_ns);
/*
 * An EXIT of thread `pid`. The leader's may come while threads go on, or when one of them calls
 * exec.
 */
void context_exit(struct context *c, int32_t tgid, int32_t pid, int64_t mono_ns);

/* An EXEC as audit tells it. What is not told is NULL. */
struct context_told {
	int32_t tgid;
	int64_t mono_ns; /* of the call: before the event's stamp, and up to a tick early */
	const struct exeunt_bytes *exe, *cwd, *args;
	uint32_t n_args;
	bool args_cut;	/* some are missing or shortened, nobody knows which */
	bool has_login; /* login uid and session were told */
	uint32_t login_uid, session;
};

/*
 * Sets what was told as known, bounded and redacted like what is read from /proc; what was not told
 * of the new program is marked. Where the EXEC event came as well, what /proc gave in time is kept.
 * A process that is not known gets an entry: nothing tells whose child it is, and nobody inherits
 * from it where there are no events.
 */
void context_told_exec(struct context *c, const struct context_told *told);

/*
 * Arguments from elsewhere, within the bounds and redacted; open_end: the last ones are missing.
 * Returns their number, 0 when none may be told. Borrowed until the next call.
 */
uint32_t context_clean_args(struct context *c, const struct exeunt_bytes *args, uint32_t n,
			    bool open_end, const struct exeunt_bytes **ret);

/* An audit LOGIN record: better than what was inherited, and in time where /proc was not. */
void context_login(struct context *c, int32_t tgid, uint32_t login_uid, uint32_t session,
		   int64_t mono_ns);

/*
 * Finds the process that had this tgid at `mono_ns`, which may be a little early or late: an
 * estimate of its start, or any time while it lived. Read what the event socket holds first.
 * Returns NULL when it is not known.
 */
const struct context_entry *context_lookup(struct context *c, int32_t tgid, int64_t mono_ns);

/* Its exit record is made: the entry may go. NULL is accepted. */
void context_release(struct context *c, const struct context_entry *e, int64_t now_ns);

/*
 * Events were lost: from now on context_tick() looks at every living entry, and drops those that
 * are gone. What was born meanwhile is found by context_seed(), or when it is first heard of.
 */
void context_lost(struct context *c, int64_t now_ns);

/*
 * To be called about every 100 ms: drops what waited too long, and looks at some of the living
 * within the budget.
 */
void context_tick(struct context *c, int64_t now_ns);

/*
 * Fills what the entry knows and the record does not have yet, and the marks. Call it after
 * taskstats was merged: a process that did not only fork, but whose EXEC was never seen, is not
 * given its parent's executable.
 */
void context_to_record(const struct context_entry *e, struct exeunt_record *r);

/*
 * The executable by its inode, which taskstats tells: an entry that was read in time shows which
 * path that is, and one that was not is given it, if that is certain (context-exe.h). `e` may be
 * NULL: then it is given with a mark, for nobody knows where the process lived. Call it behind
 * context_to_record().
 */
void context_exe_by_inode(struct context *c, const struct context_entry *e,
			  struct exeunt_record *r);

void context_stats(const struct context *c, struct context_stats *ret);

#endif
