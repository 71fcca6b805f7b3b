/* SPDX-License-Identifier: MIT */
/* The parts of format.h that are not hot: tables, a new second, and the forms for people. */
#include "base/format.h"

#include <time.h>

#define SECONDS_PER_DAY 86400

/* clang-format off */
#define ROW(t) t, '0', t, '1', t, '2', t, '3', t, '4', t, '5', t, '6', t, '7', t, '8', t, '9'
/* clang-format on */

const char fmt_digits2[200] = {
	ROW('0'), ROW('1'), ROW('2'), ROW('3'), ROW('4'),
	ROW('5'), ROW('6'), ROW('7'), ROW('8'), ROW('9'),
};

char *fmt_hex_bytes(char *p, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++) {
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	return p;
}

static void set_day(struct fmt_time *cache, int64_t day)
{
	time_t t = day * SECONDS_PER_DAY;
	struct tm tm;
	char *p = cache->text;

	/* int64_t nanoseconds reach from 1677 to 2262, so the year always has four digits. */
	gmtime_r(&t, &tm);
	p = fmt_2(p, (unsigned int)(tm.tm_year + 1900) / 100);
	p = fmt_2(p, (unsigned int)(tm.tm_year + 1900) % 100);
	*p++ = '-';
	p = fmt_2(p, (unsigned int)tm.tm_mon + 1);
	*p++ = '-';
	p = fmt_2(p, (unsigned int)tm.tm_mday);
	*p = 'T';
	cache->day = day;
}

void fmt_time_second(struct fmt_time *cache, int64_t ns)
{
	int64_t second = ns / NS_PER_SEC - (ns % NS_PER_SEC < 0);
	int64_t day = second / SECONDS_PER_DAY - (second % SECONDS_PER_DAY < 0);
	unsigned int rest = (unsigned int)(second - day * SECONDS_PER_DAY);
	char *p = cache->text + 11;

	if (day != cache->day || !cache->text[0])
		set_day(cache, day);
	p = fmt_2(p, rest / 3600);
	*p++ = ':';
	p = fmt_2(p, rest / 60 % 60);
	*p++ = ':';
	p = fmt_2(p, rest % 60);
	*p = '.';
	/* The second in which int64_t begins starts before it; unsigned, the difference comes out right. */
	cache->start_ns = (int64_t)((uint64_t)second * (uint64_t)NS_PER_SEC);
}

char *fmt_bytes(char *p, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	uint64_t tenths;
	unsigned int unit = 0;
	unsigned int shift = 10;

	if (bytes < 1024)
		return fmt_u64(p, bytes);
	while (bytes >> shift >= 1024) {
		unit++;
		shift += 10;
	}
	tenths = (bytes >> shift) * 10;
	tenths += ((bytes & ((UINT64_C(1) << shift) - 1)) >> (shift - 10)) * 10 / 1024;
	if (tenths < 100) {
		p = fmt_u64(p, tenths / 10);
		*p++ = '.';
		*p++ = (char)('0' + tenths % 10);
	} else {
		p = fmt_u64(p, bytes >> shift);
	}
	*p++ = units[unit];
	return p;
}

char *fmt_duration_us(char *p, uint64_t us)
{
	uint64_t s = us / 1000000;
	unsigned int ms = (unsigned int)(us / 1000 % 1000);

	if (s < 60) {
		p = fmt_u64(p, s);
		*p++ = '.';
		*p++ = (char)('0' + ms / 100);
		return fmt_2(p, ms % 100);
	}
	if (s < 3600) {
		p = fmt_u64(p, s / 60);
		*p++ = ':';
		p = fmt_2(p, (unsigned int)(s % 60));
		*p++ = '.';
		*p++ = (char)('0' + ms / 100);
		return p;
	}
	if (s < SECONDS_PER_DAY) {
		p = fmt_u64(p, s / 3600);
		*p++ = ':';
		p = fmt_2(p, (unsigned int)(s / 60 % 60));
		*p++ = ':';
		return fmt_2(p, (unsigned int)(s % 60));
	}
	p = fmt_u64(p, s / SECONDS_PER_DAY);
	*p++ = 'd';
	p = fmt_2(p, (unsigned int)(s / 3600 % 24));
	*p++ = 'h';
	return p;
}
