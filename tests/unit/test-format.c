/* SPDX-License-Identifier: MIT */
/* Numbers and times against the C library's own formatting, UTF-8 against its table, the entity's text. */
#include "unit/test.h"

#include <locale.h>
#include <time.h>

#include "base/format.h"
#include "base/utf8.h"
#include "record/entity.h"

static char buf[4096];

static const char *end(char *p)
{
	*p = '\0';
	return buf;
}

static void expect_number(uint64_t v)
{
	char want[32];

	snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
	assert_string_equal(end(fmt_u64(buf, v)), want);
	snprintf(want, sizeof(want), "%lld", (long long)v);
	assert_string_equal(end(fmt_i64(buf, (int64_t)v)), want);
	snprintf(want, sizeof(want), "%u", (unsigned int)v);
	assert_string_equal(end(fmt_u32(buf, (uint32_t)v)), want);
	snprintf(want, sizeof(want), "%llx", (unsigned long long)v);
	assert_string_equal(end(fmt_hex64(buf, v)), want);
}

static void numbers(void **state)
{
	uint64_t x = 88172645463325252;

	(void)state;
	for (uint64_t power = 1; power < UINT64_C(10000000000000000000); power *= 10) {
		expect_number(power - 1);
		expect_number(power);
		expect_number(power + 1);
	}
	for (int bit = 0; bit < 64; bit++) {
		expect_number(UINT64_C(1) << bit);
		expect_number((UINT64_C(1) << bit) - 1);
	}
	expect_number(UINT64_MAX);
	expect_number(INT64_MAX);
	for (uint64_t v = 0; v < 200000; v++)
		expect_number(v);
	for (int i = 0; i < 200000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		expect_number(x >> (x & 63));
	}
}

static void expect_time(int64_t second, uint32_t ns, struct fmt_time *cache)
{
	time_t t = second;
	struct tm tm;
	char want[64];
	size_t n;

	gmtime_r(&t, &tm);
	n = strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(want + n, sizeof(want) - n, ".%09uZ", ns);
	assert_string_equal(end(fmt_time(buf, second * NS_PER_SEC + ns, cache)), want);
	assert_int_equal(strlen(want), FMT_TIME_LEN);
}

static void times(void **state)
{
	struct fmt_time cache = { 0 };

	(void)state;
	expect_time(0, 0, &cache);
	assert_string_equal(end(fmt_time(buf, INT64_C(1767323045678901234), &cache)),
			    "2026-01-02T03:04:05.678901234Z");
	expect_time(1767323045, 999999999, &cache);
	expect_time(1767323046, 0, &cache);
	expect_time(-1, 999999999, &cache);
	expect_time(-1, 1, &cache);
	expect_time(-86400, 0, &cache);
	expect_time(-86401, 5, &cache);
	expect_time(951782399, 123456789, &cache); /* before 29 February 2000 */
	expect_time(951782400, 1, &cache);
	expect_time(INT64_C(9223372036), 854775807, &cache);
	expect_time(INT64_C(-9223372036), 0, &cache);
	for (int64_t s = 1767225500; s < 1767225700; s++)
		expect_time(s, (uint32_t)(s % 1000 * 1001), &cache);
	for (int64_t s = 0; s < 4000000000; s += 7654321)
		expect_time(s, 42, &cache);
}

static void expect_bytes(uint64_t v, const char *want)
{
	assert_string_equal(end(fmt_bytes(buf, v)), want);
}

static void bytes_for_people(void **state)
{
	(void)state;
	expect_bytes(0, "0");
	expect_bytes(1023, "1023");
	expect_bytes(1024, "1.0K");
	expect_bytes(1536, "1.5K");
	expect_bytes(812 * 1024, "812K");
	expect_bytes(1572864, "1.5M");
	expect_bytes(10 * 1024 - 1, "9.9K");
	expect_bytes(10 * 1024, "10K");
	expect_bytes(1024 * 1024 - 1, "1023K");
	expect_bytes(1024 * 1024, "1.0M");
	expect_bytes(1023 * 1024, "1023K");
	expect_bytes(UINT64_C(5) << 40, "5.0T");
	expect_bytes(UINT64_MAX, "15E");
	for (int shift = 0; shift < 64; shift++) {
		for (uint64_t v = 1; v < 2048; v++)
			assert_true(strlen(end(fmt_bytes(buf, v << shift))) <= 5);
	}
}

static void expect_duration(uint64_t us, const char *want)
{
	assert_string_equal(end(fmt_duration_us(buf, us)), want);
	assert_true(strlen(want) <= FMT_DURATION_MAX);
}

static void durations_for_people(void **state)
{
	(void)state;
	expect_duration(0, "0.000");
	expect_duration(4321, "0.004");
	expect_duration(59999999, "59.999");
	expect_duration(60000000, "1:00.0");
	expect_duration(62300000, "1:02.3");
	expect_duration(UINT64_C(3599999999), "59:59.9");
	expect_duration(UINT64_C(3723000000), "1:02:03");
	expect_duration(UINT64_C(86399999999), "23:59:59");
	expect_duration(UINT64_C(273600000000), "3d04h");
	expect_duration(UINT64_MAX, "213503982d08h");
}

static void hex(void **state)
{
	(void)state;
	assert_string_equal(end(fmt_hex_bytes(buf, "\x00\x7f\xff\n", 4)), "007fff0a");
	assert_string_equal(end(fmt_hex8(buf, 0x0badcafe)), "0badcafe");
	assert_string_equal(end(fmt_2(FMT_LIT(buf, "x"), 7)), "x07");
}

/* Each row: bytes, and what utf8_decode() returns for them. */
static void utf8_is_strict(void **state)
{
	static const struct {
		const char *s;
		int ret;
		uint32_t cp;
	} rows[] = {
		{ "a", 1, 'a' },
		{ "\xc3\xa9", 2, 0xe9 },
		{ "\xe2\x82\xac", 3, 0x20ac },
		{ "\xf0\x9f\x98\x80", 4, 0x1f600 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
		{ "\x80", -1, 0 },
		{ "\xc0\x80", -1, 0 },
		{ "\xc1\xbf", -1, 0 },
		{ "\xe0\x80\x80", -1, 0 },
		{ "\xed\xa0\x80", -1, 0 },
		{ "\xed\xbf\xbf", -1, 0 },
		{ "\xf0\x80\x80\x80", -1, 0 },
		{ "\xf4\x90\x80\x80", -1, 0 },
		{ "\xf5\x80\x80\x80", -1, 0 },
		{ "\xff", -1, 0 },
		{ "\xc3", -1, 0 },
		{ "\xc3(", -1, 0 },
		{ "\xe2\x82", -2, 0 },
		{ "\xe2\x82(", -2, 0 },
		{ "\xf0\x9f\x98", -3, 0 },
		{ "\xf0\x9f(", -2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t cp = 0;

		assert_int_equal(utf8_decode(rows[i].s, strlen(rows[i].s), &cp), rows[i].ret);
		if (rows[i].ret > 0)
			assert_int_equal(cp, rows[i].cp);
	}
}

static void expect_visible(const char *s, int columns, const char *want, int want_used)
{
	int used = -1;

	assert_string_equal(end(utf8_visible(buf, s, strlen(s), columns, &used)), want);
	assert_int_equal(used, want_used);
}

static void visible_text_cannot_act(void **state)
{
	(void)state;
	expect_visible("plain name", -1, "plain name", 10);
	expect_visible("a\nb\tc\rd\\e", -1, "a\\nb\\tc\\rd\\\\e", 13);
	expect_visible("\x1b[2J\x07\x7f", -1, "\\x1b[2J\\x07\\x7f", 15);
	expect_visible("\x9b"
		       "31m",
		       -1, "\\x9b31m", 7);
	expect_visible("\xc2\x9b"
		       "31m",
		       -1, "\\xc2\\x9b31m", 11);
	expect_visible("a\xe2\x80\xae"
		       "b",
		       -1, "a\\xe2\\x80\\xaeb", 14);
	expect_visible("\xe2\x81\xa7\xef\xbb\xbf", -1, "\\xe2\\x81\\xa7\\xef\\xbb\\xbf", 24);
	expect_visible("\xe2\x80\xa8", -1, "\\xe2\\x80\\xa8", 12);
	expect_visible("\xff\xc3", -1, "\\xff\\xc3", 8);
	/* A text that looks like an escape stays different from the escape. */
	expect_visible("\\x1b", -1, "\\\\x1b", 5);
}

static void visible_text_keeps_columns(void **state)
{
	(void)state;
	expect_visible("\xc3\xa9t\xc3\xa9", -1, "\xc3\xa9t\xc3\xa9", 3);
	expect_visible("\xe6\x97\xa5\xe6\x9c\xac", -1, "\xe6\x97\xa5\xe6\x9c\xac", 4);
	expect_visible("\xe6\x97\xa5\xe6\x9c\xac", 4, "\xe6\x97\xa5\xe6\x9c\xac", 4);
	expect_visible("\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5+", 3);
	expect_visible("\xe6\x97\xa5\xe6\x9c\xac", 2, "+", 1);
	expect_visible("abcdef", 6, "abcdef", 6);
	expect_visible("abcdef", 5, "abcd+", 5);
	expect_visible("abcdef", 1, "+", 1);
	expect_visible("abcdef", 0, "", 0);
	expect_visible("", 5, "", 0);
	expect_visible("abc\ndef", 5, "abc+", 4);
	expect_visible("abc\n", 5, "abc\\n", 5);
	expect_visible("ab\x01z", 5, "ab+", 3);
	/* One mark on a letter passes; a mark alone, or the fourth, does not. */
	expect_visible("e\xcc\x81", -1, "e\xcc\x81", 1);
	expect_visible("\xcc\x81", -1, "\\xcc\\x81", 8);
	expect_visible("e\xcc\x81\xcc\x81\xcc\x81\xcc\x81", -1,
		       "e\xcc\x81\xcc\x81\xcc\x81\\xcc\\x81", 9);
}

static void entity_text(void **state)
{
	char boot[ENTITY_BOOT_LEN + 1];
	char text[ENTITY_MAX];

	(void)state;
	entity_boot_id(boot, "01234567-89AB-cdef-0123-456789abcdef\n");
	assert_string_equal(boot, "0123456789abcdef0123456789abcdef");
	assert_int_equal(entity_format(text, boot, 4242, 0x1234abcd), 46);
	assert_string_equal(text, "0123456789abcdef0123456789abcdef-4242-1234abcd");
	assert_true(entity_format(text, boot, INT32_MIN, UINT64_MAX) < ENTITY_MAX);
	assert_string_equal(text, "0123456789abcdef0123456789abcdef--2147483648-ffffffffffffffff");
	entity_boot_id(boot, NULL);
	assert_string_equal(boot, "00000000000000000000000000000000");
	entity_boot_id(boot, "0123456789abcdef0123456789abcde");
	assert_string_equal(boot, "00000000000000000000000000000000");
	entity_boot_id(boot, "0123456789abcdef0123456789abcdef0");
	assert_string_equal(boot, "00000000000000000000000000000000");
	entity_boot_id(boot, "\",\"x\":");
	assert_string_equal(boot, "00000000000000000000000000000000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(times),
		cmocka_unit_test(bytes_for_people),
		cmocka_unit_test(durations_for_people),
		cmocka_unit_test(hex),
		cmocka_unit_test(utf8_is_strict),
		cmocka_unit_test(visible_text_cannot_act),
		cmocka_unit_test(visible_text_keeps_columns),
		cmocka_unit_test(entity_text),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
