/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of the audit decoder alone. Short texts are searched eight bytes at a time
 * within a register, which is what makes a line of thirty fields cheap: a call of memchr() for each
 * would cost more than the search.
 */
#ifndef DECODE_AUDIT_TEXT_H
#define DECODE_AUDIT_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <exeunt/record.h>

#include "base/util.h"

#define AUDIT_ONES UINT64_C(0x0101010101010101)
#define AUDIT_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t audit_load_le64(const char *p)
{
	return le64toh(load_u64(p));
}

/* The lowest high bit that is set marks the first byte that equals c; higher ones may be wrong. */
static inline uint64_t audit_match_bytes(uint64_t word, char c)
{
	uint64_t x = word ^ (AUDIT_ONES * (unsigned char)c);

	return (x - AUDIT_ONES) & ~x & AUDIT_HIGHS;
}

static inline size_t audit_match_index(uint64_t match)
{
	return (size_t)__builtin_ctzll(match) / 8;
}

/* Returns `end` if there is none. For what is near: names and numbers. */
static inline const char *audit_find_near(const char *p, const char *end, char c)
{
	while (end - p >= 8) {
		uint64_t match = audit_match_bytes(audit_load_le64(p), c);

		if (match)
			return p + audit_match_index(match);
		p += 8;
	}
	while (p < end && *p != c)
		p++;
	return p;
}

static inline struct exeunt_bytes audit_slice(const char *from, const char *to)
{
	return (struct exeunt_bytes){ .data = from, .len = (uint32_t)(to - from) };
}

static inline bool starts_with(const char *p, const char *end, const char *word, size_t len)
{
	return (size_t)(end - p) >= len && memcmp(p, word, len) == 0;
}

static inline bool audit_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool audit_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True if an enriched field starts here: auditd writes the names of fields in upper case. */
static inline bool audit_is_enriched_name(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && (audit_is_upper(*p) || audit_is_digit(*p) || *p == '_' || *p == '-'))
		p++;
	return p > start && audit_is_upper(*start) && p < end && *p == '=';
}

/* True if all eight bytes are digits. */
static inline bool audit_are_digits(uint64_t word)
{
	uint64_t high = AUDIT_ONES * 0xf0, three = AUDIT_ONES * 0x30;

	return (((word & high) ^ three) | (((word + AUDIT_ONES * 6) & high) ^ three)) == 0;
}

/* Eight digits at once, the first one lowest: pairs, then fours, then eight. */
static inline uint64_t audit_eight_digits(uint64_t word)
{
	word -= AUDIT_ONES * 0x30;
	word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
	return (word * 10000 + (word >> 32)) & UINT64_C(0xffffffff);
}

/* Up to 19 digits, which cannot overflow. Returns where they end; NULL if none or more. */
static inline const char *audit_parse_digits(const char *p, const char *end, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;

	if (end - p >= 8) {
		uint64_t word = audit_load_le64(p);

		if (audit_are_digits(word)) {
			v = audit_eight_digits(word);
			p += 8;
		}
	}
	while (p < end && audit_is_digit(*p)) {
		if (p - start == 19)
			return NULL;
		v = v * 10 + (uint64_t)(*p++ - '0');
	}
	*ret = v;
	return p == start ? NULL : p;
}

/* "(null)", "(none)", "?" and nothing stand for no value. */
static inline bool audit_is_no_value(const char *p, size_t len)
{
	return len == 0 || (len == 1 && *p == '?') ||
	       (len == 6 && (!memcmp(p, "(null)", 6) || !memcmp(p, "(none)", 6)));
}

#endif
