/* SPDX-License-Identifier: MIT */
/* Lines for people: columns at every width, hostile names, losses, summaries. */
#include "unit/test.h"

#include <locale.h>
#include <time.h>
#include <wchar.h>

#include "base/utf8.h"
#include "record/fields.h"
#include "sink/output.h"
#include "sink/text.h"

#define BYTES(s) ((struct exeunt_bytes){ s, sizeof(s) - 1 })
#define NOON INT64_C(1767355200678901234) /* 2026-01-02 12:00:00 UTC and a bit */

static struct text *new_text(int width, bool color)
{
	struct text_options o = { .width = width, .color = color, .utc = true };
	struct text *t = NULL;

	assert_int_equal(text_new(&t, &o), 0);
	return t;
}

static const char *format(struct text *t, const struct exeunt_record *r)
{
	const char *s = NULL;
	ssize_t n = text_format(t, r, &s);

	assert_true(n >= 0);
	assert_non_null(s);
	assert_int_equal(strlen(s), n);
	return s;
}

/* The line as a handle of this width makes it, in static memory. */
static const char *at_width(int width, const struct exeunt_record *r)
{
	static char copy[65536];
	struct text *t = new_text(width, false);

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

static void columns_at_each_width(void **state)
{
	struct exeunt_record r = sample();

	(void)state;
	assert_string_equal(at_width(80, NULL), "TIME             PID USER     STATUS        "
						"ELAPSED      CPU COMMAND\n");
	assert_string_equal(at_width(80, &r), "12:00:00.678    4242 alice    2              "
					      "1:02.3    0.004 /usr/bin/make -j2 +\n");
	assert_string_equal(at_width(200, NULL),
			    "TIME             PID    PPID USER             STATUS        ELAPSED  "
			    "    CPU   RSS  READ WRITTEN COMMAND\n");
	assert_string_equal(at_width(200, &r),
			    "12:00:00.678    4242     100 alice            2              1:02.3  "
			    "  0.004  812K     0    1.5M /usr/bin/make -j2 all\n");
	assert_string_equal(at_width(0, &r), at_width(200, &r));
	assert_string_equal(at_width(40, &r), "   4242 2            /usr/bin/make -j2 +\n");
	assert_string_equal(at_width(1, &r), "   4242 2            /usr/bin/make -j2 +\n");
}

static void nothing_known(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .time_ns = NOON };

	(void)state;
	assert_string_equal(at_width(200, &r),
			    "12:00:00.678       -       - -                -                   -  "
			    "      -     -     -       - -\n");
	field_set(&r, EXEUNT_F_UID);
	r.uid = 1000;
	field_set(&r, EXEUNT_F_COMM);
	memset(r.comm, 'c', sizeof(r.comm));
	assert_non_null(strstr(at_width(200, &r), " 1000 "));
	assert_non_null(strstr(at_width(200, &r), " cccccccccccccccc\n"));
}

static void expect_status(const struct exeunt_record *r, const char *want)
{
	const char *line = at_width(40, r);
	char padded[32];

	snprintf(padded, sizeof(padded), " %-12s ", want);
	assert_int_equal(strncmp(line + 7, padded, strlen(padded)), 0);
}

static void statuses(void **state)
{
	struct exeunt_record r = sample();

	(void)state;
	expect_status(&r, "2");
	field_set(&r, EXEUNT_F_EXIT_CERTAIN);
	expect_status(&r, "2?");
	r.exit_certain = true;
	expect_status(&r, "2");
	field_clear(&r, EXEUNT_F_EXIT_CODE);
	expect_status(&r, "-");
	field_set(&r, EXEUNT_F_EXIT_STATUS);
	r.exit_status = 0x4d00;
	expect_status(&r, "77");
	r.exit_status = 9;
	expect_status(&r, "SIGKILL");
	r.exit_status = 0x8b;
	expect_status(&r, "SIGSEGV+core");
	field_set(&r, EXEUNT_F_EXIT_SIGNAL);
	field_set(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	r.exit_signal = 11;
	expect_status(&r, "SIGSEGV");
	r.exit_core_dumped = true;
	r.exit_certain = false;
	expect_status(&r, "SIGSEGV+core?");
	r.exit_signal = 100;
	expect_status(&r, "SIG100+core?");
	r.type = EXEUNT_TYPE_INTERIM;
	expect_status(&r, "running");
	r = sample();
	r.type = EXEUNT_TYPE_AMEND;
	expect_status(&r, "amend 2");
	field_clear(&r, EXEUNT_F_EXIT_CODE);
	expect_status(&r, "amend -");
}

static void threads(void **state)
{
	struct exeunt_record r = sample();

	(void)state;
	r.type = EXEUNT_TYPE_THREAD;
	r.thread_id = 4243;
	r.exit_code = 0;
	strcpy(r.thread_name, "worker 1");
	field_set(&r, EXEUNT_F_THREAD_ID);
	assert_string_equal(at_width(40, &r), "   4243 thread 0     4242/make\n");
	field_set(&r, EXEUNT_F_THREAD_NAME);
	assert_string_equal(at_width(40, &r), "   4243 thread 0     4242/worker 1\n");
}

static void colors(void **state)
{
	struct exeunt_record r = sample();
	struct text *t = new_text(40, true);

	(void)state;
	assert_string_equal(format(t, &r),
			    "   4242 \x1b[33m2           \x1b[0m /usr/bin/make -j2 +\n");
	r.exit_code = 0;
	assert_null(strchr(format(t, &r), '\x1b'));
	field_clear(&r, EXEUNT_F_EXIT_CODE);
	field_set(&r, EXEUNT_F_EXIT_SIGNAL);
	r.exit_signal = 9;
	assert_non_null(strstr(format(t, &r), "\x1b[31mSIGKILL"));
	field_set(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	r.exit_core_dumped = true;
	assert_non_null(strstr(format(t, &r), "\x1b[1;31mSIGKILL+core"));
	text_free(t);
}

static void local_time(void **state)
{
	struct text_options o = { 0 };
	struct exeunt_record r = sample();
	struct text *t = NULL;

	(void)state;
	setenv("TZ", "XYZ-5:45", 1);
	tzset();
	assert_int_equal(text_new(&t, &o), 0);
	assert_int_equal(strncmp(format(t, &r), "17:45:00.678 ", 13), 0);
	r.exit_time_ns += 59 * NS_PER_SEC;
	assert_int_equal(strncmp(format(t, &r), "17:45:59.678 ", 13), 0);
	r.exit_time_ns += NS_PER_SEC;
	assert_int_equal(strncmp(format(t, &r), "17:46:00.678 ", 13), 0);
	r.exit_time_ns = -1;
	assert_int_equal(strncmp(format(t, &r), "05:44:59.999 ", 13), 0);
	text_free(t);
	assert_int_equal(text_new(&t, NULL), 0);
	text_free(t);
	text_free(NULL);
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
		struct text *t = new_text(0, false);

		assert_int_equal(safe_width(format(t, &r)), 97 + 13 + (N - 1) * 201);
		text_free(t);
	}
}

static void losses(void **state)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = 12,
				    .exact = true,
				    .cpu = 0,
				    .window_start_ns = NOON,
				    .window_end_ns = NOON + NS_PER_SEC };
	struct exeunt_record r = { .type = EXEUNT_TYPE_LOSS, .time_ns = NOON, .loss = &loss };
	struct text *t;

	(void)state;
	assert_string_equal(at_width(0, &r), "-- lost 12 task exits: socket overflow, cpu 0, "
					     "12:00:00.678..12:00:01.678\n");
	assert_string_equal(at_width(40, &r), "-- lost 12 task exits: socket overflow,+\n");
	loss = (struct exeunt_loss){ .source = EXEUNT_SOURCE_OUTPUT,
				     .cause = EXEUNT_LOSS_SLOW_SINK,
				     .count = 1,
				     .cpu = -1,
				     .backfilled = 4 };
	assert_string_equal(at_width(0, &r), "-- lost at least 1 line of output: slow sink, "
					     "4 brought by other sources\n");
	t = new_text(0, true);
	assert_non_null(strstr(format(t, &r), "\x1b[1;33m-- lost"));
	r.loss = NULL;
	assert_string_equal(format(t, &r), "");
	r.type = EXEUNT_TYPE_STATUS;
	assert_string_equal(format(t, &r), "");
	text_free(t);
}

static void summaries(void **state)
{
	struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS,
		  .state = EXEUNT_STATE_OPEN,
		  .version = 16,
		  .receive_buffer = 8388608,
		  .sockets = 2 },
		{ .source = EXEUNT_SOURCE_PACCT, .state = EXEUNT_STATE_OFF },
		{ .source = EXEUNT_SOURCE_AUDIT,
		  .state = EXEUNT_STATE_REFUSED,
		  .reason = "not permitted\x1b",
		  .remedy = "run as root" },
		{ .source = EXEUNT_SOURCE_PROCEVENTS, .state = EXEUNT_STATE_OPEN },
	};
	struct exeunt_status status = { .version = "0.1.0",
					.kernel_release = "6.12",
					.balance = { .exits = 1, .lost = 3, .filtered = 5 },
					.sources = sources,
					.n_sources = 4 };
	struct exeunt_record r = { .type = EXEUNT_TYPE_START, .status = &status };
	char buf[512];
	size_t len;

	(void)state;
	len = text_summary(&r, buf, sizeof(buf));
	assert_int_equal(len, strlen(buf));
	assert_string_equal(
		buf, "exeunt 0.1.0, kernel 6.12: taskstats open (version 16, 2 sockets of 8.0M); "
		     "pacct off; audit refused: not permitted\\x1b (run as root); procevents open; "
		     "no delays (kernel.task_delayacct is off)");
	assert_int_equal(text_summary(&r, buf, 20), 19);
	assert_string_equal(buf, "exeunt 0.1.0, kerne");
	r.type = EXEUNT_TYPE_STOP;
	text_summary(&r, buf, sizeof(buf));
	assert_string_equal(buf, "1 exit, lost 3, 5 kept back by the filter");
	r.type = EXEUNT_TYPE_EXIT;
	assert_int_equal(text_summary(&r, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(text_summary(&r, buf, 0), 0);
}

static void output_takes_whole_lines(void **state)
{
	struct exeunt_record r = sample();
	struct text *t = new_text(0, false);
	struct output *o;
	size_t len = strlen(format(t, &r));
	char got[4096];
	int fd[2];
	unsigned int n = 0;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(output_new(&o, fd[1], 8192), 0);
	assert_int_equal(text_header(t, o), 0);
	assert_int_equal(output_flush(o), 0);
	assert_int_equal(read(fd[0], got, sizeof(got)), strlen(format(t, NULL)));
	while (text_write(t, &r, o) == 0)
		n++;
	assert_true(n > 500);
	assert_int_equal(text_write(t, &r, o), 1);
	assert_int_equal(text_header(t, o), 1);
	assert_int_equal((output_written(o) + output_pending(o) - strlen(format(t, NULL))) % len,
			 0);
	r.type = EXEUNT_TYPE_START;
	assert_int_equal(text_write(t, &r, o), 0);
	output_free(o);
	close(fd[0]);
	close(fd[1]);
	text_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_at_each_width),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(statuses),
		cmocka_unit_test(threads),
		cmocka_unit_test(colors),
		cmocka_unit_test(local_time),
		cmocka_unit_test(hostile_names_at_each_width),
		cmocka_unit_test(absurd_numbers_do_not_wrap),
		cmocka_unit_test(many_long_arguments),
		cmocka_unit_test(losses),
		cmocka_unit_test(summaries),
		cmocka_unit_test(output_takes_whole_lines),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
