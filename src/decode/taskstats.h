/* SPDX-License-Identifier: MIT */
/*
 * taskstats messages -> one struct task_exit per ended task (a thread, or the only thread of a process).
 * Pure: bytes in, numbers out; no fd, no clock, no state. Struct versions 2 to 17 and later ones are understood by
 * offset and length, never by the header this was built with. What the kernel did not send is marked absent.
 */
#ifndef DECODE_TASKSTATS_H
#define DECODE_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

/* ac_flag (include/uapi/linux/acct.h) */
#define TASK_FORK 0x01 /* forked, not exec'ed; only told for a leader */
#define TASK_SU 0x02
#define TASK_CORE 0x08 /* a dump was begun, even where none was allowed */
#define TASK_XSIG \
	0x10 /* went through fatal signal delivery: also siblings ended by exit() or exec */
#define TASK_GROUP 0x20 /* version 12: the last task of its process */

/* The smallest struct that names a task: up to ac_majflt. */
#define TASKSTATS_MIN_SIZE 184

/* Which blocks of struct task_exit the kernel's struct reached. */
enum task_block {
	TASK_HAS_MEMORY = 1 << 0,   /* hiwater_rss .. write_syscalls */
	TASK_HAS_IO = 1 << 1,	    /* read_bytes .. cancelled */
	TASK_HAS_SWITCHES = 1 << 2, /* nvcsw, nivcsw */
	TASK_HAS_BTIME64 = 1 << 3,  /* btime is 64 bits wide */
	TASK_HAS_TGID = 1 << 4,	    /* tgid, tgetime_us, exe; and TASK_GROUP means something */
	TASK_HAS_AGGREGATE =
		1 << 5, /* an AGGR_TGID part came along: threads existed at some time */
	TASK_HAS_DELAY_RANGE = 1 << 6, /* max_ns and min_ns of each delay kept */
};

struct task_exit {
	uint16_t version;
	uint8_t flag;
	int8_t nice;
	uint32_t has;	      /* enum task_block */
	uint32_t delay_kinds; /* mask of 1 << enum exeunt_delay_kind that the kernel kept */
	uint32_t exit_code;   /* task->exit_code, as wait(2) has it */
	uint32_t seq;	      /* nlmsg_seq: counts per CPU */
	int32_t pid;	      /* of the task, initial pid namespace */
	int32_t tgid;	      /* with TASK_HAS_TGID; from the aggregate otherwise, else 0 */
	int32_t ppid;	      /* tgid of the real parent */
	uint32_t uid, gid;    /* real ids */
	char comm[16];	      /* raw, NUL-terminated, zero-padded */
	uint64_t btime;	      /* seconds since 1970: the true start second or the one behind it */
	uint64_t etime_us;    /* since this task's start, CLOCK_MONOTONIC */
	uint64_t tgetime_us;  /* since the leader's start */
	uint64_t utime_us, stime_us;
	uint64_t run_ns; /* cpu_run_virtual_total: without the last slice */
	uint64_t minflt, majflt;
	uint64_t hiwater_rss_kb, hiwater_vm_kb;
	uint64_t read_chars, write_chars, read_syscalls, write_syscalls;
	uint64_t read_bytes, write_bytes, cancelled_write_bytes;
	uint64_t nvcsw, nivcsw;
	uint64_t exe_dev, exe_inode;
	struct exeunt_delay delay[EXEUNT_DELAY_COUNT];
};

/*
 * Decodes the message at the head of a datagram of `len` bytes. *used becomes the bytes it took, so that the caller can
 * go on behind it; it is `len` after an error that leaves no way on.
 * delay_accounting: kernel.task_delayacct was on; off, delays other than the CPU's are absent unless they are not 0.
 * Returns 1 and fills *ret; 0 for a message that carries no task; -EBADMSG when it is cut or contradicts itself.
 */
int taskstats_decode(const void *data, size_t len, bool delay_accounting, struct task_exit *ret,
		     size_t *used);

#endif
