/* SPDX-License-Identifier: MIT */
/* join/context.h with a made-up /proc: what is read at EXEC, and what of it is believed. */
#include "unit/test.h"

#include "unit/proctree.h"

static void test_exec(void **state)
{
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	show(&shell);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	r = record_of(c, 100, 1 * S);
	check(r.exe_path, "/bin/sh");
	check(r.cwd, "/home");
	assert_int_equal(r.n_args, 2);
	check(r.args[0], "sh");
	check(r.args[1], "-l");
	check(r.cgroup, "/user.slice/user-1000.slice/session-3.scope");
	check(r.unit, "session-3.scope");
	assert_false(exeunt_has(&r, EXEUNT_F_CONTAINER_ID));
	assert_int_equal(r.login_uid, 1000);
	assert_int_equal(r.session, 3);
	assert_string_equal(r.comm, "sh");
	assert_int_equal(r.inherited[0] | r.inherited[1], 0);

	/* a child that only forks has it all from its parent, says so, and costs nothing more */
	context_fork(c, 100, 200, 2 * S);
	r = record_of(c, 200, 2 * S);
	check(r.exe_path, "/bin/sh");
	assert_int_equal(r.n_args, 2);
	check(r.unit, "session-3.scope");
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH) && is_inherited(&r, EXEUNT_F_ARGS));
	assert_true(is_inherited(&r, EXEUNT_F_CWD) && is_inherited(&r, EXEUNT_F_CGROUP));
	assert_true(is_inherited(&r, EXEUNT_F_UNIT) && is_inherited(&r, EXEUNT_F_LOGIN_UID));
	assert_false(is_inherited(&r, EXEUNT_F_CONTAINER_ID));
	context_free(c);
}

/*
 * Read too late: what exec replaces is not told, what it keeps comes from the parent; all of it is
 * marked.
 */
static void test_exec_read_too_late(void **state)
{
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	show(&shell);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + MS);
	r = record_of(c, 200, 2 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH) || exeunt_has(&r, EXEUNT_F_ARGS));
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH) && is_inherited(&r, EXEUNT_F_ARGS));
	check(r.cwd, "/home");
	check(r.unit, "session-3.scope");
	assert_int_equal(r.login_uid, 1000);
	assert_true(is_inherited(&r, EXEUNT_F_CWD) && is_inherited(&r, EXEUNT_F_LOGIN_UID));
	assert_true(stats_of(c).gone >= 1);
	context_free(c);
}

/*
 * A zombie still has a login uid and a name, but neither executable nor arguments; version 1 groups
 * say "/".
 */
static void test_exec_of_a_zombie(void **state)
{
	struct process p = { 200,  100,	 2 * S,	 "tr", NULL,
			     NULL, NULL, "1000", "3",  "1:name=systemd:/\n0::/x.service\n",
			     4,	   1 };
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	show(&shell);
	show(&p);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + MS);
	r = record_of(c, 200, 2 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH) || exeunt_has(&r, EXEUNT_F_ARGS));
	assert_string_equal(r.comm, "tr");
	assert_false(is_inherited(&r, EXEUNT_F_LOGIN_UID));
	check(r.unit, "session-3.scope");
	assert_true(is_inherited(&r, EXEUNT_F_UNIT));
	/* with version 2 alone the group of a process that ends is right */
	p.cgroup = "0::/x.service (deleted)\n";
	show(&p);
	context_exec(c, 200, 2 * S + 2 * MS);
	r = record_of(c, 200, 2 * S);
	check(r.cgroup, "/x.service");
	assert_false(is_inherited(&r, EXEUNT_F_CGROUP));
	context_free(c);
}

/* By the time of the read another process has the pid. */
static void test_exec_pid_used_again(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	p.pid = 200;
	p.start_ns = 7 * S;
	p.exe = "/bin/other";
	show(&p);
	context_fork(c, 1, 200, 2 * S);
	context_exec(c, 200, 2 * S + MS);
	r = record_of(c, 200, 2 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH) || exeunt_has(&r, EXEUNT_F_LOGIN_UID));
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH));
	/* the other way round: its FORK was lost, and the EXEC is the new owner's */
	context_exec(c, 200, 7 * S + 50 * MS);
	check(record_of(c, 200, 7 * S + 50 * MS).exe_path, "/bin/other");
	r = record_of(c, 200, 2 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));
	context_free(c);
}

/* Time asleep counts in /proc, not in the stamps. */
static void test_boot_offset(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);

	(void)state;
	p.start_ns = 1000 * S;
	show(&p);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	assert_int_equal(context_lookup(c, 100, 1 * S)->known & CONTEXT_EXE, 0);
	context_set_boot_offset(c, 999 * S);
	context_exec(c, 100, 1 * S + 2 * MS);
	assert_int_equal(context_lookup(c, 100, 1 * S)->known & CONTEXT_EXE, CONTEXT_EXE);
	context_free(c);
}

/* taskstats says that it called exec, and no EXEC came: the parent's program is not its own. */
static void test_lost_exec(void **state)
{
	struct context *c = make(NULL);
	struct exeunt_record r = { .forked_not_execed = false };

	(void)state;
	show(&shell);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	context_fork(c, 100, 200, 2 * S);
	r.present[EXEUNT_F_FORKED_NOT_EXECED / 64] |= UINT64_C(1)
						      << EXEUNT_F_FORKED_NOT_EXECED % 64;
	context_to_record(context_lookup(c, 200, 2 * S), &r);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH) || exeunt_has(&r, EXEUNT_F_ARGS));
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH) && is_inherited(&r, EXEUNT_F_ARGS));
	assert_int_equal(r.login_uid, 1000);
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_read_too_late),
		cmocka_unit_test(test_exec_of_a_zombie),
		cmocka_unit_test(test_exec_pid_used_again),
		cmocka_unit_test(test_boot_offset),
		cmocka_unit_test(test_lost_exec),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
