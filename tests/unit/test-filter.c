/* SPDX-License-Identifier: MIT */
/* The filter language: each kind of field compared with values. See test-filter-logic.c and test-filter-errors.c too. */
#include "unit/filter.h"

#include <exeunt/exeunt.h>

#include <time.h>

static void numbers_compare(void **state)
{
	static const char yes[] =
		"exit.code == 3; code != 0; code < 4; code <= 3; code > 2; code >= 3; "
		"nice < 0; nice == -5; nice > -6; pid == 4242; code==0x3; pid in (1, 4242, 7); "
		"pid not in (1,2); process.nice<=-5";
	static const char no[] =
		"code == 2; code != 3; code < 3; code > 3; nice > 0; nice < -5; pid in(1); "
		"nice >= 0.5; pid not in (4242)";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
	all_false(&r, no);
}

static void units_belong_to_the_field(void **state)
{
	static const char yes[] =
		"elapsed == 1.5s; elapsed > 1s; elapsed == 1500ms; elapsed == 1500000; "
		"elapsed < 1m; elapsed < 1h; elapsed < 1d; rss >= 100M; rss == 102400K; "
		"rss == 100MiB; rss < 0.1G; rss <= 104857600; usage.cpu.run_ns == 2500; "
		"cpu.run_ns > 2us; cpu.run_ns == 2.5us; cpu.run_ns > 0.000000001s; rss < 1T";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
}

/* A value that lies between two whole numbers of the field is exact too. */
static void values_between_are_exact(void **state)
{
	static const char yes[] =
		"elapsed > 1499999.5us; elapsed >= 1499999.5us; elapsed < 1500000.5us; "
		"elapsed <= 1500000.5us; elapsed != 1500000.5us; elapsed < 1500000001ns; "
		"nice > -5.5; nice < -4.5; nice >= -5.5; nice <= -4.5; elapsed > 1499999999ns";
	static const char no[] =
		"elapsed == 1500000.5us; elapsed > 1500000.5us; elapsed < 1499999.5us; "
		"nice == -4.5; nice < -5.5";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
	all_false(&r, no);
}

static void large_numbers_keep_their_order(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .rss_peak_bytes = UINT64_MAX };
	static const char yes[] =
		"rss == 18446744073709551615; rss > 1T; rss >= 0xffffffffffffffff";

	(void)state;
	field_set(&r, EXEUNT_F_RSS_PEAK);
	all_true(&r, yes);
}

static void text_compares(void **state)
{
	static const char yes[] =
		"comm == \"ssh-agent\"; comm == 'ssh-agent'; comm != \"ssh\"; comm ~ \"^ssh\"; "
		"comm ~ \"agent$\"; comm ~ \"-\"; comm ~ \"^ssh-agent$\"; comm ~ \"\"; "
		"comm !~ \"^agent\"; comm ~ \"^(ssh|scp)\"; comm ~ '^s{2}h-[a-z]+$'; "
		"comm !~ \"^s.$\"; exe ~ '^/usr/(s?bin)/ssh'; "
		"exe == \"\\x2fusr/bin/ssh\\x2dagent\"; comm in (\"a\", \"ssh-agent\"); "
		"exe !~ '\\.sh$'; comm ~ '[[:alpha:]]-'; comm not in ('a')";
	static const char no[] =
		"comm == \"ssh\"; comm ~ \"^agent\"; comm ~ \"ssh$\"; comm ~ '^ssh$'; "
		"comm ~ 's.s'; comm !~ 'ssh.agent'; exe ~ '\\.'; comm ~ 'SSH'";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
	all_false(&r, no);
}

/* Bytes are compared as they are: NUL, newline, broken UTF-8, and no NUL behind. */
static void text_is_bytes(void **state)
{
	static const char raw[] = { 'a', '\0', '\xff', '\n', 'b', 'X' };
	static const char yes[] =
		"cwd == 'a\\x00\\xff\\nb'; cwd ~ '^a'; cwd ~ 'b$'; cwd ~ '[b]$'; cwd != 'a'; "
		"cwd !~ 'X'; cwd !~ '[X]'";
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .cwd = { raw, 5 } };

	(void)state;
	field_set(&r, EXEUNT_F_CWD);
	all_true(&r, yes);
	r.cwd = (struct exeunt_bytes){ NULL, 0 };
	assert_true(passes("cwd == ''", &r));
	assert_true(passes("cwd ~ '^$' and cwd ~ '^x*$'", &r));
	assert_false(passes("cwd ~ '.'", &r));
}

/* comm may fill its 16 bytes only in a damaged record; it must not be read past them. */
static void comm_without_nul(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };

	(void)state;
	memset(r.comm, 'c', sizeof(r.comm));
	memset(r.thread_name, 'd', sizeof(r.thread_name));
	field_set(&r, EXEUNT_F_COMM);
	assert_true(passes("comm == 'cccccccccccccccccccc'", &r));
}

static void arguments_are_a_list_and_a_line(void **state)
{
	static const char yes[] =
		"args == '-rf'; args != '-r'; args ~ '--token'; args ~ '^rm -rf --t'; "
		"args ~ '^rm .*=x $'; args == ''; args !~ '-rff'; args in ('a', 'rm'); "
		"args not in ('a')";
	static const char no[] = "args == 'rm -rf'; args != 'rm'; args ~ '^-rf'";
	struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
	all_false(&r, no);
	r.n_args = 1;
	assert_true(passes("args ~ '^rm$'", &r));
	r.n_args = 0;
	assert_true(passes("args ~ '^$' and args != 'rm'", &r));
}

static void arguments_longer_than_the_line_are_cut(void **state)
{
	enum { LONG = 200000 };
	_cleanup_free_
	char *a = malloc(LONG);
	struct exeunt_bytes many[3];
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .args = many, .n_args = 3 };

	(void)state;
	assert_non_null(a);
	memset(a, 'a', LONG);
	many[0] = many[1] = (struct exeunt_bytes){ a, LONG };
	many[2] = TEXT("end");
	field_set(&r, EXEUNT_F_ARGS);
	assert_true(passes("args ~ 'a a'", &r));
	assert_false(passes("args ~ 'end'", &r));
	assert_true(passes("args == 'end'", &r));
}

static void signals_have_names(void **state)
{
	static const char yes[] =
		"signal == SIGSEGV; signal == segv; signal == 11; signal == \"SIGSEGV\"; "
		"signal in (KILL, SEGV); signal_name == SIGSEGV; signal_name ~ '^SIGSE'; "
		"signal != SIGKILL; signal < SIGRTMIN+3; signal < sigrtmax-2; "
		"signal_name != 'SIGHUP'";
	const struct exeunt_record r = killed();

	(void)state;
	all_true(&r, yes);
}

static void every_signal_is_found_by_its_name(void **state)
{
	struct exeunt_record r = killed();

	(void)state;
	for (uint32_t i = 1; i <= 64; i++) {
		char expr[64];

		snprintf(expr, sizeof(expr), "signal == %s", exeunt_signal_name(i));
		r.exit_signal = i;
		assert_true(passes(expr, &r));
		r.exit_signal = i + 1;
		assert_false(passes(expr, &r));
	}
}

static void words_of_the_schema(void **state)
{
	static const char yes[] =
		"cause == \"core_dumped\"; cause == core_dumped; cause != exited; "
		"cause ~ 'dumped$'; cause in (signaled, core_dumped)";
	static const char lists[] =
		"sources == \"pacct\"; sources == taskstats; sources != audit; "
		"sources in (audit, pacct); missing == procevents; missing != pacct; "
		"inherited == cwd; inherited == 'process.user.name'; "
		"inherited != process.user.id";
	struct exeunt_record r = killed();

	(void)state;
	all_true(&r, yes);
	r = ended();
	r.missing = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PROCEVENTS);
	field_set(&r, EXEUNT_F_MISSING);
	r.inherited[EXEUNT_F_CWD / 64] |= UINT64_C(1) << (EXEUNT_F_CWD % 64);
	r.inherited[EXEUNT_F_USER / 64] |= UINT64_C(1) << (EXEUNT_F_USER % 64);
	field_set(&r, EXEUNT_F_INHERITED);
	all_true(&r, lists);
}

static void truth_values(void **state)
{
	static const char yes[] =
		"core; core == true; core != false; not not core; !(core == FALSE)";
	struct exeunt_record r = killed();

	(void)state;
	all_true(&r, yes);
	r.exit_core_dumped = false;
	all_false(&r, yes);
}

static void times_are_points(void **state)
{
	static const char yes[] =
		"end == \"2026-01-02T03:04:05.5Z\"; end > '2026-01-02T03:04:05Z'; "
		"end < '2026-01-02T03:04:06Z'; end == '2026-01-02t05:34:05.500+02:30'; "
		"end == '2026-01-01T22:04:05.5-05:00'; end > '2026-01-02'; end < '2026-01-03'; "
		"end >= '2026-01-02 03:04'; end < '2026-01-02 03:05'; "
		"end < '2026-01-02 03:04:05.500000001'; end > '1969-12-31T23:59:59.5Z'";
	struct exeunt_record r = ended();

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	all_true(&r, yes);
	assert_true(passes("end < '2028-02-29' and end > '2000-02-29'", &r));
	/* Without a zone it is the user's own. */
	setenv("TZ", "XXX-3", 1);
	tzset();
	assert_true(passes("end == '2026-01-02 06:04:05.5'", &r));
	unsetenv("TZ");
	tzset();
	r.exit_time_ns = -1;
	assert_true(passes("end < '1970-01-01T00:00:00Z'", &r));
}

static void patterns_with_brackets_are_understood(void **state)
{
	static const char yes[] =
		"comm !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'; comm !~ '^x{2}y{1000}$'; "
		"comm ~ '[]a]gent'; comm ~ '^[^]]*$'; comm ~ '[[:alpha:]]{3}-'; "
		"comm !~ '[\\1]'; comm ~ '[-{]agent'; comm ~ 'ssh\\-agent'; comm ~ '^ssh\\-'; "
		"comm !~ 'ssh\\.agent'; comm !~ '\\^ssh'; comm !~ '\\$'; comm !~ '\\\\\\\\'";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_compare),
		cmocka_unit_test(units_belong_to_the_field),
		cmocka_unit_test(values_between_are_exact),
		cmocka_unit_test(large_numbers_keep_their_order),
		cmocka_unit_test(text_compares),
		cmocka_unit_test(text_is_bytes),
		cmocka_unit_test(comm_without_nul),
		cmocka_unit_test(arguments_are_a_list_and_a_line),
		cmocka_unit_test(arguments_longer_than_the_line_are_cut),
		cmocka_unit_test(signals_have_names),
		cmocka_unit_test(every_signal_is_found_by_its_name),
		cmocka_unit_test(words_of_the_schema),
		cmocka_unit_test(truth_values),
		cmocka_unit_test(times_are_points),
		cmocka_unit_test(patterns_with_brackets_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
