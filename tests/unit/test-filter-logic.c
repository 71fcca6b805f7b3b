/* SPDX-License-Identifier: MIT */
/* The filter language: and, or, not; fields that a record does not have; names that it has only as numbers. */
#include "unit/filter.h"

#include <grp.h>
#include <pwd.h>

/* A field that the record does not have makes a comparison unknown, whatever surrounds it. */
static void absent_is_unknown(void **state)
{
	static const char unknown[] =
		"code == 3; code != 3; comm ~ '.'; comm !~ 'x'; rss > 1; signal in (1); "
		"args == 'a'; args ~ 'a'; used_privilege; core; user == 'root'; user ~ 'root'; "
		"sources == pacct; certain; end > '2026-01-01'; code == 3 or comm == 'x'; "
		"code == 3 and pid == 7";
	static const char yes[] =
		"code == 3 or pid == 7; pid == 7 or code == 3; pid == 7 and not exists(code); "
		"not (code == 3 and pid == 8); exists(pid); not exists(comm)";
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .pid = 7 };

	(void)state;
	field_set(&r, EXEUNT_F_PID);
	all_unknown(&r, unknown);
	all_true(&r, yes);
}

/* What the record says by leaving a field out is known. */
static void left_out_on_purpose_is_known(void **state)
{
	static const char of_killed[] =
		"code != 0; not code == 0; not (code > 0); code not in (0, 1); certain; "
		"not backfilled; missing != audit; inherited != cwd; not exists(code); "
		"not exists(certain)";
	static const char of_ended[] =
		"signal != SIGKILL; not signal == 9; not (signal < 64); "
		"signal_name != SIGKILL; signal_name !~ 'KILL'; not core; core == false; "
		"core != true; not (signal in (9, 15))";
	struct exeunt_record r = killed();

	(void)state;
	all_true(&r, of_killed);
	r = ended();
	all_true(&r, of_ended);
	field_set(&r, EXEUNT_F_EXIT_CERTAIN);
	assert_true(passes("not certain and exists(certain)", &r));
}

static void names_are_found_by_number(void **state)
{
	const struct passwd *pw = getpwuid(0);
	const struct group *gr = getgrgid(0);
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };
	static const char unknown[] = "user == 'no such user'; user ~ '^r'";
	char expr[256];

	(void)state;
	if (!pw || !gr)
		skip();
	field_set(&r, EXEUNT_F_UID);
	field_set(&r, EXEUNT_F_GID);
	field_set(&r, EXEUNT_F_LOGIN_UID);
	snprintf(expr, sizeof(expr), "user == '%s' and uid == '%s' and login in ('%s', 'x')",
		 pw->pw_name, pw->pw_name, pw->pw_name);
	assert_true(passes(expr, &r));
	snprintf(expr, sizeof(expr), "group == '%s' and gid == '%s'", getgrgid(0)->gr_name,
		 getgrgid(0)->gr_name);
	assert_true(passes(expr, &r));
	all_unknown(&r, unknown);
	r.uid = 1;
	snprintf(expr, sizeof(expr), "user != '%s' and uid != '%s'", getpwuid(0)->pw_name,
		 getpwuid(0)->pw_name);
	assert_true(passes(expr, &r));
	/* A name in the record is stronger than the numbers of this host. */
	r.uid = 0;
	r.user = TEXT("elsewhere");
	field_set(&r, EXEUNT_F_USER);
	assert_true(passes("user == 'elsewhere' and user != 'root'", &r));
}

static void login_uid_can_be_unset(void **state)
{
	static const char yes[] = "auid == unset; auid == 4294967295";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
}

static void and_binds_tighter_than_or(void **state)
{
	static const char yes[] =
		"pid == 4242 or pid == 1 and pid == 2; pid == 1 and pid == 2 || pid == 4242; "
		"(pid == 4242 or pid == 1) and code == 3; not pid == 1 and code == 3; "
		"! pid == 1 && !(code == 4); NOT pid == 1 AND code == 3 Or pid == 1; "
		"((((code == 3)))); not(uid == 0 or cause == \"signaled\"); "
		"exit.code!=0 and comm~\"^ssh\"; \tpid == 4242\n and\r code == 3 ";
	const struct exeunt_record r = ended();

	(void)state;
	all_true(&r, yes);
	assert_false(passes("(pid == 4242 or pid == 1) and pid == 2", &r));
	assert_false(passes("not (pid == 1 or code == 3)", &r));
}

static void only_records_about_processes_are_judged(void **state)
{
	struct exeunt_record r = ended();

	(void)state;
	for (int type = EXEUNT_TYPE_EXIT; type <= EXEUNT_TYPE_INTERIM; type++) {
		bool judged = type == EXEUNT_TYPE_EXIT || type == EXEUNT_TYPE_THREAD ||
			      type == EXEUNT_TYPE_AMEND || type == EXEUNT_TYPE_INTERIM;

		r.type = (uint16_t)type;
		assert_int_equal(passes("code == 0", &r), !judged);
		assert_true(passes("code == 3", &r));
	}
}

static void every_field_can_be_asked_for(void **state)
{
	const struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };

	(void)state;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		char expr[128];

		snprintf(expr, sizeof(expr), "not exists(%s)", field_table[i].path);
		assert_true(passes(expr, &r));
	}
	filter_free(NULL);
}

static void tells_what_it_asks_about(void **state)
{
	uint64_t mask[EXEUNT_PRESENT_WORDS];
	char error[FILTER_ERROR_SIZE];
	struct filter *f;

	(void)state;
	assert_int_equal(filter_new(&f, "not (comm == 'a' or exists(login)) and rss > 1", error,
				    sizeof(error)),
			 0);
	filter_fields(f, mask);
	for (unsigned int i = 0; i < EXEUNT_F_COUNT; i++)
		assert_int_equal(mask[i / 64] >> (i % 64) & 1, i == EXEUNT_F_COMM ||
								       i == EXEUNT_F_LOGIN_USER ||
								       i == EXEUNT_F_RSS_PEAK);
	filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_is_unknown),
		cmocka_unit_test(left_out_on_purpose_is_known),
		cmocka_unit_test(names_are_found_by_number),
		cmocka_unit_test(login_uid_can_be_unset),
		cmocka_unit_test(and_binds_tighter_than_or),
		cmocka_unit_test(only_records_about_processes_are_judged),
		cmocka_unit_test(every_field_can_be_asked_for),
		cmocka_unit_test(tells_what_it_asks_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
