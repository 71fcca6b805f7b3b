/* SPDX-License-Identifier: MIT */
/* Where the fields of accounting records lie, and reads in either byte order. For pacct.c and pacct_weigh.c only. */
#ifndef DECODE_PACCT_LAYOUT_H
#define DECODE_PACCT_LAYOUT_H

#include <endian.h>

#include "base/util.h"
#include "decode/pacct.h"
#include "decode/pacct_comp.h"

/* v3 */
enum {
	V3_FLAG = 0,
	V3_VERSION = 1,
	V3_TTY = 2,
	V3_STATUS = 4,
	V3_UID = 8,
	V3_GID = 12,
	V3_PID = 16,
	V3_PPID = 20,
	V3_BTIME = 24,
	V3_ETIME = 28,
	V3_UTIME = 32,
	V3_STIME = 34,
	V3_MEM = 36,
	V3_RW = 40,
	V3_MINFLT = 42,
	V3_MAJFLT = 44,
	V3_SWAPS = 46,
	V3_COMM = 48,
};

/* v0 to v2: the same up to the swaps */
enum {
	OLD_UID16 = 2,
	OLD_GID16 = 4,
	OLD_TTY = 6,
	OLD_BTIME = 8,
	OLD_UTIME = 12,
	OLD_STIME = 14,
	OLD_ETIME = 16,
	OLD_MEM = 18,
	OLD_RW = 22,
	OLD_MINFLT = 24,
	OLD_MAJFLT = 26,
	OLD_SWAPS = 28,
	OLD_AHZ = 30, /* v2 only; v0 has 2 bytes of padding there, m68k nothing */
};

/* v0 to v2: what follows, from old_tail() on */
enum {
	TAIL_STATUS = 0,
	TAIL_COMM = 4,
	TAIL_COMM_SIZE = 17,
	TAIL_PAD = 21, /* v0: to the end, but see TAIL_UID */
	TAIL_ETIME_HI = 21,
	TAIL_ETIME_LO = 22,
	TAIL_UID = 24, /* v0: only Red Hat's 2.4 */
	TAIL_GID = 28,
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint16_t rd16(const uint8_t *p, bool big)
{
	return big ? be16toh(load_u16(p)) : le16toh(load_u16(p));
}

ALWAYS_INLINE uint32_t rd32(const uint8_t *p, bool big)
{
	return big ? be32toh(load_u32(p)) : le32toh(load_u32(p));
}

static inline bool format_big(enum pacct_format f)
{
	return f == PACCT_V0_BE || f == PACCT_V0_M68K || f == PACCT_V1_BE || f == PACCT_V2_BE ||
	       f == PACCT_V3_BE;
}

static inline uint8_t format_version(enum pacct_format f)
{
	return f <= PACCT_V0_M68K ? 0 : f <= PACCT_V1_BE ? 1 : f <= PACCT_V2_BE ? 2 : 3;
}

/* What the version byte must be: v0 has none, only zeroed memory. */
static inline uint8_t format_byte(enum pacct_format f)
{
	uint8_t version = format_version(f);

	return version && format_big(f) ? version | 0x80 : version;
}

/* The second half of a v0 to v2 record: m68k has no ac_ahz and no padding in front of it. */
static inline const uint8_t *old_tail(const uint8_t *p, enum pacct_format f)
{
	return p + pacct_size(f) - 32;
}

/*
 * The length of the name in its 16 bytes at `p`, or -1 if something follows its NUL: the kernel copies into zeroed
 * memory. The first byte is the least significant in both words, so a NUL is found by its lowest set mark.
 */
ALWAYS_INLINE int comm_length(const uint8_t *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
	uint64_t lo = le64toh(load_u64(p)), hi = le64toh(load_u64(p + 8));
	uint64_t word = lo, mark = (lo - ones) & ~lo & highs;
	int base = 0, n;

	if (mark ? hi != 0 : false)
		return -1;
	if (!mark) {
		word = hi;
		mark = (hi - ones) & ~hi & highs;
		base = 8;
		if (!mark)
			return 16;
	}
	n = __builtin_ctzll(mark) / 8;
	return word >> (8 * n) ? -1 : base + n;
}

/* A kernel thread that returned an error: do_exit() of kernels before 5.17 took the number as it was. */
ALWAYS_INLINE bool status_of_kthread(uint32_t status, uint8_t flag, uint16_t mem)
{
	return status >= UINT32_C(0xfffff001) && flag & PACCT_AFORK && mem == 0;
}

#endif
