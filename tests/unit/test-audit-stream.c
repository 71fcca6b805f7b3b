/* SPDX-License-Identifier: MIT */
/* Bytes to lines: split anywhere, too long, with NULs in them, without any newline. */
#include "unit/test.h"

#include "base/util.h"
#include "decode/audit_line.h"
#include "decode/audit_stream.h"

struct lines {
	char text[65536];
	size_t len;
	unsigned int n, cut;
	int answer;
};

static int keep(const char *line, size_t len, unsigned int flags, void *userdata)
{
	struct lines *lines = userdata;

	assert_true(len > 0 && len <= AUDIT_LINE_MAX);
	assert_null(memchr(line, '\n', len));
	assert_null(memchr(line, 0, len));
	if (lines->len + len + 2 < sizeof(lines->text)) {
		memcpy(lines->text + lines->len, line, len);
		lines->len += len;
		memcpy(lines->text + lines->len++, "|", 2);
	}
	lines->n++;
	lines->cut += flags == AUDIT_LINE_CUT;
	return lines->answer;
}

static struct lines got;
static struct audit_stream stream;

static int start(void **state)
{
	(void)state;
	memset(&got, 0, sizeof(got));
	return audit_stream_init(&stream, keep, &got);
}

static int stop(void **state)
{
	(void)state;
	audit_stream_done(&stream);
	return 0;
}

static const char records[] = "type=A msg=audit(1.1:1): x=1\n\n\0\0\0type=B msg=audit(1.1:2): y\n"
			      "\0z\0\n\nlast";

/* All ways to cut it in three give the same lines. */
static void test_split_anywhere(void **state)
{
	const size_t len = sizeof(records) - 1;

	for (size_t i = 0; i <= len; i++) {
		for (size_t k = i; k <= len; k++) {
			assert_int_equal(audit_stream_feed(&stream, records, i), 0);
			assert_int_equal(audit_stream_feed(&stream, records + i, k - i), 0);
			assert_int_equal(audit_stream_feed(&stream, records + k, len - k), 0);
			assert_int_equal(audit_stream_flush(&stream), 0);
			assert_string_equal(got.text, "type=A msg=audit(1.1:1): x=1|"
						      "type=B msg=audit(1.1:2): y|z|last|");
			assert_int_equal(stream.nul_runs, 3);
			assert_int_equal(stream.lines, 4);
			assert_int_equal(got.cut, 1);
			stop(state);
			start(state);
		}
	}
}

/* Longer than any record can be: cut, counted, and the next line is whole again. */
static void test_too_long(void **state)
{
	static char text[3 * AUDIT_LINE_MAX];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 4] = '\n';
	memcpy(text + sizeof(text) - 3, "ok\n", 3);
	for (size_t chunk = 1000; chunk <= sizeof(text); chunk += 7001) {
		memset(&got, 0, sizeof(got));
		stream.too_long = 0;
		for (size_t at = 0; at < sizeof(text); at += chunk)
			assert_int_equal(audit_stream_feed(&stream, text + at,
							   MIN(chunk, sizeof(text) - at)),
					 0);
		assert_int_equal(got.n, 2);
		assert_int_equal(got.cut, 1);
		assert_string_equal(got.text + got.len - 4, "|ok|");
		assert_int_equal(got.len, AUDIT_LINE_MAX + 1 + 3);
		assert_int_equal(stream.too_long, 1);
	}
}

/* auditd 4.0.4 and 4.0.5 forget every newline on the way through af_unix. */
static void test_no_newlines(void **state)
{
	unsigned int total = 2000;

	(void)state;
	for (unsigned int i = 0; i < total; i++) {
		char text[128];
		int n = snprintf(text, sizeof(text),
				 "%stype=SYSCALL msg=audit(1700000000.100:%u): pid=1 "
				 "exe=\"/x y\" key=(null)",
				 i % 2 ? "node=h " : "", i);

		assert_int_equal(audit_stream_feed(&stream, text, (size_t)n), 0);
		if (i == 0)
			assert_int_equal(got.n, 0);
	}
	assert_true(got.n > total - 300);
	assert_int_equal(got.cut, 0);
	assert_memory_equal(
		got.text,
		"type=SYSCALL msg=audit(1700000000.100:0): pid=1 exe=\"/x y\" key=(null)|"
		"node=h type=SYSCALL msg=audit(1700000000.100:1): pid=1 exe=\"/x y\" key=(null)|"
		"type=SYSCALL msg=audit(1700000000.100:2): ",
		180);
}

static void test_answer(void **state)
{
	(void)state;
	got.answer = 7;
	assert_int_equal(audit_stream_feed(&stream, "a\nb\n", 4), 7);
	assert_int_equal(got.n, 1);
	assert_int_equal(audit_stream_feed(&stream, "c", 1), 0);
	assert_int_equal(audit_stream_flush(&stream), 7);
	assert_int_equal(audit_stream_flush(&stream), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_split_anywhere),
		CASE(test_too_long),
		CASE(test_no_newlines),
		CASE(test_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
