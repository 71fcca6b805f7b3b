/* SPDX-License-Identifier: MIT */
/*
 * The small floating point forms of accounting records (kernel/acct.c: encode_comp_t, encode_comp2_t, encode_float).
 * Each function gives the value and the step between it and its neighbours, so that a reader knows how good it is.
 * Pure; no state.
 */
#ifndef DECODE_PACCT_COMP_H
#define DECODE_PACCT_COMP_H

#include <stdbool.h>
#include <stdint.h>

/* The largest comp_t: kernels that check for overflow store it for anything larger, so it means "at least". */
#define COMP_MAX UINT16_C(0xffff)
#define COMP2_MAX UINT32_C(0xffffff)

/* comp_t: 3 bits of exponent to base 8, 13 bits of mantissa. Rounded to nearest by the kernel. */
static inline uint64_t comp_value(uint16_t c)
{
	return (uint64_t)(c & 0x1fff) << 3 * (c >> 13);
}

static inline uint64_t comp_step(uint16_t c)
{
	return UINT64_C(1) << 3 * (c >> 13);
}

/* comp2_t: 24 bits; 5 bits of exponent to base 2, 19 bits of mantissa whose leading 1 is implied once the exponent is not 0. */
static inline uint64_t comp2_value(uint32_t c)
{
	uint32_t exponent = c >> 19 & 0x1f;
	uint64_t mantissa = c & 0x7ffff;

	return exponent ? (mantissa | 0x80000) << (exponent - 1) : mantissa;
}

static inline uint64_t comp2_step(uint32_t c)
{
	uint32_t exponent = c >> 19 & 0x1f;

	return exponent ? UINT64_C(1) << (exponent - 1) : 1;
}

/*
 * The elapsed time of a v3 record: the bits of an IEEE float that counts ticks. The kernel stores whole ticks and cuts
 * off what does not fit in 24 bits, so the value is never more than the truth.
 */
#define ETIME_FLOAT_MAX_EXPONENT (127 + 41) /* 2^41 ticks are 697 years */

static inline bool etime_float_sane(uint32_t bits)
{
	return bits >> 23 <=
	       ETIME_FLOAT_MAX_EXPONENT; /* the sign bit fails too, and so do infinity and NaN */
}

static inline bool etime_float_whole(uint32_t bits)
{
	int shift = 150 - (int)(bits >> 23);

	if (bits == 0 || shift <= 0)
		return true;
	return shift < 24 && !(((bits & 0x7fffff) | 0x800000) & ((UINT32_C(1) << shift) - 1));
}

/* `unit` is one tick in the unit wanted. Only for a sane one. Fractions of a tick are kept, for other writers. */
static inline uint64_t etime_float_value(uint32_t bits, uint32_t unit)
{
	int exponent = (int)(bits >> 23) - 150;
	uint64_t mantissa = (bits & 0x7fffff) | 0x800000;

	if (bits >> 23 == 0)
		return 0;
	if (exponent >= 0)
		return (mantissa << exponent) * unit;
	return -exponent < 64 ? mantissa * unit >> -exponent : 0;
}

static inline uint64_t etime_float_step(uint32_t bits)
{
	int exponent = (int)(bits >> 23) - 150;

	return exponent > 0 ? UINT64_C(1) << exponent : 1;
}

#endif
