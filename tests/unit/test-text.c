/* SPDX-License-Identifier: MIT */
/* Lines for people: columns, statuses, colours, times, losses, summaries. */
#include "unit/test.h"

#include <locale.h>
#include <time.h>

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
	assert_non_null(strstr(at_width(200, &r), " cccccccccccccccccccc\n"));
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
	assert_string_equal(buf, "1 exit, lost 3, 5 kept back");
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
		cmocka_unit_test(losses),
		cmocka_unit_test(summaries),
		cmocka_unit_test(output_takes_whole_lines),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
