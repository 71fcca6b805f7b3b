/* SPDX-License-Identifier: MIT */
/* The filter language: what is refused, and whether the message helps and is safe to print. */
#include "unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "record/fields.h"
#include "record/filter.h"

static void all_wrong(const char *const (*wrong)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char error[FILTER_ERROR_SIZE];
		struct filter *f = NULL;
		int r = filter_new(&f, wrong[i][0], error, sizeof(error));

		filter_free(f);
		if (r != -EINVAL)
			fail_msg("accepted: %s", wrong[i][0]);
		if (!strstr(error, wrong[i][1]))
			fail_msg("\"%s\" is not in:\n%s", wrong[i][1], error);
	}
}

static void numbers_and_units(void **state)
{
	static const char *const wrong[][2] = {
		{ "elapsed > 1K", "a duration has one of ns us ms s m h d" },
		{ "elapsed > 1S", "a duration has one of" },
		{ "rss > 1s", "a size has one of K M G T" },
		{ "code == 1K", "a number without a unit" },
		{ "code == 1.2.3", "is no value of" },
		{ "code == 1.", "is no value of" },
		{ "code == 0x", "is no value of" },
		{ "code == -1", "never negative" },
		{ "code == 18446744073709551616", "too large" },
		{ "code == 100000000000000000000000000", "too large" },
		{ "nice == 9223372036854775808", "too large" },
		{ "elapsed == 99999999999999999999d", "too large" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void signal_names(void **state)
{
	static const char *const wrong[][2] = {
		{ "signal == SIGSEVG", "unknown signal \"SIGSEVG\" (did you mean \"SIGSEGV\"?)" },
		{ "signal == 'nothing'", "column 11: unknown signal \"nothing\"" },
		{ "signal == SIGRTMIN+", "nothing can start" },
		{ "signal ~ 'SEGV'", "is not text" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void words_of_the_schema(void **state)
{
	static const char *const wrong[][2] = {
		{ "cause == 'exted'", "unknown cause \"exted\" (did you mean \"exited\"?)" },
		{ "sources == paact", "unknown source \"paact\" (did you mean \"pacct\"?)" },
		{ "inherited == usr", "unknown field \"usr\" (did you mean \"user\"?)" },
		{ "cause > exited", "has no order" },
		{ "sources ~ 'p'", "is not text" },
		{ "comm < 'a'", "has no order" },
		{ "entity == 'x'", "only be asked for by exists()" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void truth_values(void **state)
{
	static const char *const wrong[][2] = {
		{ "core == 1", "either true or false" },
		{ "core > false", "has no order" },
		{ "comm", "not true or false by itself" },
		{ "not elapsed", "exists(elapsed)" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void times(void **state)
{
	static const char *const wrong[][2] = {
		{ "end > 2026", "is a time, such as" },
		{ "end > '2026-02-29'", "is a time" },
		{ "end > '2100-02-29'", "is a time" },
		{ "end > '2026-13-01'", "is a time" },
		{ "end > '2026-00-01'", "is a time" },
		{ "end > '2026-01-00'", "is a time" },
		{ "end > '2026-01-02T24:00'", "is a time" },
		{ "end > '2026-01-02T03:04:05.Z'", "is a time" },
		{ "end > '2026-01-02T03:04:05+0200'", "is a time" },
		{ "end > '2026-01-02T03:04:05Z '", "is a time" },
		{ "end > '3:04'", "is a time" },
		{ "end > ''", "is a time" },
		{ "end > '9999-01-01'", "outside of what can be recorded" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void ids(void **state)
{
	static const char *const wrong[][2] = {
		{ "uid == unset", "is a number" },
		{ "uid == 'no such user'", "this host has no such user" },
		{ "gid == 'no such group'", "this host has no such group" },
		{ "pid == 'root'", "is a number" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void wrong_expressions_are_refused(void **state)
{
	static const char *const wrong[][2] = {
		{ "", "column 1: a comparison is missing" },
		{ "   ", "column 4: a comparison is missing" },
		{ "code", "compare it with something" },
		{ "code ==", "column 8: a value is missing" },
		{ "code = 1", "no operator \"=\" (did you mean \"==\"?)" },
		{ "comm =~ 'a'", "no operator \"=~\" (did you mean \"~\"?)" },
		{ "code == 1 & pid == 1", "did you mean \"&&\"?" },
		{ "code == 1 | pid == 1", "did you mean \"||\"?" },
		{ "code == 1 and", "a comparison is missing" },
		{ "and code == 1", "a comparison is missing" },
		{ "code == 1 code == 2", "\"and\" or \"or\" is missing" },
		{ "(code == 1", "closing ) is missing" },
		{ "code == 1)", "closes nothing" },
		{ "()", "a comparison is missing" },
		{ "comm == \"ssh", "column 9: the text that starts here has no closing \"" },
		{ "comm == 'a\\'", "no closing '" },
		{ "comm == 'a\\", "no closing '" },
		{ "comm == ssh", "needs quotes: \"ssh\"" },
		{ "comm == 7z", "needs quotes: \"7z\"" },
		{ "comm ~ ssh", "needs quotes" },
		{ "comm ~ '('", "nmatched" },
		{ "comm ~ '[a'", "nmatched" },
		{ "comm ~ 'a\\x00b'", "NUL" },
		{ "comm ~ '(a)\\1'", "refer back" },
		{ "comm ~ '((a{200}){200}){200}'", "repeats too much" },
		{ "comm ~ 'a{99999999999}'", "repeats too much" },
		{ "comm ~ 'a++++++++++++++++++++++++++++++'", "repeats too much" },
		{ "comm ~ '(a?){0,3000}'", "repeats too much" },
		{ "comm ~ '((((ab){9}){9}){9}){9}'", "repeats too much" },
		{ "'ssh' == comm", "starts with a field" },
		{ "1 == code", "starts with a field" },
		{ "exists", "( of exists(FIELD)" },
		{ "exists()", "name of a field" },
		{ "exists(comm", ") of exists(FIELD)" },
		{ "exists(nothing_like_it)", "unknown field \"nothing_like_it\"" },
		{ "pid in 1", "( of a list" },
		{ "pid in ()", "a value is missing" },
		{ "pid in (1", ") of the list" },
		{ "pid in (1,)", "a value is missing" },
		{ "pid in (1 2)", ") of the list" },
		{ "pid not 1", "\"in\" is missing" },
		{ "pid == @", "nothing can start with this" },
		{ "pid == (1)", "a value is missing" },
		{ "PID == 1", "did you mean \"pid\"?" },
		{ "Comm == 'a'", "did you mean \"comm\"?" },
		{ "id == 1", "\"id\" is not one field: process.user.id" },
		{ "usr == 'a'", "did you mean \"user\"?" },
		{ "elapsde > 1s", "did you mean \"elapsed\"?" },
		{ "proces.exit.code == 1", "did you mean \"process.exit.code\"?" },
	};

	(void)state;
	all_wrong(wrong, ARRAY_SIZE(wrong));
}

static void messages_point_at_the_place(void **state)
{
	char error[FILTER_ERROR_SIZE];
	struct filter *f;

	(void)state;
	assert_int_equal(filter_new(&f, "not ( exti.code == 1)", error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "filter: column 7: unknown field \"exti.code\" (did you mean "
				   "\"exit.code\"?)\n"
				   "  not ( exti.code == 1)\n"
				   "        ^");
	/* Columns are characters, and nothing of the expression can act on a terminal. */
	assert_int_equal(
		filter_new(&f, "comm == '\xc3\xa4\x1b\xff\xc2\x9b' x", error, sizeof(error)),
		-EINVAL);
	assert_string_equal(error,
			    "filter: column 17: the expression is complete before this: \"and\" or "
			    "\"or\" is missing\n"
			    "  comm == '\xc3\xa4?\?\?\?' x\n"
			    "                  ^");
}

static void messages_show_a_part_of_a_long_expression(void **state)
{
	char error[FILTER_ERROR_SIZE], expr[1200] = "";
	const char *line, *caret;
	struct filter *f;

	(void)state;
	for (int i = 0; i < 50; i++)
		strcat(expr, "code == 1 or ");
	strcat(expr, "WRONG");
	for (int i = 0; i < 30; i++)
		strcat(expr, " and code == 1");
	assert_int_equal(filter_new(&f, expr, error, sizeof(error)), -EINVAL);
	line = strchr(error, '\n') + 1;
	caret = strchr(line, '\n') + 1;
	assert_true(caret - line < 90);
	assert_memory_equal(line, "  ...", 5);
	assert_memory_equal(caret - 4, "...", 3);
	assert_memory_equal(line + strspn(caret, " "), "WRONG", 5);
	/* However small the buffer, it ends in a NUL and nothing is written behind it. */
	for (size_t size = 0; size < sizeof(error); size++) {
		memset(error, 'Z', sizeof(error));
		assert_int_equal(filter_new(&f, expr, error, size), -EINVAL);
		assert_int_equal(error[size], 'Z');
		assert_true(size == 0 || memchr(error, '\0', size));
	}
	assert_int_equal(filter_new(&f, expr, NULL, 0), -EINVAL);
}

/* Hostile input costs a message, not the stack. */
static void depth_and_length_are_bounded(void **state)
{
	enum { MANY = 60000 };
	char *expr = malloc(MANY * 4 + 32);
	char error[FILTER_ERROR_SIZE];
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .exit_code = 3 };
	struct filter *f = NULL;

	(void)state;
	assert_non_null(expr);
	memset(expr, '(', MANY);
	expr[MANY] = '\0';
	assert_int_equal(filter_new(&f, expr, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "column 65: nested deeper than 64"));
	memset(expr, '!', MANY);
	assert_int_equal(filter_new(&f, expr, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "nested deeper"));
	memset(expr, ' ', MANY * 2);
	expr[MANY * 2] = '\0';
	assert_int_equal(filter_new(&f, expr, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "longer than"));
	/* A long chain is not deep. */
	field_set(&r, EXEUNT_F_EXIT_CODE);
	field_set(&r, EXEUNT_F_EXIT_CAUSE);
	expr[0] = '\0';
	for (char *end = expr; end < expr + MANY; end += 12)
		strcpy(end, "(!core) and ");
	strcpy(expr + MANY, "code == 3");
	assert_int_equal(filter_new(&f, expr, error, sizeof(error)), 0);
	assert_true(filter_match(f, &r));
	filter_free(f);
	free(expr);
}

static void patterns_of_others_are_plain(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .comm = "ssh-agent" };
	char error[FILTER_ERROR_SIZE];
	struct filter *f;

	(void)state;
	field_set(&r, EXEUNT_F_COMM);
	assert_int_equal(filter_new_promptly(&f, "comm ~ '^ssh' and comm ~ 'gent$' and comm ~ '-'",
					     error, sizeof(error)),
			 0);
	assert_true(filter_match(f, &r));
	filter_free(f);
	assert_int_equal(filter_new_promptly(&f, "comm ~ '^ssh' and comm ~ '[ab]*a[ab]{20}c'",
					     error, sizeof(error)),
			 -EINVAL);
	assert_non_null(strstr(error, "only plain text"));
}

/* Accounts of the host itself, and no more of them than a moment takes. */
static void names_are_looked_up_promptly(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .uid = 0, .gid = 0 };
	char error[FILTER_ERROR_SIZE], expr[1024] = "uid in (";
	struct filter *f;

	(void)state;
	field_set(&r, EXEUNT_F_UID);
	field_set(&r, EXEUNT_F_GID);
	assert_int_equal(filter_new_promptly(&f,
					     "uid == 'root' and gid == 'root' and user == 'root'",
					     error, sizeof(error)),
			 0);
	assert_true(filter_match(f, &r));
	filter_free(f);
	assert_int_equal(filter_new_promptly(&f, "uid == 'no such user'", error, sizeof(error)),
			 -EINVAL);
	assert_non_null(strstr(error, "no such user among its own; give the number"));
	for (unsigned int i = 0; i < 16; i++)
		strcat(expr, "'root',");
	strcpy(expr + strlen(expr) - 1, ")");
	assert_int_equal(filter_new_promptly(&f, expr, error, sizeof(error)), 0);
	filter_free(f);
	strcpy(expr + strlen(expr) - 1, ",'root')");
	assert_int_equal(filter_new_promptly(&f, expr, error, sizeof(error)), -EINVAL);
	assert_int_equal(filter_new(&f, expr, error, sizeof(error)), 0);
	filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_units),
		cmocka_unit_test(signal_names),
		cmocka_unit_test(words_of_the_schema),
		cmocka_unit_test(truth_values),
		cmocka_unit_test(times),
		cmocka_unit_test(ids),
		cmocka_unit_test(wrong_expressions_are_refused),
		cmocka_unit_test(messages_point_at_the_place),
		cmocka_unit_test(messages_show_a_part_of_a_long_expression),
		cmocka_unit_test(depth_and_length_are_bounded),
		cmocka_unit_test(patterns_of_others_are_plain),
		cmocka_unit_test(names_are_looked_up_promptly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
