/* SPDX-License-Identifier: MIT */
/* Fields out of one record whose format is known. See pacct.h for the layouts and what is certain of them. */
#include "decode/pacct_layout.h"

#define V3_AHZ 100
#define DEFAULT_AHZ 100
#define USEC_PER_SEC 1000000u
#define NSEC_PER_SEC 1000000000u

static uint64_t ticks_to_us(uint64_t ticks, uint32_t ahz)
{
	return ahz == 100 ? ticks * 10000 : ticks * USEC_PER_SEC / ahz;
}

/* A saturated count is a lower bound, not a value: it stays absent. */
ALWAYS_INLINE uint64_t count(struct pacct_exit *e, uint16_t comp, uint32_t has)
{
	if (comp != COMP_MAX)
		e->present |= has;
	return comp_value(comp);
}

ALWAYS_INLINE void decode_common(struct pacct_exit *e)
{
	/* The kernel clamps what is before 1970 to 0 and what is after 2106 to the largest number. */
	if (e->btime_s != 0 && e->btime_s != UINT32_MAX)
		e->present |= PACCT_HAS_BTIME;
	if (e->status <= 0xffff)
		e->present |= PACCT_HAS_STATUS;
	e->tty_text[0] = '\0';
	if (e->tty && pacct_tty_text(e->tty_text, e->tty))
		e->present |= PACCT_HAS_TTY;
}

ALWAYS_INLINE void copy_comm(struct pacct_exit *e, const uint8_t *comm)
{
	int len = comm_length(comm);

	e->comm_len = len < 0 ? 0 : (uint8_t)len;
	memcpy(e->comm, comm, 16);
	e->comm[16] = '\0';
}

ALWAYS_INLINE void decode_v3(const uint8_t *p, bool big, struct pacct_exit *e)
{
	uint32_t etime = rd32(p + V3_ETIME, big);
	uint16_t mem = rd16(p + V3_MEM, big);

	e->present = PACCT_HAS_PID | PACCT_HAS_UID | PACCT_HAS_ETIME;
	e->flags = p[V3_FLAG];
	e->ahz = V3_AHZ;
	e->tty = rd16(p + V3_TTY, big);
	e->status = rd32(p + V3_STATUS, big);
	e->uid = rd32(p + V3_UID, big);
	e->gid = rd32(p + V3_GID, big);
	e->pid = rd32(p + V3_PID, big);
	e->ppid = rd32(p + V3_PPID, big);
	e->btime_s = rd32(p + V3_BTIME, big);
	e->etime_us = etime_float_value(etime, USEC_PER_SEC / V3_AHZ);
	e->etime_precision_ns = etime_float_step(etime) * (NSEC_PER_SEC / V3_AHZ);
	e->utime_us = count(e, rd16(p + V3_UTIME, big), PACCT_HAS_UTIME) * (USEC_PER_SEC / V3_AHZ);
	e->stime_us = count(e, rd16(p + V3_STIME, big), PACCT_HAS_STIME) * (USEC_PER_SEC / V3_AHZ);
	e->mem_kib = count(e, mem, PACCT_HAS_MEM);
	e->minflt = count(e, rd16(p + V3_MINFLT, big), PACCT_HAS_MINFLT);
	e->majflt = count(e, rd16(p + V3_MAJFLT, big), PACCT_HAS_MAJFLT);
	e->swaps = comp_value(rd16(p + V3_SWAPS, big));
	e->phantom = mem == 0 && !(e->flags & PACCT_AFORK);
	copy_comm(e, p + V3_COMM);
	decode_common(e);
}

/* The long form where there is one: the short one rounds to 8 ticks from 82 s on, and to 41 s from half a day on. */
static void decode_old_etime(const uint8_t *p, const uint8_t *q, bool big, struct pacct_exit *e)
{
	uint16_t comp = rd16(p + OLD_ETIME, big);
	uint32_t comp2 = 0;
	uint64_t ticks, step;

	if (e->version > 0)
		comp2 = (uint32_t)q[TAIL_ETIME_HI] << 16 | rd16(q + TAIL_ETIME_LO, big);
	ticks = comp2 ? comp2_value(comp2) : comp_value(comp);
	step = comp2 ? comp2_step(comp2) : comp_step(comp);
	e->etime_us = ticks_to_us(ticks, e->ahz);
	e->etime_precision_ns = step * NSEC_PER_SEC / e->ahz;
	if (comp2 ? comp2 != COMP2_MAX : comp != COMP_MAX)
		e->present |= PACCT_HAS_ETIME;
}

static void decode_old_ids(const uint8_t *p, const uint8_t *q, enum pacct_format f,
			   struct pacct_exit *e)
{
	bool big = format_big(f);

	e->present |= PACCT_HAS_UID;
	e->uid = rd16(p + OLD_UID16, big);
	e->gid = rd16(p + OLD_GID16, big);
	/* v0 on m68k has no room for more: its record ends with the padding. */
	if (e->version == 0 && (f == PACCT_V0_M68K || !load_u64(q + TAIL_UID)))
		return;
	e->uid = rd32(q + TAIL_UID, big);
	e->gid = rd32(q + TAIL_GID, big);
}

static void decode_old(const uint8_t *p, enum pacct_format f, struct pacct_exit *e)
{
	const uint8_t *q = old_tail(p, f);
	bool big = format_big(f);
	uint16_t mem = rd16(p + OLD_MEM, big);

	e->present = 0;
	e->flags = p[V3_FLAG];
	e->pid = e->ppid = 0;
	e->ahz = f >= PACCT_V2_LE ? rd16(p + OLD_AHZ, big) : DEFAULT_AHZ;
	e->tty = rd16(p + OLD_TTY, big);
	e->status = rd32(q + TAIL_STATUS, big);
	e->btime_s = rd32(p + OLD_BTIME, big);
	decode_old_ids(p, q, f, e);
	decode_old_etime(p, q, big, e);
	e->utime_us = ticks_to_us(count(e, rd16(p + OLD_UTIME, big), PACCT_HAS_UTIME), e->ahz);
	e->stime_us = ticks_to_us(count(e, rd16(p + OLD_STIME, big), PACCT_HAS_STIME), e->ahz);
	e->mem_kib = count(e, mem, PACCT_HAS_MEM);
	e->minflt = count(e, rd16(p + OLD_MINFLT, big), PACCT_HAS_MINFLT);
	e->majflt = count(e, rd16(p + OLD_MAJFLT, big), PACCT_HAS_MAJFLT);
	e->swaps = comp_value(rd16(p + OLD_SWAPS, big));
	e->phantom = mem == 0 && !(e->flags & PACCT_AFORK);
	copy_comm(e, q + TAIL_COMM);
	decode_common(e);
}

void pacct_decode(const uint8_t *p, enum pacct_format format, uint64_t offset, struct pacct_exit *e)
{
	e->offset = offset;
	e->format = format;
	e->version = format_version(format);
	e->big_endian = format_big(format);
	if (format == PACCT_V3_LE)
		decode_v3(p, false, e);
	else if (format == PACCT_V3_BE)
		decode_v3(p, true, e);
	else
		decode_old(p, format, e);
}

const char *pacct_format_name(enum pacct_format format)
{
	static const char *const names[PACCT_FORMATS] = {
		[PACCT_NONE] = "unknown",    [PACCT_V0_LE] = "v0",    [PACCT_V0_BE] = "v0-be",
		[PACCT_V0_M68K] = "v0-m68k", [PACCT_V1_LE] = "v1",    [PACCT_V1_BE] = "v1-be",
		[PACCT_V2_LE] = "v2",	     [PACCT_V2_BE] = "v2-be", [PACCT_V3_LE] = "v3",
		[PACCT_V3_BE] = "v3-be",
	};

	return (unsigned int)format < PACCT_FORMATS ? names[format] : names[PACCT_NONE];
}

/* Few digits, often: no snprintf. */
static char *put_number(char *p, unsigned int n)
{
	char digits[10];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		*p++ = digits[--i];
	return p;
}

static char *put_text(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

/*
 * Numbers from the kernel's list of devices (Documentation/admin-guide/devices.txt). The kernel puts the 20-bit minor
 * of a pseudo terminal into the old form by OR, so that pts/300 looks like major 137, minor 44; beyond pts/2047 the
 * number is not recoverable.
 */
size_t pacct_tty_text(char buf[15], uint16_t tty)
{
	unsigned int major = tty >> 8, minor = tty & 0xff;
	char *p = buf;

	if (!tty)
		;
	else if (major >= 136 && major <= 143)
		p = put_number(put_text(p, "pts/"), tty - (136u << 8));
	else if (major == 4 && minor < 64)
		p = put_number(put_text(p, "tty"), minor);
	else if (major == 4)
		p = put_number(put_text(p, "ttyS"), minor - 64);
	else if (major == 229)
		p = put_number(put_text(p, "hvc"), minor);
	else if (major == 5 && minor == 1)
		p = put_text(p, "console");
	else
		p = put_number(put_text(put_number(p, major), ":"), minor);
	*p = '\0';
	return (size_t)(p - buf);
}
