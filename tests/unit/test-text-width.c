/* SPDX-License-Identifier: MIT */
/* Lines for people from hostile hands: whatever a name holds, and whatever a number is, one line stays one line. */
#include "unit/test.h"

#include <locale.h>
#include <wchar.h>

#include "base/utf8.h"
#include "record/fields.h"
#include "sink/text.h"

#define BYTES(s) ((struct exeunt_bytes){ s, sizeof(s) - 1 })
#define NOON INT64_C(1767355200678901234) /* 2026-01-02 12:00:00 UTC and a bit */

static struct text *new_text(int width)
{
	struct text_options o = { .width = width, .utc = true };
	struct text *t = NULL;

	assert_int_equal(text_new(&t, &o), 0);
	return t;
}

static const char *format(struct text *t, const struct exeunt_record *r)
{
	const char *s = NULL;

	assert_true(text_format(t, r, &s) >= 0);
	return s;
}

/* The line as a handle of this width makes it, in static memory. */
static const char *at_width(int width, const struct exeunt_record *r)
{
	static char copy[65536];
	struct text *t = new_text(width);

	snprintf(copy, sizeof(copy), "%s", format(t, r));
	text_free(t);
	return copy;
}

static void set(struct exeunt_record *r, int first, int last)
{
	for (int i = first; i <= last; i++)
		field_set(r, i);
}

static struct exeunt_record sample(void)
{
	static const struct exeunt_bytes args[] = { { "make", 4 }, { "-j2", 3 }, { "all", 3 } };
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT,
				   .time_ns = NOON + 1,
				   .exit_time_ns = NOON,
				   .pid = 4242,
				   .parent_pid = 100,
				   .user = BYTES("alice"),
				   .exit_code = 2,
				   .elapsed_us = 62300000,
				   .cpu_user_us = 3000,
				   .cpu_system_us = 1500,
				   .rss_peak_bytes = 812 * 1024,
				   .read_bytes = 0,
				   .write_bytes = 1572864,
				   .exe_path = BYTES("/usr/bin/make"),
				   .args = args,
				   .n_args = 3,
				   .comm = "make" };

	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_PARENT_PID);
	field_set(&r, EXEUNT_F_COMM);
	field_set(&r, EXEUNT_F_EXE_PATH);
	field_set(&r, EXEUNT_F_ARGS);
	field_set(&r, EXEUNT_F_EXIT_TIME);
	field_set(&r, EXEUNT_F_EXIT_CODE);
	field_set(&r, EXEUNT_F_USER);
	set(&r, EXEUNT_F_ELAPSED, EXEUNT_F_CPU_SYSTEM);
	field_set(&r, EXEUNT_F_RSS_PEAK);
	set(&r, EXEUNT_F_READ_BYTES, EXEUNT_F_WRITE_BYTES);
	return r;
}

/* Columns that a line takes, or -1 if it holds anything that acts on a terminal. */
static int safe_width(const char *line)
{
	size_t len = strlen(line);
	int width = 0;

	if (len == 0 || line[len - 1] != '\n')
		return -1;
	for (size_t i = 0; i < len - 1;) {
		uint32_t c;
		int n = utf8_decode(line + i, len - 1 - i, &c);

		if (n < 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
		    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
		    wcwidth((wchar_t)c) < 0)
			return -1;
		width += wcwidth((wchar_t)c);
		i += (size_t)n;
	}
	return width;
}

static void hostile_names_at_each_width(void **state)
{
	static const char *const names[] = {
		"a\nb",
		"\n-- lost 0 task exits",
		"\x1b[2J\x1b[31m",
		"\xc2\x9b"
		"31m",
		"\x9b"
		"31m",
		"\xe2\x80\xae"
		"txt.exe",
		"\xe2\x81\xa6\xe2\x81\xa9",
		"\xff\xfe\xfd",
		"\xed\xa0\x80",
		"caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e \xf0\x9f\x98\x80",
		"z\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
		"\xcc\x81\xcc\x81",
		"\\x1b\\n",
		"\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f",
	};
	struct exeunt_record r = sample();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct exeunt_bytes name = { names[i], (uint32_t)strlen(names[i]) };
		struct exeunt_bytes args[] = { name, name, { "", 0 }, name, name };

		r.exe_path = name;
		r.user = name;
		r.args = args;
		r.n_args = 5;
		for (int width = 40; width <= 220; width++) {
			int got = safe_width(at_width(width, &r));

			assert_in_range(got, 1, width);
		}
		assert_in_range(safe_width(at_width(0, &r)), 1, 10000);
		field_clear(&r, EXEUNT_F_EXE_PATH);
		field_clear(&r, EXEUNT_F_ARGS);
		snprintf(r.comm, sizeof(r.comm), "%s", names[i]);
		assert_in_range(safe_width(at_width(80, &r)), 1, 80);
		field_set(&r, EXEUNT_F_EXE_PATH);
		field_set(&r, EXEUNT_F_ARGS);
	}
	r.exe_path = BYTES("a\nb");
	r.n_args = 0;
	r.user = BYTES("x\x1b");
	assert_string_equal(at_width(0, &r) + 13 + 16, "x\\x1b            2              1:02.3 "
						       "   0.004  812K     0    1.5M a\\nb\n");
}

/* Numbers that no process should have must not make a line wrap either. */
static void absurd_numbers_do_not_wrap(void **state)
{
	struct exeunt_record r = sample();

	(void)state;
	r.pid = INT32_MIN;
	r.parent_pid = INT32_MIN;
	r.elapsed_us = UINT64_MAX;
	r.cpu_user_us = UINT64_MAX;
	r.rss_peak_bytes = UINT64_MAX;
	r.exit_signal = UINT32_MAX;
	r.exit_core_dumped = true;
	field_set(&r, EXEUNT_F_EXIT_SIGNAL);
	field_set(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	field_set(&r, EXEUNT_F_EXIT_CERTAIN);
	for (int width = 40; width <= 220; width++) {
		assert_in_range(safe_width(at_width(width, &r)), 1, width);
		assert_in_range(safe_width(at_width(width, NULL)), 1, width);
	}
}

static void many_long_arguments(void **state)
{
	enum { N = 3000 };
	static struct exeunt_bytes args[N];
	static char text[101];
	struct exeunt_record r = sample();

	(void)state;
	memset(text, '\n', 100);
	for (int i = 0; i < N; i++)
		args[i] = (struct exeunt_bytes){ text, 100 };
	r.args = args;
	r.n_args = N;
	assert_int_equal(safe_width(at_width(80, &r)), 80);
	{
		struct text *t = new_text(0);

		assert_int_equal(safe_width(format(t, &r)), 97 + 13 + (N - 1) * 201);
		text_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_names_at_each_width),
		cmocka_unit_test(absurd_numbers_do_not_wrap),
		cmocka_unit_test(many_long_arguments),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
