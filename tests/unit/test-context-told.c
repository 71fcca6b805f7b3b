/* SPDX-License-Identifier: MIT */
/* join/context.h: what audit tells of an EXEC, alone and beside the events and /proc. */
#include "unit/test.h"

#include "unit/proctree.h"

#define BYTES(s) ((struct exeunt_bytes){ (s), sizeof(s) - 1 })

static const struct exeunt_bytes make_args[] = { BYTES("make"), BYTES("-C"), BYTES("a b"),
						 BYTES("") };
static const struct exeunt_bytes make_exe = BYTES("/usr/bin/make"), srv = BYTES("/srv");
static const struct exeunt_bytes env_exe = BYTES("/usr/bin/env");

static struct context_told told_at(int64_t mono_ns)
{
	return (struct context_told){ .tgid = 200,
				      .mono_ns = mono_ns,
				      .exe = &make_exe,
				      .cwd = &srv,
				      .args = make_args,
				      .n_args = 4,
				      .has_login = true,
				      .login_uid = 1000,
				      .session = 3 };
}

static void tell_at(struct context *c, int64_t mono_ns)
{
	struct context_told t = told_at(mono_ns);

	context_told_exec(c, &t);
}

/* env, then make, by the same process. */
static void tell_env_at(struct context *c, int64_t mono_ns)
{
	struct context_told t = told_at(mono_ns);

	t.exe = &env_exe;
	t.n_args = 1;
	context_told_exec(c, &t);
}

static struct context *without_proc(const struct context_options *more)
{
	struct context_options o = more ? *more : (struct context_options){ 0 };
	struct context *c;

	o.proc_path = "";
	assert_int_equal(context_new(&c, &o, NULL), 0);
	return c;
}

static void check_make(struct context *c, int64_t t)
{
	struct exeunt_record r = record_of(c, 200, t);

	check(r.exe_path, "/usr/bin/make");
	assert_int_equal(r.n_args, 4);
	check(r.args[2], "a b");
	check(r.args[3], "");
	assert_false(is_inherited(&r, EXEUNT_F_EXE_PATH) || is_inherited(&r, EXEUNT_F_ARGS));
}

/* Audit alone: the entry is made by its EXEC, and inherited by nobody. */
static void test_audit_alone(void **state)
{
	struct context *c = without_proc(NULL);
	struct exeunt_record r;

	(void)state;
	tell_at(c, 5 * S);
	check_make(c, 6 * S);
	r = record_of(c, 200, 6 * S);
	check(r.cwd, "/srv");
	assert_int_equal(r.login_uid, 1000);
	assert_int_equal(r.session, 3);
	assert_int_equal(r.inherited[0] | r.inherited[1], 0);
	assert_false(exeunt_has(&r, EXEUNT_F_PARENT_PID_AT_FORK));
	/* the next program of the same process */
	tell_env_at(c, 7 * S);
	check(record_of(c, 200, 8 * S).exe_path, "/usr/bin/env");
	assert_int_equal(stats_of(c).entries, 1);
	/* records of one that is out make nothing; those of the next owner of the pid do */
	context_release(c, context_lookup(c, 200, 8 * S), 9 * S);
	tell_at(c, 8 * S);
	assert_null(context_lookup(c, 200, 9 * S));
	tell_at(c, 10 * S);
	check_make(c, 11 * S);
	context_free(c);
}

/* Half an event: what is whole is kept, the rest is marked and not made up. */
static void test_half_an_event(void **state)
{
	struct context *c = without_proc(NULL);
	struct context_told t = told_at(5 * S);
	struct exeunt_record r;

	(void)state;
	t.cwd = t.args = NULL;
	t.has_login = false;
	context_told_exec(c, &t);
	r = record_of(c, 200, 6 * S);
	check(r.exe_path, "/usr/bin/make");
	assert_false(exeunt_has(&r, EXEUNT_F_ARGS) || exeunt_has(&r, EXEUNT_F_CWD));
	assert_true(is_inherited(&r, EXEUNT_F_ARGS) && is_inherited(&r, EXEUNT_F_CWD));
	assert_false(is_inherited(&r, EXEUNT_F_EXE_PATH));
	/* some arguments are missing: what is there says so twice */
	t = told_at(7 * S);
	t.args_cut = true;
	context_told_exec(c, &t);
	r = record_of(c, 200, 8 * S);
	assert_int_equal(r.n_args, 5);
	check(r.args[4], "...");
	assert_true(is_inherited(&r, EXEUNT_F_ARGS));
	/* a program of which less is told does not keep what is known of the one before */
	t = told_at(9 * S);
	t.exe = t.args = NULL;
	context_told_exec(c, &t);
	r = record_of(c, 200, 10 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH) || exeunt_has(&r, EXEUNT_F_ARGS));
	context_free(c);
}

static void test_bounds_and_secrets(void **state)
{
	static const char *const patterns[] = { "-C a[^ ]*" };
	struct context_options o = { .args_bytes = 8, .args_count = 2 };
	struct context *c = without_proc(&o);
	struct context_told t = told_at(5 * S);
	const struct exeunt_bytes *args;
	struct exeunt_record r;

	(void)state;
	context_told_exec(c, &t);
	r = record_of(c, 200, 6 * S);
	assert_int_equal(r.n_args, 3);
	check(r.args[1], "-C");
	check(r.args[2], "...");
	assert_int_equal(stats_of(c).args_cut, 1);
	context_free(c);

	o = (struct context_options){ .redact = patterns, .n_redact = 1 };
	c = without_proc(&o);
	context_told_exec(c, &t);
	r = record_of(c, 200, 6 * S);
	assert_int_equal(r.n_args, 3);
	check(r.args[1], "*** b");
	/* half an argument could escape the pattern */
	t.mono_ns = 7 * S;
	t.args_cut = true;
	context_told_exec(c, &t);
	r = record_of(c, 200, 8 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_ARGS));
	assert_true(is_inherited(&r, EXEUNT_F_ARGS));
	/* those of a title: the last one is not whole */
	assert_int_equal(context_clean_args(c, make_args, 3, true, &args), 3);
	check(args[1], "-C");
	check(args[2], "...");
	context_free(c);

	o = (struct context_options){ .no_args = true };
	c = without_proc(&o);
	context_told_exec(c, &t);
	r = record_of(c, 200, 8 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_ARGS) || is_inherited(&r, EXEUNT_F_ARGS));
	check(r.exe_path, "/usr/bin/make");
	assert_int_equal(context_clean_args(c, make_args, 3, false, &args), 0);
	context_free(c);
}

/* The event came first, and /proc was read too late. */
static void test_told_behind_the_event(void **state)
{
	struct context *c = make(NULL);
	struct exeunt_record r;

	(void)state;
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + 5 * MS);
	r = record_of(c, 200, 2 * S);
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH));
	tell_at(c, 2 * S + 1 * MS);
	check_make(c, 2 * S);
	/* the mark of what audit does not tell stays */
	r = record_of(c, 200, 2 * S);
	assert_true(is_inherited(&r, EXEUNT_F_CGROUP));
	assert_false(is_inherited(&r, EXEUNT_F_CWD) || is_inherited(&r, EXEUNT_F_LOGIN_UID));
	/* and what is told of an earlier program changes nothing */
	context_exec(c, 200, 2 * S + 6 * MS);
	context_exec(c, 200, 2 * S + 7 * MS);
	tell_env_at(c, 2 * S + 5 * MS);
	r = record_of(c, 200, 2 * S);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));
	tell_at(c, 2 * S + 5 * MS);
	check_make(c, 2 * S);
	context_free(c);
}

/* Audit was faster than the events, by a clock that stands for a tick. */
static void test_told_before_the_event(void **state)
{
	struct context *c = make(NULL);

	(void)state;
	show(&shell);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S);
	tell_env_at(c, 2 * S - 3 * MS);
	tell_at(c, 2 * S - 3 * MS);
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + 1 * MS);
	check_make(c, 2 * S);
	context_exec(c, 200, 2 * S + 2 * MS);
	check_make(c, 2 * S);
	assert_int_equal(stats_of(c).entries, 2);
	assert_int_equal(context_lookup(c, 200, 2 * S)->parent_tgid, 100);
	/* a third one that audit did not tell of */
	context_exec(c, 200, 2 * S + 3 * MS);
	assert_int_equal(context_lookup(c, 200, 2 * S)->known & CONTEXT_EXE, 0);
	context_free(c);
}

/* What /proc gave in time is kept: it is as good, and may be newer. */
static void test_told_what_is_known(void **state)
{
	struct process p = shell;
	struct context *c = make(NULL);
	struct context_told t = told_at(2 * S);
	struct exeunt_record r;

	(void)state;
	p.pid = 200;
	p.start_ns = 2 * S;
	p.exe = "/usr/bin/make";
	p.args = "make all ";
	show(&p);
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + 1 * MS);
	t.args_cut = true;
	t.session = 4;
	context_told_exec(c, &t);
	r = record_of(c, 200, 2 * S);
	assert_int_equal(r.n_args, 2);
	check(r.args[1], "all");
	check(r.cwd, "/home");
	assert_int_equal(r.session, 3);
	assert_int_equal(r.inherited[0] | r.inherited[1], 0);
	/* an exec much later is told by its time, whatever was missed in between */
	hide(200);
	context_exec(c, 200, 9 * S);
	tell_at(c, 9 * S - 4 * MS);
	check_make(c, 2 * S);
	context_free(c);
}

/* The next owner of a pid whose end was seen; and the end of one whose EXEC is told late. */
static void test_told_after_the_end(void **state)
{
	struct context *c = without_proc(NULL);

	(void)state;
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + 1 * MS);
	context_exit(c, 200, 200, 2 * S + 50 * MS);
	tell_at(c, 2 * S);
	check_make(c, 2 * S);
	tell_env_at(c, 3 * S);
	check_make(c, 2 * S);
	assert_int_equal(stats_of(c).entries, 2);
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_alone),
		cmocka_unit_test(test_half_an_event),
		cmocka_unit_test(test_bounds_and_secrets),
		cmocka_unit_test(test_told_behind_the_event),
		cmocka_unit_test(test_told_before_the_event),
		cmocka_unit_test(test_told_what_is_known),
		cmocka_unit_test(test_told_after_the_end),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
