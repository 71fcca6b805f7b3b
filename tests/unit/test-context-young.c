/* SPDX-License-Identifier: MIT */
/*
 * join/context.h: what is not read because it cannot be otherwise, and what is read all the same.
 */
#include "unit/test.h"

#include "unit/proctree.h"

#include "join/context-pool.h"

static int64_t now_ns;

static int64_t test_clock(void)
{
	return now_ns;
}

static void set_pid_max(const char *text)
{
	char path[64];
	_cleanup_file_
	FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/sys/kernel/pid_max", tree);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
}

static struct context *begin(const char *pid_max)
{
	struct context_options o = { .clock = test_clock };
	struct context *c = make(&o);
	char path[64];

	/* make() empties the tree, and only then is pid_max put there */
	context_free(c);
	snprintf(path, sizeof(path), "%s/sys", tree);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/sys/kernel", tree);
	mkdir(path, 0755);
	set_pid_max(pid_max);
	o.proc_path = tree;
	assert_int_equal(context_new(&c, &o, NULL), 0);
	return c;
}

/* A child of the shell that calls exec 1 ms after its birth, and is read `late_ns` after it. */
static const struct context_entry *run_child(struct context *c, const struct process *p,
					     int64_t late_ns)
{
	show(&shell);
	now_ns = 2 * S;
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S);
	context_fork(c, 100, 200, 2 * S);
	show(p);
	put(200, "stat", NULL, 0);
	now_ns = 2 * S + late_ns;
	context_exec(c, 200, 2 * S + 1 * MS);
	return context_lookup(c, 200, 2 * S);
}

static struct process child(void)
{
	struct process p = shell;

	p.pid = 200;
	p.exe = "/bin/child";
	return p;
}

static void test_young(void **state)
{
	struct process p = child();
	struct context *c = begin("32768\n");
	const struct context_entry *e = run_child(c, &p, 2 * MS);

	(void)state;
	check(e->exe->parts[0], "/bin/child");
	assert_int_equal(e->inherited & (CONTEXT_EXE | CONTEXT_CGROUP | CONTEXT_LOGIN), 0);
	assert_int_equal(e->login_uid, 1000);
	assert_int_equal(stats_of(c).gone, 1); /* the parent of the shell */
	context_free(c);
}

/* By then the pid may be another's: without its age nothing is believed. */
static void test_not_young(void **state)
{
	struct process p = child();
	struct context *c = begin("4194304\n");

	(void)state;
	assert_int_equal(run_child(c, &p, 6 * MS)->known & CONTEXT_EXE, 0);
	assert_int_equal(stats_of(c).gone, 2);
	context_free(c);
	/* where pids come round soon, nobody is young */
	c = begin("4096\n");
	assert_int_equal(run_child(c, &p, 2 * MS)->known & CONTEXT_EXE, 0);
	context_free(c);
	/* nor is it when that came to be so since */
	c = begin("32768\n");
	set_pid_max("4096\n");
	context_tick(c, 1 * S);
	assert_int_equal(run_child(c, &p, 2 * MS)->known & CONTEXT_EXE, 0);
	context_free(c);
	c = begin("nonsense");
	assert_int_equal(run_child(c, &p, 2 * MS)->known & CONTEXT_EXE, 0);
	context_free(c);
}

/* Another group than before may be the root that the dead are put into. */
static void test_other_group(void **state)
{
	struct process p = child();
	struct context *c = begin("32768\n");

	(void)state;
	p.cgroup = "1:name=systemd:/\n";
	assert_int_equal(run_child(c, &p, 2 * MS)->known & CONTEXT_EXE, 0);
	show(&p); /* with stat */
	context_exec(c, 200, 2 * S + 2 * MS);
	check(record_of(c, 200, 2 * S).cgroup, "/");
	context_free(c);
}

/* The number of a session tells the login uid; only a new one is asked for it. */
static void test_session(void **state)
{
	struct process p = child();
	struct context *c = begin("32768\n");
	const struct context_entry *e;

	(void)state;
	p.login = NULL;
	e = run_child(c, &p, 2 * MS);
	assert_int_equal(e->login_uid, 1000);
	assert_int_equal(e->session, 3);
	assert_int_equal(e->inherited & CONTEXT_LOGIN, 0);
	p.login = "1001";
	p.session = "4";
	show(&p);
	context_exec(c, 200, 2 * S + 2 * MS);
	e = context_lookup(c, 200, 2 * S);
	assert_int_equal(e->login_uid, 1001);
	assert_int_equal(e->session, 4);
	/* it was unset */
	p.login = NULL;
	p.session = "4294967295";
	show(&p);
	context_exec(c, 200, 2 * S + 3 * MS);
	e = context_lookup(c, 200, 2 * S);
	assert_int_equal(e->login_uid, UINT32_MAX);
	assert_int_equal(e->inherited & CONTEXT_LOGIN, 0);
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_young),
		cmocka_unit_test(test_not_young),
		cmocka_unit_test(test_other_group),
		cmocka_unit_test(test_session),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
