/* SPDX-License-Identifier: MIT */
/*
 * One record of BSD process accounting, as acct(2) makes the kernel write it: bytes in, fields out. Pure.
 *
 * Byte 0 is the flags, byte 1 the version, with 0x80 set by a big-endian writer; every number is in the writer's order.
 *
 *	v3   64 bytes  current: 32-bit ids, pid, ppid, elapsed time as a float
 *	v2   64 bytes  kernels without CONFIG_BSD_PROCESS_ACCT_V3, all but m68k: 16-bit and 32-bit ids, no pid
 *	v1   62 bytes  the same on m68k, which aligns 32-bit numbers to 2 bytes and has no ac_ahz
 *	v0   64 bytes  before 2.6.7: 16-bit ids; m68k: 62 bytes
 *
 * Certain, from the kernel's headers and acct.c of 2.4.0 to 6.12: the layouts of v0, v2 and v3 on every architecture
 * that aligns a 32-bit number to 4 bytes; that v0 is written over zeroed memory, so that its byte 1 is 0 in both byte
 * orders (the order is told by content); that v1 is compiled for m68k alone. Red Hat's 2.4 kernels keep 32-bit ids in
 * the last 8 of the 10 bytes of padding of v0; elsewhere they are 0.
 * Assumed: that m68k's v0 is its v1 without the 32-bit ids and the long elapsed time ("binary compatible on m68k" in
 * linux/acct.h); that v1 ticks 100 times a second (USER_HZ of m68k) and v0 too (AHZ of its header; alpha and ia64 of
 * that time counted elapsed time in ticks of 1/1024 s, and nothing in the record tells). Little-endian v1 has no
 * known writer, and is read as one would expect.
 *
 * ac_io is not decoded: mainline writes 0, and kernels are known that put something else there.
 */
#ifndef DECODE_PACCT_H
#define DECODE_PACCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pacct_format {
	PACCT_NONE,
	PACCT_V0_LE,
	PACCT_V0_BE,
	PACCT_V0_M68K,
	PACCT_V1_LE,
	PACCT_V1_BE,
	PACCT_V2_LE,
	PACCT_V2_BE,
	PACCT_V3_LE,
	PACCT_V3_BE,
	PACCT_FORMATS
};

#define PACCT_MAX_SIZE 64
#define PACCT_MIN_SIZE 62

/* ac_flag, an OR over all threads of the process (AFORK: the leader's) */
#define PACCT_AFORK 0x01u   /* forked, and no exec since; kernel threads too */
#define PACCT_ASU 0x02u	    /* used a privilege */
#define PACCT_ACOMPAT 0x04u /* never set by Linux */
#define PACCT_ACORE 0x08u   /* a thread began to dump core, whether or not a core came of it */
#define PACCT_AXSIG \
	0x10u /* a thread went through the delivery of a fatal signal: exit_group() sends one too */
#define PACCT_KNOWN_FLAGS 0x3fu

/* Presence of what a record may lack. */
#define PACCT_HAS_PID 0x001u   /* and ppid: v3 */
#define PACCT_HAS_UID 0x002u   /* and gid */
#define PACCT_HAS_BTIME 0x004u /* not clamped */
#define PACCT_HAS_STATUS \
	0x008u /* absent for a kernel thread that ended with an error code, which is no wait status */
#define PACCT_HAS_ETIME 0x010u
#define PACCT_HAS_UTIME 0x020u /* this and the next four: not saturated */
#define PACCT_HAS_STIME 0x040u
#define PACCT_HAS_MEM 0x080u
#define PACCT_HAS_MINFLT 0x100u
#define PACCT_HAS_MAJFLT 0x200u
#define PACCT_HAS_TTY 0x400u

struct pacct_exit {
	uint64_t offset; /* of the record in its file */
	uint32_t present;
	uint8_t format;	 /* enum pacct_format */
	uint8_t version; /* 0..3 */
	bool big_endian;
	/*
	 * Nothing ended: the kernel appends such a record for the process that switches accounting off, to another file,
	 * or unmounts below it (kernel/acct.c, acct_pin_kill). Told by ac_mem 0 without AFORK, since a user process has
	 * memory and a kernel thread never calls exec. Kernels before 2.6.16 filled ac_mem here too: not told there.
	 */
	bool phantom;
	uint8_t flags;
	uint8_t comm_len;
	uint16_t ahz;	 /* ticks a second of all times in the record */
	uint16_t tty;	 /* old-encoded: major << 8 | minor */
	uint32_t status; /* of the leader thread, as wait(2) would tell it */
	uint32_t uid, gid;
	uint32_t pid, ppid;
	uint32_t btime_s;	     /* seconds since 1970 */
	uint64_t etime_us;	     /* elapsed, from the leader's start */
	uint64_t etime_precision_ns; /* the truth is less than this away */
	uint64_t utime_us, stime_us;
	uint64_t mem_kib; /* virtual size at the end, not the average that its old comment says */
	uint64_t minflt, majflt, swaps;
	char comm[17]; /* at most 16 bytes, NUL behind */
	char tty_text
		[15]; /* "pts/0", "tty1", "ttyS0", "4:300"; NUL-terminated, "" if no terminal */
};

static inline size_t pacct_size(enum pacct_format format)
{
	return format >= PACCT_V0_M68K && format <= PACCT_V1_BE ? 62 : 64;
}

/*
 * How sure it is that the bytes at `p` (pacct_size() of them) are a record of `format`: -1 cannot be, else a weight of
 * evidence; PACCT_SURE and more is sure without looking at the surroundings.
 */
#define PACCT_SURE 6
int pacct_weigh(const uint8_t *p, enum pacct_format format);

/* v0 has no version byte to speak of, and little-endian v1 no known writer: tables and strings look like them. */
static inline bool pacct_is_weak(enum pacct_format format)
{
	return format <= PACCT_V1_LE;
}

/* The weight that must be reached. */
static inline int pacct_needed(enum pacct_format format)
{
	return pacct_is_weak(format) ? PACCT_SURE + 2 : PACCT_SURE;
}

/*
 * The format that fits the `len` bytes at `p` best, and its weight; PACCT_NONE if none can. `before` breaks ties: the
 * format of the record in front.
 */
enum pacct_format pacct_recognise(const uint8_t *p, size_t len, enum pacct_format before,
				  int *weight);

/*
 * Cheap: the record at `p` is of `format` and nothing about it is odd. For runs of one format; what it refuses may
 * still be good, and is to be weighed. `old_clock`: start times before 1990 are not odd in this file.
 */
bool pacct_continues(const uint8_t *p, enum pacct_format format, bool old_clock);

/* Start times before this do not occur unless the clock was not set. */
#define PACCT_CLOCK_SET UINT32_C(631152000) /* 1990 */

/* Fills all of `e` from a record that pacct_weigh() did not refuse. */
void pacct_decode(const uint8_t *p, enum pacct_format format, uint64_t offset,
		  struct pacct_exit *e);

/* "v3", "v0-m68k" ..., with "-be" where the writer was big-endian. */
const char *pacct_format_name(enum pacct_format format);

/* The name of a terminal by its old-encoded number, as in /dev; "" for 0. Returns the length. */
size_t pacct_tty_text(char buf[15], uint16_t tty);

#endif
