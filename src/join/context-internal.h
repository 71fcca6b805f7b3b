/* SPDX-License-Identifier: MIT */
/* What the files of the context table share; nobody else includes it. See context.h. */
#ifndef JOIN_CONTEXT_INTERNAL_H
#define JOIN_CONTEXT_INTERNAL_H

#include <limits.h>

#include "base/procfs.h"
#include "base/util.h"
#include "join/context-args.h"
#include "join/context-exe.h"
#include "join/context-pool.h"
#include "join/context.h"

/* Which parts of a process to read, and which were read. */
#define READ_PROGRAM (CONTEXT_EXE | CONTEXT_ARGS | CONTEXT_CWD)
#define READ_LOGIN (CONTEXT_LOGIN | CONTEXT_CGROUP)
#define READ_IDS (CONTEXT_UID | CONTEXT_GID)

/*
 * A cgroup file has a line for each hierarchy, a dozen with version 1; longer ones are cut, and say
 * what they can.
 */
#define CGROUP_MAX 8192

/* One process as /proc showed it. Kept in the table, because it is too big for the stack. */
struct snapshot {
	uint16_t got; /* enum context_field */
	bool denied;
	bool has_stat; /* else it is known to be the process that was expected, by its age */
	struct procfs_stat stat;
	struct procfs_ids ids;
	uint32_t login_uid, session;
	struct exe_file file; /* at the path of exe */
	size_t exe_len, cwd_len, cgroup_len;
	struct args_list args;
	char exe[PATH_MAX], cwd[PATH_MAX], cgroup[CGROUP_MAX];
};

/*
 * The times of audit are those of the last tick, 10 ms at 100 Hz; with what two clock reads may
 * differ.
 */
#define TOLD_EARLY_NS (12 * NS_PER_MSEC)
/* EXECs so far apart are told apart by their times alone; audit is not behind by as much. */
#define EXEC_APART_NS NS_PER_SEC

struct slab;

struct context {
	struct context_entry **buckets;
	uint32_t mask; /* number of buckets, a power of two, less one */
	struct list living, ended, released;
	struct slab *slabs;
	struct context_entry *free; /* chained by hash_next */
	struct pool pool;
	struct args_rules *args; /* NULL: arguments are not read */
	struct exe_cache *exes;	 /* NULL: none */
	uint32_t max_entries;
	size_t max_bytes;
	int64_t linger_ns;
	int proc_fd; /* -1: none */
	int64_t boot_offset_ns;
	int64_t tick_ns;       /* of start_ticks */
	int64_t young_ns;      /* within this time after a birth nobody else can have the pid */
	int64_t pid_max_at_ns; /* when it was read */
	int64_t (*clock)(void);
	/* budget: what may be spent, in ns of `cost_ns` each */
	int64_t credit_ns, cost_ns, credit_at_ns;
	int64_t lost_ns; /* entries not seen since then are suspect */
	struct context_stats stats;
	struct snapshot snap;
};

/* What a new program does not have from the one before it, and what it has. */
#define OF_PROGRAM (CONTEXT_COMM | CONTEXT_EXE | CONTEXT_ARGS)
#define READ_AT_EXEC (READ_PROGRAM | READ_LOGIN)

/* context-chain.c */

/* The newest generation that had begun by then. */
struct context_entry *context_find(const struct context *c, int32_t tgid, int64_t mono_ns);
/* Takes an entry, which has a tgid, into the hash; and out. */
void context_chain(struct context *c, struct context_entry *e);
void context_unchain(struct context_entry *e);
/* Sets start_ns, and with it the place among the generations. */
void context_date(struct context *c, struct context_entry *e, int64_t start_ns);

/* context.c */

/*
 * Makes an empty entry, evicting another one than `keep` where the bound asks for it. NULL: no
 * memory.
 */
struct context_entry *context_add(struct context *c, int32_t tgid,
				  const struct context_entry *keep);
/*
 * Notes that the process existed at that time; if it was thought to have ended before, it has not.
 */
void context_touch(struct context *c, struct context_entry *e, int64_t mono_ns);
void context_end(struct context *c, struct context_entry *e, int64_t mono_ns);
/* Evicts until the bytes are within the bound; `keep` stays. */
void context_shrink(struct context *c, const struct context_entry *keep);
/* Drops released entries whose time is over, at most `max`. */
void context_reap(struct context *c, int64_t now_ns, unsigned int max);

/* context-event.c */

/* Until it is read or told, nothing of the new program is known, and the rest may have changed. */
void context_forget_program(struct context *c, struct context_entry *e);
/*
 * An EXEC at that time is counted, and sets the counts of those long before back.
 */
void context_count_exec(struct context_entry *e, int64_t mono_ns);

/* context-read.c */

/*
 * Takes one read from the budget. A read that is only useful, not needed, leaves half of it for
 * others. Returns false when it is spent, and counts that.
 */
bool context_afford(struct context *c, int64_t now_ns, bool needed);
/*
 * Reads the process that has this pid now, into c->snap. expected: which it should be, or NULL;
 * what is the same as it has need not be read twice. Errors: -ESRCH (gone), -ENODATA (no /proc),
 * others.
 */
int context_read(struct context *c, int32_t tgid, uint16_t want, bool late,
		 const struct context_entry *expected);
/* True if c->snap had begun by then. */
bool context_began(const struct context *c, int64_t mono_ns);
/*
 * True if c->snap is the process of the entry, known to live at mono_ns; false if the pid was used
 * again since.
 */
bool context_is_same(const struct context *c, const struct context_entry *e, int64_t mono_ns);
/* Takes over what c->snap got. */
void context_apply(struct context *c, struct context_entry *e);
/* Set one value: it is the process's own. NULL: no memory. */
void context_set_item(struct context *c, struct context_entry *e, struct pool_item **at,
		      uint16_t field, struct pool_item *item);
void context_set_text(struct context *c, struct context_entry *e, struct pool_item **at,
		      uint16_t field, const char *data, size_t len);
void context_set_args(struct context *c, struct context_entry *e, const struct args_list *args);
/* Makes an entry that begins when c->snap says. NULL: no memory. */
struct context_entry *context_adopt(struct context *c, int32_t tgid, int64_t mono_ns);
/*
 * Reads login and control group again, if it is time to. Returns false if the pid turns out to be
 * another's.
 */
bool context_recheck(struct context *c, struct context_entry *e, int64_t mono_ns);

#endif
