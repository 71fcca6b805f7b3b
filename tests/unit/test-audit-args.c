/* SPDX-License-Identifier: MIT */
/* The arguments of a process, from EXECVE and PROCTITLE: whole, in pieces, or cut. */
#include "unit/test.h"

#include <linux/audit.h>

#include "unit/audit.h"

static int start(void **state)
{
	struct run *run = malloc(sizeof(*run));

	if (!run)
		return -1;
	run_start(run);
	*state = run;
	return 0;
}

static int stop(void **state)
{
	run_stop(*state);
	free(*state);
	return 0;
}

static bool has(const struct seen *s, enum audit_has what)
{
	return audit_event_has(&s->event, what);
}

static void exec_args(struct run *run, const char *const *records, size_t n)
{
	unsigned int serial = run->n + 1;

	run_line(run, exec(serial, 1, "x", "/x", 0));
	for (size_t i = 0; i < n; i++)
		run_line(run, text("type=EXECVE msg=audit(" TIME ":%u): %s", serial, records[i]));
	run_flush(run);
	assert_int_equal(run->n, serial);
}

#define EXEC_ARGS(run, ...)                                  \
	exec_args(run, (const char *const[]){ __VA_ARGS__ }, \
		  ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

/* Whole or not: what is told of the arguments. */
static void test_args_cut(void **state)
{
	static const struct {
		const char *records[2];
		uint32_t n;
		bool cut;
		const char *last;
	} rows[] = {
		{ { "argc=1 a0=\"x\"", NULL }, 1, false, "x" },
		{ { "argc=2 a0=\"x\"", NULL }, 2, false, "" },
		{ { "argc=2 a0=\"x\"", " a1=\"y\"" }, 2, false, "y" },
		/* A gap where a record ends may be a record that is lost. */
		{ { "argc=3 a0=\"x\"", " a2=\"y\"" }, 3, true, "y" },
		{ { "argc=3 a0=\"x\"", " a1=\"y\"" }, 3, true, "" },
		/* Out of order. */
		{ { " a1[1]=\"z\" a2=\"w\"", "argc=3 a0=\"x\" a1_len=2 a1[0]=\"y\"" },
		  3,
		  false,
		  "w" },
		/*
		 * The first piece is missing, or the last one, or the announced length is not
		 * there.
		 */
		{ { "argc=2 a0=\"x\" a1_len=2", " a1[1]=\"z\"" }, 2, true, "z" },
		{ { "argc=2 a0=\"x\" a1_len=20 a1[0]=\"abc\"", NULL }, 2, true, "abc" },
		{ { " a1=\"y\"", NULL }, 2, true, "y" },
		{ { "argc=2 a0=\"x\" a1=61626", NULL }, 2, true, "ab" },
		{ { "argc=2 a0=\"x\" a1=\"abc", NULL }, 2, true, "abc" },
		{ { "argc=1 a0=\"x\" a0=\"again\"", NULL }, 1, false, "x" },
		{ { "argc=4000000000 a0=\"x\"", NULL }, 1, true, "x" },
		{ { "argc=1 a0=\"x\" a4000000000=\"y\" a=\"z\" a0x=\"q\" a0[=\"q\" a0[1=\"q\"",
		    NULL },
		  1,
		  true,
		  "x" },
	};
	struct run *run = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct seen *s = &run->seen[i];

		exec_args(run, rows[i].records, rows[i].records[1] ? 2 : 1);
		assert_int_equal(s->event.n_args, rows[i].n);
		assert_int_equal(!!(s->event.flags & AUDIT_EVENT_ARGS_CUT), rows[i].cut);
		assert_string_equal(s->args[rows[i].n - 1], rows[i].last);
	}
	/* Pieces in both forms, in the wrong order, make one argument. */
	assert_string_equal(run->seen[5].args[1], "yz");
}

static void test_many_args(void **state)
{
	struct run *run = *state;
	char record[4096];
	size_t n = 0;

	EXEC_ARGS(run, "argc=5000 a4095=\"y\" a4096=\"z\"");
	assert_int_equal(run->seen[0].event.n_args, 4096);
	assert_true(run->seen[0].event.flags & AUDIT_EVENT_ARGS_CUT);
	n = (size_t)snprintf(record, sizeof(record), "argc=300");
	for (unsigned int i = 0; i < 300; i++)
		n += (size_t)snprintf(record + n, sizeof(record) - n, " a%u=\"%u\"", i, i);
	EXEC_ARGS(run, record);
	assert_int_equal(run->seen[1].event.n_args, 300);
	assert_false(run->seen[1].event.flags & AUDIT_EVENT_ARGS_CUT);
}

static void test_titles(void **state)
{
	static const struct {
		const char *value;
		uint32_t n;
		bool cut;
		const char *first;
	} rows[] = {
		{ "\"nginx\"", 1, false, "nginx" }, { "(null)", 0, false, "" },
		{ "\"\"", 0, false, "" },	    { "6100006200", 3, false, "a" },
		{ "006100", 2, false, "" },	    { "61006", 1, true, "a" },
		{ "not hexadecimal", 0, true, "" },
	};
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct seen *s = &run->seen[i];

		run_line(run, eg(i, 1, "0"));
		run_line(run, title(i, rows[i].value));
		assert_int_equal(run->n, i + 1);
		assert_int_equal(s->event.n_args, rows[i].n);
		assert_int_equal(has(s, AUDIT_HAS_ARGS), rows[i].n > 0);
		if (rows[i].n)
			assert_int_equal(!!(s->event.flags & AUDIT_EVENT_ARGS_CUT), rows[i].cut);
		assert_string_equal(s->args[0], rows[i].first);
	}
}

/* The kernel keeps 128 bytes of a title. */
static void test_long_title(void **state)
{
	struct run *run = *state;
	char value[2 * 128 + 1];

	for (unsigned int len = 126; len <= 128; len++) {
		unsigned int i = len - 126;

		memset(value, 0, sizeof(value));
		for (unsigned int k = 0; k < len; k++)
			memcpy(value + 2 * (size_t)k, "61", 2);
		run_line(run, eg(len, 1, "0"));
		run_line(run, title(len, value));
		assert_int_equal(run->seen[i].event.n_args, 1);
		assert_int_equal(!!(run->seen[i].event.flags & AUDIT_EVENT_ARGS_CUT), len >= 127);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_args_cut),
		CASE(test_many_args),
		CASE(test_titles),
		CASE(test_long_title),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
