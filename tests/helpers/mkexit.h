/* SPDX-License-Identifier: MIT */
/*
 * The shared types of mkexit: it makes processes die in a named way and prints what wait4(2) told
 * about each.
 *
 * A case runs in a forked child. What only the child can know (its name, ids, own rusage, the
 * moment of its end) it writes into a `struct slot` in shared memory; the parent adds what the
 * kernel says at wait4 and prints one JSON object per ended process. The memory is a memfd, so that
 * it survives an exec. Run it in the initial pid and user namespace: the pids and ids printed are
 * those that it sees itself.
 */
#ifndef HELPERS_MKEXIT_H
#define HELPERS_MKEXIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define MK_MAX_PARALLEL 64
#define MK_MAX_THREADS 256
#define MK_MAX_DEATHS 2

/* What a process reads about itself just before its end. */
struct self_report {
	int64_t utime_us, stime_us;
	int64_t maxrss_kib, minflt, majflt, nvcsw, nivcsw; /* getrusage(RUSAGE_SELF) */
	uint64_t rchar, wchar, syscr, syscw;		   /* /proc/self/io */
	uint64_t read_bytes, write_bytes, cancelled_bytes; /* /proc/self/io */
	uint64_t vm_hwm_kib, vm_peak_kib;		   /* /proc/self/status */
};

/*
 * One process that dies; lives in shared memory. Filled with mkexit's own values before the fork.
 */
struct death {
	_Atomic int32_t pid;
	int32_t parent_pid; /* at the end */
	uint32_t uid, gid, euid, egid, suid, sgid;
	char comm[16];	     /* the leader's */
	uint32_t threads;    /* tasks that the process had, the leader among them */
	bool execed;	     /* replaced its image since the fork */
	bool unwaited;	     /* mkexit cannot wait for it: `status` is what it means to end with */
	int32_t status;	     /* only if unwaited */
	int64_t real_end_ns; /* CLOCK_REALTIME just before its end; 0: it could not tell */
	uint64_t did_read_bytes, did_write_bytes, did_read_calls, did_write_calls;
	bool has_self;
	struct self_report self;
};

struct slot {
	_Atomic int ready; /* the child is where the case wants it */
	_Atomic int go;	   /* the parent lets it go on */
	char kind[32];	   /* what a random case chose */
	char failed[64];   /* the case could not be set up, and why */
	uint32_t n_deaths;
	struct death death[MK_MAX_DEATHS];
};

struct mk_options {
	uint64_t count, seed;
	unsigned int threads; /* how many tasks a threaded case has */
	unsigned int max_threads, parallel, timeout_s;
	int cpu; /* -1: any */
	unsigned int cpu_ms, read_kib, write_kib, fault_pages, sleeps, yields;
	char dir[64]; /* scratch directory */
};

/* What a case's function gets, in the child. */
struct child {
	const struct mk_options *opt;
	struct slot *s;
	struct death *d; /* &s->death[0] */
	unsigned int slot_index;
	uint64_t index; /* which child of the run */
	uint64_t rng;
	int arg;
	const char *text;
};

/* What the parent does once the child is ready. */
enum mk_after {
	AFTER_NOTHING,
	AFTER_KILL,	   /* SIGKILL */
	AFTER_KILL_ASLEEP, /* SIGKILL once it sleeps in the kernel */
	AFTER_GO,	   /* take a pidfd of the second process and let it go on */
};

#define CASE_VFORK 0x1	 /* vfork + _exit(arg) by mkexit itself */
#define CASE_NEWPID 0x2	 /* the child is pid 1 of a pid namespace */
#define CASE_ALONE 0x4	 /* nothing beside it, and orphans go to init instead of mkexit */
#define CASE_CORE 0x8	 /* RLIMIT_CORE lets a core be written, in the scratch directory */
#define CASE_HIDDEN 0x10 /* not part of `all` */

struct mk_case {
	const char *name;
	const char *what;
	void (*child)(struct child *c);
	int arg;
	const char *text;
	enum mk_after after;
	unsigned int flags;
};

/* mkexit-note.c: what a child says about itself; safe between fork and exec. */
void note_who(struct death *d);
void note_name(struct death *d, const char *name);
void note_end(struct death *d);
void note_self(struct death *d);
_Noreturn void end_code(struct child *c, int code);
_Noreturn void child_fail(struct child *c, const char *what);
_Noreturn void child_exec(struct child *c, int code);
_Noreturn void mk_end_after_exec(const char *fd, const char *index, const char *code);
void set_ready(struct child *c);
void wait_go(struct child *c);
int64_t now_ns(int clock);
void sleep_ns(int64_t ns);
uint64_t rng_next(uint64_t *state);
uint32_t rng_below(uint64_t *state, uint32_t n);

/* mkexit-plain.c, mkexit-family.c: processes of one thread. */
void child_exit(struct child *c);
void child_burst(struct child *c);
void child_signal(struct child *c);
void child_fault(struct child *c);
void child_block(struct child *c);
void child_spin(struct child *c);
void child_name(struct child *c);
void child_pinned(struct child *c);
void child_seccomp(struct child *c);
void child_exec_plain(struct child *c);
void child_setuid(struct child *c);
void child_setresuid(struct child *c);
void child_userns(struct child *c);
void child_orphan(struct child *c);
void child_autoreap(struct child *c);
void child_vfork_exec(struct child *c);
int seccomp_kill_getppid(uint32_t action);

/* mkexit-threads.c: processes of several threads, by a plan; mkexit-usage.c: known work. */
enum thread_end {
	END_SLEEP,	   /* sleeps until something ends it */
	END_SPIN,	   /* burns CPU until something ends it */
	END_RETURN,	   /* returns from its start function; not for the leader */
	END_PTHREAD_EXIT,  /* pthread_exit() */
	END_SYS_EXIT,	   /* exit(2) of this thread alone, with a code */
	END_GROUP,	   /* exit_group(2) */
	END_LAST_SYS_EXIT, /* exit(2) when all others are about to be gone */
	END_LAST_GROUP,	   /* exit_group(2) when all others are about to be gone */
	END_JOIN_GROUP,	   /* pthread_join of all, then exit_group(2); only the leader */
	END_KILL,	   /* SIGKILL to its own process */
	END_SEGV,
	END_EXEC,
	END_SECCOMP, /* killed alone by a seccomp filter */
};

struct thread_act {
	enum thread_end end;
	int code;
	int64_t delay_ns;
};

/* act[0] is the leader's; all start together. */
struct thread_plan {
	unsigned int n;
	struct thread_act act[MK_MAX_THREADS];
};

_Noreturn void plan_run(struct child *c, struct thread_plan *plan);
void child_threads(struct child *c);
void child_random(struct child *c);
void child_usage(struct child *c);

/* The shapes of child_threads, in `arg`. */
enum thread_shape {
	SHAPE_LEADER_FIRST,
	SHAPE_LEADER_FIRST_RAW,
	SHAPE_LEADER_EARLY,
	SHAPE_LEADER_LAST,
	SHAPE_WORKER_EXIT,
	SHAPE_RACE,
	SHAPE_SYSEXIT,
	SHAPE_BUSY,
	SHAPE_SEGV,
	SHAPE_EXEC_WORKER,
	SHAPE_EXEC_LEADER,
	SHAPE_EXEC_ORPHANED,
	SHAPE_SECCOMP,
};

/* mkexit-cases.c */
extern const struct mk_case mk_cases[];
extern const size_t mk_n_cases;
/*
 * Finds a case by its full name ("exit-7", "signal-TERM" too) and copies it. Returns 0 or -ENOENT.
 */
int case_find(const char *name, struct mk_case *ret);
void case_list(void);

/*
 * mkexit-run.c: runs cases, prints each death. Returns 0, or 1 if one failed or had to be killed.
 */
int run_init(struct mk_options *opt);
int run_case(const struct mk_options *opt, const struct mk_case *c, const char *name);
int run_finish(struct mk_options *opt);
struct slot *slots_map(int fd);
int slots_fd(void);

/* mkexit-print.c: the truth about one death. */
struct truth {
	bool ended;
	int status;
	struct rusage usage;
	int64_t real_before_ns, mono_before_ns; /* before the fork */
	int64_t real_after_ns, mono_after_ns;	/* after the wait */
	bool timed_out;
};

void print_death(const char *name, uint64_t index, const struct slot *s, unsigned int which,
		 const struct truth *t);

#endif
