/* SPDX-License-Identifier: MIT */
/*
 * join/context.h with a made-up /proc: what changes without an event, the budget, seeding,
 * sweeping.
 */
#include "unit/test.h"

#include "unit/proctree.h"

/*
 * The case: a shell sets its login uid without any event, then has thousands of short-lived
 * children.
 */
static void test_login_set_after_exec(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);
	int64_t t = 2 * S;

	(void)state;
	p.login = p.session = "4294967295";
	show(&p);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	assert_int_equal(record_of(c, 100, 1 * S).login_uid, UINT32_MAX);
	assert_int_equal(record_of(c, 100, 1 * S).session, UINT32_MAX);
	show(&shell);
	for (int32_t i = 0; i < 5000; i++, t += MS) {
		struct exeunt_record r;

		context_fork(c, 100, 1000 + i, t);
		context_exit(c, 1000 + i, 1000 + i, t + MS / 2);
		r = record_of(c, 1000 + i, t);
		assert_int_equal(r.login_uid, 1000);
		assert_int_equal(r.session, 3);
		assert_int_equal(r.parent_pid_at_fork, 100);
		check(r.unit, "session-3.scope");
		context_release(c, context_lookup(c, 1000 + i, t), t + MS);
	}
	/* ten within the first second, then one a second */
	assert_in_range(stats_of(c).reads, 10, 20);
	context_free(c);
}

/* The children that exec show it first. */
static void test_child_shows_that_parent_changed(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);

	(void)state;
	p.login = p.session = "4294967295";
	show(&p);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	for (int i = 0; i < 12;
	     i++) /* the parent has long been looked at, and is due in a second */
		context_fork(c, 100, 200 + i, (2 + i) * S);
	context_fork(c, 100, 300, 13 * S + 100 * MS);
	show(&shell);
	p = shell;
	p.pid = 300;
	p.start_ns = 13 * S + 100 * MS;
	show(&p);
	context_exec(c, 300, 13 * S + 101 * MS);
	context_fork(c, 100, 301, 13 * S + 102 * MS);
	assert_int_equal(record_of(c, 301, 13 * S + 102 * MS).login_uid, 1000);
	context_free(c);
}

/*
 * sshd: the user's process is forked after the login uid was set, changes its ids, and may never
 * exec.
 */
static void test_ids_are_a_reason_to_look(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);

	(void)state;
	context_fork(c, 99, 100, 1 * S);
	show(&p);
	context_uid(c, 100, 1000, 1000, 1 * S + MS);
	assert_int_equal(record_of(c, 100, 1 * S).login_uid, 1000);
	context_fork(c, 99, 101, 2 * S);
	p.pid = 101;
	p.start_ns = 2 * S;
	show(&p);
	context_sid(c, 101, 2 * S + MS);
	assert_int_equal(record_of(c, 101, 2 * S).login_uid, 1000);
	/* a server that changes them for each request is not read each time */
	for (int i = 0; i < 1000; i++)
		context_uid(c, 101, 1, 1, 2 * S + 2 * MS + i * 1000);
	assert_true(stats_of(c).reads < 10);
	context_free(c);
}

static void test_budget(void **state)
{
	const struct context_options o = { .reads_per_second = 100 };
	struct context *c = make(&o);
	struct exeunt_record r;

	(void)state;
	show(&shell);
	context_fork(c, 1, 100, 1 * S);
	for (int i = 0; i < 150; i++)
		context_exec(c, 100, 2 * S + i);
	assert_in_range(stats_of(c).refused, 50, 51);
	assert_int_equal(stats_of(c).refused_last_ns, 2 * S + 149);
	assert_in_range(stats_of(c).refused_first_ns, 2 * S + 98, 2 * S + 100);
	assert_true(stats_of(c).reads <= 101);
	r = record_of(c, 100, 1 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH) && is_inherited(&r, EXEUNT_F_ARGS));
	/* a hundredth of a second later there is one again */
	context_exec(c, 100, 2 * S + 150 + 10 * MS);
	r = record_of(c, 100, 1 * S);
	check(r.exe_path, "/bin/sh");
	assert_false(is_inherited(&r, EXEUNT_F_EXE_PATH));
	context_free(c);
}

static void test_seed(void **state)
{
	struct process p = {
		2,	  0,	    0, "kthreadd", NULL, NULL, NULL, "4294967295", "4294967295",
		"0::/\n", 0x200000, 1
	};
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	show(&shell);
	show(&p);
	assert_int_equal(context_seed(c, 50 * S), 2);
	assert_int_equal(context_seed(c, 51 * S), 0);
	r = record_of(c, 100, 1 * S);
	check(r.exe_path, "/bin/sh");
	assert_int_equal(r.euid, 6);
	assert_int_equal(r.egid, 2);
	assert_false(exeunt_has(&r, EXEUNT_F_PARENT_PID_AT_FORK));
	assert_int_equal(r.inherited[0] | r.inherited[1], 0);
	assert_int_equal(context_lookup(c, 2, 50 * S)->flags & CONTEXT_KTHREAD, CONTEXT_KTHREAD);
	r = record_of(c, 2, 50 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));

	/* its FORK was still in the queue: the same process, and now its start is known better */
	context_fork(c, 99, 100, 1 * S + 5 * MS);
	assert_int_equal(stats_of(c).entries, 2);
	r = record_of(c, 100, 1 * S + 5 * MS);
	check(r.exe_path, "/bin/sh");
	assert_int_equal(r.parent_pid_at_fork, 99);
	assert_false(is_inherited(&r, EXEUNT_F_EXE_PATH));
	/* a later FORK is another process */
	context_fork(c, 99, 100, 60 * S);
	assert_int_equal(stats_of(c).entries, 3);
	context_free(c);
}

/* A parent that nobody told of is read when its first child is. */
static void test_unknown_parent(void **state)
{
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	show(&shell);
	context_fork(c, 100, 200, 2 * S);
	r = record_of(c, 200, 2 * S);
	check(r.exe_path, "/bin/sh");
	assert_int_equal(r.login_uid, 1000);
	assert_int_equal(stats_of(c).orphans, 0);
	/* but not one that began after the child */
	context_fork(c, 100, 201, 1 * S - 100 * MS);
	assert_int_equal(context_lookup(c, 201, 1 * S - 100 * MS)->known & CONTEXT_EXE, 0);
	assert_int_equal(stats_of(c).orphans, 1);
	context_free(c);
}

/* The known parent is dead, its pid used again, and neither was told. */
static void test_parent_pid_used_again(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);

	(void)state;
	show(&shell);
	context_seed(c, 2 * S);
	p.start_ns = 5 * S;
	p.exe = "/bin/other";
	p.login = "77";
	show(&p);
	context_fork(c, 100, 200, 6 * S);
	check(record_of(c, 200, 6 * S).exe_path, "/bin/other");
	assert_int_equal(record_of(c, 200, 6 * S).login_uid, 77);
	check(record_of(c, 100, 1 * S).exe_path, "/bin/sh");
	context_free(c);
}

static void test_sweep_after_loss(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);

	(void)state;
	for (p.pid = 100; p.pid < 110; p.pid++)
		show(&p);
	context_seed(c, 2 * S);
	for (int pid = 100; pid < 105; pid++)
		hide(pid);
	context_tick(c, 3 * S);
	assert_int_equal(stats_of(c).entries, 10); /* nothing makes them suspect yet */
	context_lost(c, 4 * S);
	context_tick(c, 4 * S + 1);
	assert_int_equal(stats_of(c).entries, 5);
	assert_int_equal(stats_of(c).swept, 5);
	/* without a known loss too, only slowly */
	hide(109);
	p.pid = 108;
	p.start_ns = 9 * S; /* used again */
	show(&p);
	for (int i = 0; i < 10; i++)
		context_tick(c, 70 * S + i);
	assert_int_equal(stats_of(c).swept, 7);
	assert_int_equal(stats_of(c).entries, 3);
	context_free(c);
}

/* Ended, and nobody asked: dropped, unless threads of it are still there. */
static void test_linger_looks_for_threads(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);

	(void)state;
	p.threads = 2;
	show(&p);
	p.pid = 101;
	p.threads = 1;
	show(&p);
	context_seed(c, 2 * S);
	context_exit(c, 100, 100, 3 * S);
	context_exit(c, 101, 101, 3 * S);
	context_tick(c, 14 * S);
	assert_non_null(context_lookup(c, 100, 1 * S));
	assert_null(context_lookup(c, 101, 1 * S));
	context_exit(c, 100, 105, 15 * S);
	assert_int_equal(context_lookup(c, 100, 1 * S)->end_ns, 15 * S);
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_login_set_after_exec),
		cmocka_unit_test(test_child_shows_that_parent_changed),
		cmocka_unit_test(test_ids_are_a_reason_to_look),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_unknown_parent),
		cmocka_unit_test(test_parent_pid_used_again),
		cmocka_unit_test(test_sweep_after_loss),
		cmocka_unit_test(test_linger_looks_for_threads),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
