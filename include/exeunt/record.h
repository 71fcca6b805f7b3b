/* SPDX-License-Identifier: MIT */
/*
 * The record: what libexeunt says about one ended process, one loss, or itself.
 *
 * A record is borrowed: it and everything it points to are valid only during the call that hands it over.
 * A member means something only if its presence bit is set (exeunt_has()): absent is unknown, and 0 is a value.
 * Within EXEUNT_RECORD_VERSION 1 members are only added, at the end; `size` tells a newer caller what an older
 * library filled. Times are nanoseconds since 1970 UTC (CLOCK_REALTIME), durations carry their unit in the name.
 * The JSON names of the fields, and their meaning for a reader, are in exeunt-record(5).
 */
#ifndef EXEUNT_RECORD_H
#define EXEUNT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXEUNT_RECORD_VERSION 1
#define EXEUNT_SCHEMA "exeunt/1"

/* What a record is about. */
enum exeunt_type {
	EXEUNT_TYPE_EXIT = 1,	/* a process ended; exactly one per process */
	EXEUNT_TYPE_THREAD = 2, /* a thread ended; only when asked for */
	EXEUNT_TYPE_AMEND = 3,	/* facts that came after the exit record, same entity */
	EXEUNT_TYPE_LOSS = 4,	/* something was not seen or not delivered: member `loss` */
	EXEUNT_TYPE_START = 5,	/* every source is open and tested: member `status` */
	EXEUNT_TYPE_STATUS = 6, /* counters and the balance so far: member `status` */
	EXEUNT_TYPE_STOP = 7,	/* the last record: member `status` */
	EXEUNT_TYPE_INTERIM = 8 /* a process that still runs, on request; never an exit */
};

/* Kernel sources; a set of them is a mask of 1u << source. */
enum exeunt_source {
	EXEUNT_SOURCE_TASKSTATS = 0,  /* generic netlink TASKSTATS (kernel/taskstats.c) */
	EXEUNT_SOURCE_PACCT = 1,      /* BSD process accounting, acct(2) (kernel/acct.c) */
	EXEUNT_SOURCE_AUDIT = 2,      /* audit records (kernel/auditsc.c) */
	EXEUNT_SOURCE_PROCEVENTS = 3, /* proc connector (drivers/connector/cn_proc.c) */
	EXEUNT_SOURCE_OUTPUT = 4,     /* not a kernel source: our own sinks, in loss records */
	EXEUNT_SOURCE_COUNT = 5
};

#define EXEUNT_SOURCE_BIT(source) (1u << (source))

/* How a process ended. */
enum exeunt_cause {
	EXEUNT_CAUSE_EXITED = 0,     /* by itself: exit code */
	EXEUNT_CAUSE_SIGNALED = 1,   /* killed by a signal, no core written */
	EXEUNT_CAUSE_CORE_DUMPED = 2 /* killed by a signal, core written */
};

/* The kinds of delay that delay accounting keeps (include/uapi/linux/taskstats.h). */
enum exeunt_delay_kind {
	EXEUNT_DELAY_CPU = 0,
	EXEUNT_DELAY_BLKIO = 1,
	EXEUNT_DELAY_SWAPIN = 2,
	EXEUNT_DELAY_RECLAIM = 3, /* the kernel's freepages_* */
	EXEUNT_DELAY_THRASHING = 4,
	EXEUNT_DELAY_COMPACT = 5,
	EXEUNT_DELAY_WPCOPY = 6,
	EXEUNT_DELAY_IRQ = 7,
	EXEUNT_DELAY_COUNT = 8
};

/*
 * The fields of a record, in the order in which they are written out. New ones are added before
 * EXEUNT_F_COUNT only; a number never changes its meaning.
 */
enum exeunt_field {
	EXEUNT_F_PID,
	EXEUNT_F_PARENT_PID,
	EXEUNT_F_PARENT_PID_AT_FORK,
	EXEUNT_F_ENTITY_ID,
	EXEUNT_F_COMM,
	EXEUNT_F_EXE_PATH,
	EXEUNT_F_EXE_DEV,
	EXEUNT_F_EXE_INODE,
	EXEUNT_F_ARGS,
	EXEUNT_F_CREATION_TIME,
	EXEUNT_F_CREATION_PRECISION,
	EXEUNT_F_EXIT_TIME,
	EXEUNT_F_EXIT_PRECISION,
	EXEUNT_F_EXIT_CODE,
	EXEUNT_F_EXIT_SIGNAL,
	EXEUNT_F_EXIT_SIGNAL_NAME,
	EXEUNT_F_EXIT_CORE_DUMPED,
	EXEUNT_F_EXIT_CAUSE,
	EXEUNT_F_EXIT_STATUS,
	EXEUNT_F_EXIT_CERTAIN,
	EXEUNT_F_THREADS,
	EXEUNT_F_FORKED_NOT_EXECED,
	EXEUNT_F_USED_PRIVILEGE,
	EXEUNT_F_UID,
	EXEUNT_F_USER,
	EXEUNT_F_GID,
	EXEUNT_F_GROUP,
	EXEUNT_F_EUID,
	EXEUNT_F_EGID,
	EXEUNT_F_SUID,
	EXEUNT_F_SGID,
	EXEUNT_F_TTY,
	EXEUNT_F_CWD,
	EXEUNT_F_NICE,
	EXEUNT_F_CGROUP,
	EXEUNT_F_THREAD_ID,
	EXEUNT_F_THREAD_NAME,
	EXEUNT_F_CONTAINER_ID,
	EXEUNT_F_UNIT,
	EXEUNT_F_ELAPSED,
	EXEUNT_F_CPU_USER,
	EXEUNT_F_CPU_SYSTEM,
	EXEUNT_F_CPU_RUN,
	EXEUNT_F_RSS_PEAK,
	EXEUNT_F_VM_PEAK,
	EXEUNT_F_VM_AT_EXIT,
	EXEUNT_F_READ_BYTES,
	EXEUNT_F_WRITE_BYTES,
	EXEUNT_F_CANCELLED_WRITE_BYTES,
	EXEUNT_F_READ_CHARS,
	EXEUNT_F_WRITE_CHARS,
	EXEUNT_F_READ_SYSCALLS,
	EXEUNT_F_WRITE_SYSCALLS,
	EXEUNT_F_MINOR_FAULTS,
	EXEUNT_F_MAJOR_FAULTS,
	EXEUNT_F_VOLUNTARY_SWITCHES,
	EXEUNT_F_INVOLUNTARY_SWITCHES,
	/* EXEUNT_DELAY_COUNT groups of four: count, total, max, min */
	EXEUNT_F_DELAY,
	EXEUNT_F_DELAY_LAST = EXEUNT_F_DELAY + 4 * EXEUNT_DELAY_COUNT - 1,
	EXEUNT_F_LOGIN_UID,
	EXEUNT_F_LOGIN_USER,
	EXEUNT_F_SESSION,
	EXEUNT_F_SUBJECT,
	EXEUNT_F_AUDIT_KEY,
	EXEUNT_F_AUDIT_SERIAL,
	EXEUNT_F_SOURCES,
	EXEUNT_F_MISSING,
	EXEUNT_F_INHERITED,
	EXEUNT_F_BACKFILLED,
	EXEUNT_F_COUNT
};

#define EXEUNT_PRESENT_WORDS 2

/* Bytes as the kernel gave them: any byte may occur, and there need be no NUL behind. */
struct exeunt_bytes {
	const char *data;
	uint32_t len;
};

/* One kind of delay, in nanoseconds; presence is per member: EXEUNT_F_DELAY + 4 * kind + 0..3. */
struct exeunt_delay {
	uint64_t count;
	uint64_t total_ns;
	uint64_t max_ns; /* taskstats version 15 and later */
	uint64_t min_ns;
};

/* Why something was lost. */
enum exeunt_loss_cause {
	EXEUNT_LOSS_SOCKET_OVERFLOW, /* the kernel found our receive buffer full; count from SO_MEMINFO */
	EXEUNT_LOSS_SEQUENCE_GAP, /* a per-CPU sequence number is missing that no overflow explains */
	EXEUNT_LOSS_ACCOUNTING_PAUSED, /* pacct: no space, file system gone, switched off */
	EXEUNT_LOSS_BACKLOG,	       /* audit: the kernel's own queue was full */
	EXEUNT_LOSS_SLOW_SINK,	       /* the reader of our output was too slow */
	EXEUNT_LOSS_TABLE_FULL,	       /* a bounded table of ours had no room */
	EXEUNT_LOSS_UNPARSABLE,	       /* a message that could not be decoded */
	EXEUNT_LOSS_NOT_RUNNING,       /* the source did not work for a while */
	EXEUNT_LOSS_RETENTION,	       /* what a store kept was dropped for its age or size */
	EXEUNT_LOSS_CAUSE_COUNT
};

/* For EXEUNT_TYPE_LOSS. */
struct exeunt_loss {
	enum exeunt_source source;
	enum exeunt_loss_cause cause;
	uint64_t count;		 /* messages; for taskstats one is one ended task */
	bool exact;		 /* false: at least so many */
	int32_t cpu;		 /* -1: not of one CPU */
	int64_t window_start_ns; /* it happened between these two */
	int64_t window_end_ns;
	uint64_t backfilled; /* how many of them another source brought */
};

/* The ledger: what came in, what went out, what did not. Counts since start. */
struct exeunt_balance {
	uint64_t exits;	       /* exit records made */
	uint64_t threads_seen; /* task records decoded, of processes and threads */
	uint64_t amends;
	uint64_t backfilled;  /* exits that another source brought after a loss */
	uint64_t lost;	      /* sum of the loss records of the source that leads */
	uint64_t lost_output; /* records that a slow sink cost */
	uint64_t filtered;    /* exits that the consumer kept back: --filter, --count */
	uint64_t unparsable;  /* messages that no decoder took */
	uint64_t evicted;     /* entries that a full table cost */
	uint64_t
		unmatched; /* told by a second source of a process that the leading one never had */
	uint64_t pending;  /* processes that wait for late parts now */
	uint64_t unfinished; /* threads of living processes held now */
	uint64_t records;    /* records handed over, of every type */
};

/* How one source is. */
enum exeunt_source_state {
	EXEUNT_STATE_OFF,     /* not asked for */
	EXEUNT_STATE_OPEN,    /* works, and was tested */
	EXEUNT_STATE_REFUSED, /* cannot work here: `reason` and `remedy` say why and what mends it */
	EXEUNT_STATE_FAILED   /* worked, and stopped */
};

struct exeunt_source_status {
	enum exeunt_source source;
	enum exeunt_source_state state;
	int error;	    /* errno of the refusal, or 0 */
	const char *reason; /* one sentence, or NULL */
	const char *remedy; /* what to do or to type, or NULL */
	int version;	    /* of the kernel's struct or file format; 0: not known */
	uint64_t messages;  /* read from the kernel */
	uint64_t bytes;
	uint64_t lost;
	uint64_t receive_buffer; /* bytes granted for each socket; 0: none */
	uint32_t sockets;
	const char *detail; /* where it is read: multicast, unicast, stdin; a file; or NULL */
	bool tested;	    /* the end of a test process of ours arrived by it */
};

/* For EXEUNT_TYPE_START, _STATUS and _STOP. */
struct exeunt_status {
	const char *version;	    /* of exeunt */
	const char *kernel_release; /* uname -r */
	int64_t started_ns;
	bool delay_accounting; /* kernel.task_delayacct at start */
	struct exeunt_balance balance;
	const struct exeunt_source_status *sources;
	size_t n_sources;
};

struct exeunt_record {
	uint32_t size;	  /* sizeof, as the library was built */
	uint16_t version; /* EXEUNT_RECORD_VERSION */
	uint16_t type;	  /* enum exeunt_type */
	uint64_t seq;	  /* 1, 2, 3 ... per run: a gap is a record that a consumer missed */
	int64_t time_ns;  /* when this record was made */
	uint64_t present[EXEUNT_PRESENT_WORDS];
	uint64_t inherited
		[EXEUNT_PRESENT_WORDS]; /* fields that came from the parent or were read late */
	uint32_t sources;		/* mask of those that saw this exit */
	uint32_t missing;		/* mask of active ones that should have and did not */
	bool backfilled;

	/* who */
	int32_t pid;	    /* tgid in the initial pid namespace: taskstats ac_tgid, pacct ac_pid */
	int32_t parent_pid; /* tgid of the real parent at exit: taskstats ac_ppid */
	int32_t parent_pid_at_fork;
	int32_t thread_id; /* only _THREAD: taskstats ac_pid */
	/* Start on CLOCK_MONOTONIC in ns as first estimated; names the process together with boot id and pid. */
	uint64_t entity_start_ns;
	char comm
		[20]; /* the leader's task->comm, raw, NUL behind: 15 bytes from taskstats, 16 from old accounting files */
	char thread_name[20];
	struct exeunt_bytes exe_path;
	uint64_t exe_dev; /* taskstats ac_exe_dev: huge_encode_dev() */
	uint64_t exe_inode;
	const struct exeunt_bytes *args;
	uint32_t n_args;
	uint32_t uid, gid; /* real ids in the initial user namespace */
	uint32_t euid, egid, suid, sgid;
	struct exeunt_bytes user, group;
	struct exeunt_bytes tty, cwd, cgroup, container_id, unit;
	int32_t nice;

	/* when */
	int64_t creation_time_ns;
	uint64_t creation_precision_ns;
	int64_t exit_time_ns;
	uint64_t exit_precision_ns;

	/* how */
	uint32_t exit_status; /* as wait(2) tells it: code << 8 | signal | 0x80 if core */
	uint32_t exit_code;   /* 0..255 */
	uint32_t exit_signal;
	enum exeunt_cause exit_cause;
	bool exit_core_dumped;
	bool exit_certain;

	/* what it cost; sums over threads unless said otherwise */
	uint32_t threads; /* task records summed into this one */
	bool forked_not_execed, used_privilege;
	uint64_t elapsed_us; /* wall time, CLOCK_MONOTONIC: taskstats ac_tgetime */
	uint64_t cpu_user_us, cpu_system_us;
	uint64_t cpu_run_ns;			/* taskstats cpu_run_virtual_total */
	uint64_t rss_peak_bytes, vm_peak_bytes; /* maximum over threads: hiwater_rss, hiwater_vm */
	uint64_t vm_at_exit_bytes;		/* pacct ac_mem */
	uint64_t read_bytes, write_bytes;	/* storage; the kernel rounds down to 1,024 */
	uint64_t cancelled_write_bytes;
	uint64_t read_chars, write_chars;	/* read(2), write(2) and kin */
	uint64_t read_syscalls, write_syscalls; /* rounded down to 1,024 too */
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	struct exeunt_delay delay[EXEUNT_DELAY_COUNT];

	/* audit */
	uint32_t login_uid, session;
	struct exeunt_bytes login_user, subject, audit_key;
	uint64_t audit_serial;

	/* for the other types */
	const struct exeunt_loss *loss;
	const struct exeunt_status *status;
};

/* True if `field` holds a value. */
static inline bool exeunt_has(const struct exeunt_record *r, enum exeunt_field field)
{
	return r->present[field / 64] >> (field % 64) & 1;
}

#ifdef __cplusplus
}
#endif

#endif
