/* SPDX-License-Identifier: MIT */
/*
 * Numbers, times and sizes as text, written through a char pointer that moves on. Made for the hot path of the
 * sinks: no locale, no varargs, and few branches that depend on the value. Owns nothing, knows nothing of processes.
 *
 * Every function returns the end of what it wrote, and writes no NUL. Some store more bytes than they count, which
 * the next call overwrites: leave FMT_SLACK bytes behind the longest text that can follow.
 */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <endian.h>

#include "base/util.h"

#define FMT_SLACK 32
#define FMT_U64_MAX 20	    /* digits of the longest uint64_t */
#define FMT_TIME_LEN 30	    /* 2026-01-02T03:04:05.678901234Z */
#define FMT_BYTES_MAX 8	    /* fmt_bytes() */
#define FMT_DURATION_MAX 20 /* fmt_duration_us() */

/* "00" to "99". */
extern const char fmt_digits2[200];

static inline void fmt_store64(char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

/* Eight decimal digits, one a byte, the leading one in the lowest byte; v < 10^8. */
static inline uint64_t fmt_bcd8(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = (x * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
	uint64_t y = hundreds | (x - 100 * hundreds) << 16;
	uint64_t tens = (y * 103 >> 10) & UINT64_C(0x000f000f000f000f);

	return tens | (y - 10 * tens) << 8;
}

/* Exactly eight digits; v < 10^8. */
static inline char *fmt_fixed8(char *p, uint32_t v)
{
	fmt_store64(p, fmt_bcd8(v) + UINT64_C(0x3030303030303030));
	return p + 8;
}

/* One to eight digits, no branch: the leading zeros are shifted out; v < 10^8. Stores 8 bytes. */
static inline char *fmt_short8(char *p, uint32_t v)
{
	uint64_t digits = fmt_bcd8(v);
	unsigned int skip = (unsigned int)__builtin_ctzll(digits | UINT64_C(1) << 56) & ~7u;

	fmt_store64(p, (digits >> skip) + UINT64_C(0x3030303030303030));
	return p + 8 - skip / 8;
}

/* One to four digits; v < 10^4. Stores 4 bytes. */
static inline char *fmt_short4(char *p, uint32_t v)
{
	uint32_t hundreds = v * 5243 >> 19;
	uint32_t y = hundreds | (v - 100 * hundreds) << 16;
	uint32_t tens = (y * 103 >> 10) & 0x000f000f;
	uint32_t digits = tens | (y - 10 * tens) << 8;
	unsigned int skip = (unsigned int)__builtin_ctz(digits | 1u << 24) & ~7u;

	digits = htole32((digits >> skip) + 0x30303030);
	memcpy(p, &digits, sizeof(digits));
	return p + 4 - skip / 8;
}

/* 10^8 and more. Stores up to 24 bytes. */
static inline char *fmt_long(char *p, uint64_t v)
{
	if (likely(v < UINT64_C(10000000000000000))) {
		p = fmt_short8(p, (uint32_t)(v / 100000000));
		return fmt_fixed8(p, (uint32_t)(v % 100000000));
	}
	p = fmt_short8(p, (uint32_t)(v / UINT64_C(10000000000000000)));
	v %= UINT64_C(10000000000000000);
	return fmt_fixed8(fmt_fixed8(p, (uint32_t)(v / 100000000)), (uint32_t)(v % 100000000));
}

/*
 * v < 10^8. The steps are few and far apart, because the same field tends to the same step: most numbers of a record
 * are 0 or small, and within a step no branch depends on the number of digits. Stores up to 8 bytes.
 */
static inline __attribute__((always_inline)) char *fmt_short(char *p, uint32_t v)
{
	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	if (v < 10000)
		return fmt_short4(p, v);
	return fmt_short8(p, v);
}

/* Stores up to 24 bytes. */
static inline char *fmt_u64(char *p, uint64_t v)
{
	return likely(v < 100000000) ? fmt_short(p, (uint32_t)v) : fmt_long(p, v);
}

static inline char *fmt_u32(char *p, uint32_t v)
{
	return fmt_u64(p, v);
}

static inline char *fmt_i64(char *p, int64_t v)
{
	*p = '-';
	return fmt_u64(p + (v < 0), v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* Exactly two digits; v < 100. */
static inline char *fmt_2(char *p, unsigned int v)
{
	memcpy(p, fmt_digits2 + 2 * v, 2);
	return p + 2;
}

/* Eight lower-case hexadecimal digits. */
static inline char *fmt_hex8(char *p, uint32_t v)
{
	uint64_t x = v;
	uint64_t letters;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	x += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
	fmt_store64(p, __builtin_bswap64(x));
	return p + 8;
}

/* Lower-case hexadecimal without leading zeros. Stores 16 bytes. */
static inline char *fmt_hex64(char *p, uint64_t v)
{
	unsigned int skip = (unsigned int)__builtin_clzll(v | 1) / 4;

	v <<= 4 * skip;
	fmt_hex8(p, (uint32_t)(v >> 32));
	fmt_hex8(p + 8, (uint32_t)v);
	return p + 16 - skip;
}

/* The bytes as pairs of lower-case hexadecimal digits. */
char *fmt_hex_bytes(char *p, const void *data, size_t len);

static inline char *fmt_mem(char *p, const void *data, size_t len)
{
	memcpy(p, data, len);
	return p + len;
}

static inline char *fmt_str(char *p, const char *s)
{
	return fmt_mem(p, s, strlen(s));
}

/* A string literal: its length is known when compiled. */
#define FMT_LIT(p, literal) fmt_mem((p), "" literal, sizeof(literal) - 1)

/* The text of the second that was last asked for. All zero is a good start. */
struct fmt_time {
	int64_t start_ns; /* of the second */
	int64_t day;
	char text[32]; /* "2026-01-02T03:04:05." */
};

/* Fills the cache with the second of this time. */
void fmt_time_second(struct fmt_time *cache, int64_t ns);

/* RFC 3339, UTC, always nine decimals; ns since 1970, which may be negative. Writes FMT_TIME_LEN bytes. */
static inline char *fmt_time(char *p, int64_t ns, struct fmt_time *cache)
{
	uint64_t rest = (uint64_t)ns - (uint64_t)cache->start_ns;

	if (unlikely(rest >= (uint64_t)NS_PER_SEC || !cache->text[0])) {
		fmt_time_second(cache, ns);
		rest = (uint64_t)ns - (uint64_t)cache->start_ns;
	}
	memcpy(p, cache->text, 24);
	fmt_fixed8(p + 20, (uint32_t)rest / 10);
	p[28] = (char)('0' + (uint32_t)rest % 10);
	p[29] = 'Z';
	return p + FMT_TIME_LEN;
}

/* For people: "812", "4.0K", "812K", "1.5M"; powers of 1,024, at most five characters; cut, not rounded. */
char *fmt_bytes(char *p, uint64_t bytes);

/* For people: "0.004", "1:02.3", "1:02:03", "3d04h"; cut, not rounded. */
char *fmt_duration_us(char *p, uint64_t us);

#endif
