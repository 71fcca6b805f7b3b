/* SPDX-License-Identifier: MIT */
/*
 * Writes accounting records, every version in either byte order: the decoder's opposite, written apart from it (byte by
 * byte, with an encoder of its own for each number), so that a mistake in one is not repeated in the other.
 * Static functions, for a test that includes them and for the program mkpacct.
 */
#ifndef HELPERS_MKPACCT_H
#define HELPERS_MKPACCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum mk_format {
	MK_V0_LE,
	MK_V0_BE,
	MK_V0_M68K,
	MK_V1_LE,
	MK_V1_BE,
	MK_V2_LE,
	MK_V2_BE,
	MK_V3_LE,
	MK_V3_BE,
	MK_FORMATS
};

struct mk_exit {
	uint8_t flag;
	uint16_t tty;
	uint32_t status, uid, gid, pid, ppid, btime;
	uint64_t etime, utime, stime; /* ticks */
	uint64_t mem, minflt, majflt, rw, swaps;
	uint16_t ahz; /* v2; 0: 100 */
	bool redhat;  /* v0: 32-bit ids in the padding */
	char comm[17];
};

static inline size_t mk_put(uint8_t *p, uint64_t value, size_t size, bool big)
{
	for (size_t i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
	return size;
}

/* To the nearest m * 8^e, m < 8192, half up; the largest there is if it does not fit. */
static inline uint16_t mk_comp(uint64_t value)
{
	uint64_t unit = 1, mantissa = value;
	unsigned int e = 0;

	while (mantissa > 8191 && e < 8) {
		e++;
		unit *= 8;
		mantissa = value / unit + (value % unit >= unit / 2);
	}
	return e > 7 ? 0xffff : (uint16_t)(e * 8192 + mantissa);
}

/* To the nearest m * 2^e, m < 2^20, half up by the last bit that falls off. */
static inline uint32_t mk_comp2(uint64_t value)
{
	uint64_t mantissa = value;
	unsigned int e = 0;

	while (mantissa >= UINT64_C(1) << 20) {
		e++;
		mantissa = (value >> e) + (value >> (e - 1) & 1);
	}
	if (mantissa < UINT64_C(1) << 19)
		return (uint32_t)mantissa;
	return e + 1 > 31 ? 0xffffff : (uint32_t)((e + 1) << 19 | (mantissa & 0x7ffff));
}

/* An IEEE float of whole ticks, cut off. */
static inline uint32_t mk_float(uint64_t value)
{
	unsigned int e = 0;

	if (!value)
		return 0;
	while (value >> e > 1)
		e++;
	value = e > 23 ? value >> (e - 23) : value << (23 - e);
	return (127 + e) << 23 | (uint32_t)(value & 0x7fffff);
}

static inline bool mk_big(enum mk_format f)
{
	return f == MK_V0_BE || f == MK_V0_M68K || f == MK_V1_BE || f == MK_V2_BE || f == MK_V3_BE;
}

static inline size_t mk_v3(uint8_t *out, const struct mk_exit *x, bool big)
{
	uint8_t *p = out;

	*p++ = x->flag;
	*p++ = big ? 0x83 : 3;
	p += mk_put(p, x->tty, 2, big);
	p += mk_put(p, x->status, 4, big);
	p += mk_put(p, x->uid, 4, big);
	p += mk_put(p, x->gid, 4, big);
	p += mk_put(p, x->pid, 4, big);
	p += mk_put(p, x->ppid, 4, big);
	p += mk_put(p, x->btime, 4, big);
	p += mk_put(p, mk_float(x->etime), 4, big);
	p += mk_put(p, mk_comp(x->utime), 2, big);
	p += mk_put(p, mk_comp(x->stime), 2, big);
	p += mk_put(p, mk_comp(x->mem), 2, big);
	p += mk_put(p, 0, 2, big);
	p += mk_put(p, mk_comp(x->rw), 2, big);
	p += mk_put(p, mk_comp(x->minflt), 2, big);
	p += mk_put(p, mk_comp(x->majflt), 2, big);
	p += mk_put(p, mk_comp(x->swaps), 2, big);
	memcpy(p, x->comm, 16);
	return 64;
}

static inline uint16_t mk_id16(uint32_t id, int version)
{
	return version == 0 && id > 0xffff ? 0xfffe : (uint16_t)id;
}

static inline size_t mk_old(uint8_t *out, const struct mk_exit *x, enum mk_format f, int version)
{
	bool big = mk_big(f), m68k = f == MK_V0_M68K || version == 1;
	uint32_t etime2 = mk_comp2(x->etime);
	uint8_t *p = out;

	*p++ = x->flag;
	*p++ = (uint8_t)(version && big ? version | 0x80 : version);
	p += mk_put(p, mk_id16(x->uid, version), 2, big);
	p += mk_put(p, mk_id16(x->gid, version), 2, big);
	p += mk_put(p, x->tty, 2, big);
	p += mk_put(p, x->btime, 4, big);
	p += mk_put(p, mk_comp(x->utime), 2, big);
	p += mk_put(p, mk_comp(x->stime), 2, big);
	p += mk_put(p, mk_comp(x->etime), 2, big);
	p += mk_put(p, mk_comp(x->mem), 2, big);
	p += mk_put(p, 0, 2, big);
	p += mk_put(p, mk_comp(x->rw), 2, big);
	p += mk_put(p, mk_comp(x->minflt), 2, big);
	p += mk_put(p, mk_comp(x->majflt), 2, big);
	p += mk_put(p, mk_comp(x->swaps), 2, big);
	if (!m68k)
		p += mk_put(p, version == 2 ? (x->ahz ? x->ahz : 100) : 0, 2, big);
	p += mk_put(p, x->status, 4, big);
	memcpy(p, x->comm, 17);
	p += 17;
	memset(p, 0, 11);
	if (version == 0 && !x->redhat)
		return m68k ? 62 : 64;
	if (version == 0)
		p += 3;
	else {
		*p++ = (uint8_t)(etime2 >> 16);
		p += mk_put(p, etime2 & 0xffff, 2, big);
	}
	p += mk_put(p, x->uid, 4, big);
	mk_put(p, x->gid, 4, big);
	return m68k ? 62 : 64;
}

/* Writes one record to `out` (64 bytes are enough); returns its size. */
static inline size_t mk_record(uint8_t *out, const struct mk_exit *x, enum mk_format f)
{
	static const int versions[MK_FORMATS] = { 0, 0, 0, 1, 1, 2, 2, 3, 3 };

	return versions[f] == 3 ? mk_v3(out, x, mk_big(f)) : mk_old(out, x, f, versions[f]);
}

/* Numbers that look random and are the same on every machine. */
static inline uint32_t mk_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* An exit such as a busy host has: mostly short, some long, some killed, kernel threads and phantoms among them. */
static inline void mk_random_exit(struct mk_exit *x, uint64_t *state, uint32_t btime)
{
	static const char *const names[] = { "sh",	 "make",	"cc1",
					     "sed",	 "kworker/0:1", "ABCDEFGHIJKLMNO",
					     "x",	 "python3.11",	"gcc-12",
					     "(sd-pam)", "cat",		"rm" };
	static const uint32_t codes[] = { 0,	  0,	  0, 0,	 0x100, 0x200,
					  0x7f00, 0xff00, 9, 15, 0x8b,	0x86 };
	uint32_t r = mk_random(state);
	const char *name = names[r % 12];

	memset(x, 0, sizeof(*x));
	memcpy(x->comm, name, strlen(name));
	x->btime = btime;
	x->status = codes[mk_random(state) % 12];
	x->flag = (uint8_t)(mk_random(state) % 4 | (x->status & 0x7f ? 0x10 : 0) |
			    (x->status & 0x80 ? 8 : 0));
	x->uid = mk_random(state) % 3 ? 1000 + mk_random(state) % 50 : 0;
	x->gid = x->uid ? 100 : 0;
	x->tty = mk_random(state) % 3 ? 0 : (uint16_t)(0x8800 + mk_random(state) % 300);
	x->pid = 1 + mk_random(state) % 4194303;
	x->ppid = mk_random(state) % 4 ? mk_random(state) % 40000 : 1;
	x->etime = mk_random(state) % 8 ? mk_random(state) % 300 : mk_random(state) % 3000000;
	x->utime = mk_random(state) % (x->etime + 1);
	x->stime = mk_random(state) % (x->etime - x->utime + 1);
	x->mem = 500 + mk_random(state) % 200000;
	x->minflt = mk_random(state) % 9000;
	x->majflt = mk_random(state) % 16 ? 0 : mk_random(state) % 100;
	if (r % 12 == 4) /* a kernel thread */
		x->flag = 1, x->mem = x->minflt = x->majflt = x->uid = x->gid = x->tty = 0;
	else if (r % 97 == 0) /* a phantom */
		x->flag &= 2, x->mem = 0, x->status = 0;
}

#endif
