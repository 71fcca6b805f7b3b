/* SPDX-License-Identifier: MIT */
/* join/context.h by events alone: inheritance, generations of a pid, threads, marks. No /proc. */
#include "unit/test.h"

#include <string.h>

#include "base/util.h"
#include "decode/procevents.h"
#include "join/context.h"

#define S NS_PER_SEC
#define MS NS_PER_MSEC

static struct context *make(void)
{
	const struct context_options o = { .proc_path = "" };
	struct context *c;

	assert_int_equal(context_new(&c, &o, NULL), 0);
	return c;
}

static struct context_stats stats_of(const struct context *c)
{
	struct context_stats s;

	context_stats(c, &s);
	return s;
}

static bool is_inherited(const struct exeunt_record *r, enum exeunt_field f)
{
	return r->inherited[f / 64] >> (f % 64) & 1;
}

static struct exeunt_record record_of(struct context *c, int32_t tgid, int64_t t)
{
	const struct context_entry *e = context_lookup(c, tgid, t);
	struct exeunt_record r = { 0 };

	assert_non_null(e);
	context_to_record(e, &r);
	return r;
}

static void test_inheritance(void **state)
{
	struct context *c = make();
	struct exeunt_record r;

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_login(c, 100, 1000, 3, 1 * S + 1);
	context_comm(c, 100, "shell\0\0\0\0\0\0\0\0\0\0", 1 * S + 2);
	context_uid(c, 100, 1000, 0, 1 * S + 3);
	context_gid(c, 100, 50, 51, 1 * S + 4);
	context_fork(c, 100, 200, 2 * S);
	context_fork(c, 200, 300, 3 * S);

	r = record_of(c, 300, 3 * S);
	assert_int_equal(r.parent_pid_at_fork, 200);
	assert_true(exeunt_has(&r, EXEUNT_F_PARENT_PID_AT_FORK));
	assert_false(is_inherited(&r, EXEUNT_F_PARENT_PID_AT_FORK));
	assert_int_equal(r.login_uid, 1000);
	assert_int_equal(r.session, 3);
	assert_true(exeunt_has(&r, EXEUNT_F_LOGIN_UID) && exeunt_has(&r, EXEUNT_F_SESSION));
	assert_true(is_inherited(&r, EXEUNT_F_LOGIN_UID) && is_inherited(&r, EXEUNT_F_SESSION));
	assert_string_equal(r.comm, "shell");
	assert_int_equal(r.euid, 0);
	assert_int_equal(r.egid, 51);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));

	/* what a process has of its own is not marked */
	context_uid(c, 300, 7, 8, 3 * S + 1);
	r = record_of(c, 300, 3 * S);
	assert_int_equal(r.euid, 8);
	assert_false(is_inherited(&r, EXEUNT_F_EUID));
	assert_true(is_inherited(&r, EXEUNT_F_EGID));
	/* and the parent keeps its own */
	r = record_of(c, 100, 1 * S);
	assert_int_equal(r.euid, 0);
	assert_false(is_inherited(&r, EXEUNT_F_LOGIN_UID));
	context_free(c);
}

/* What the record already has came from a better source. */
static void test_record_keeps_what_it_has(void **state)
{
	struct context *c = make();
	struct exeunt_record r = { .login_uid = 5, .session = 6 };

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_login(c, 100, 1000, 3, 1 * S);
	context_fork(c, 100, 101, 2 * S);
	r.present[EXEUNT_F_LOGIN_UID / 64] |= UINT64_C(1) << (EXEUNT_F_LOGIN_UID % 64);
	context_to_record(context_lookup(c, 101, 2 * S), &r);
	assert_int_equal(r.login_uid, 5);
	assert_false(is_inherited(&r, EXEUNT_F_LOGIN_UID));
	assert_int_equal(r.session, 3);
	assert_true(is_inherited(&r, EXEUNT_F_SESSION));
	context_free(c);
}

/* C055: a process that nobody told of is not known, and is not made up. */
static void test_unknown(void **state)
{
	struct context *c = make();

	(void)state;
	assert_null(context_lookup(c, 4242, 5 * S));
	context_exit(c, 4242, 4242, 5 * S);
	context_uid(c, 4242, 1, 1, 5 * S);
	context_release(c, NULL, 5 * S);
	assert_null(context_lookup(c, 4242, 5 * S));
	assert_int_equal(stats_of(c).entries, 0);
	/* a child whose parent is not known still has its parent's number */
	context_fork(c, 4242, 4243, 6 * S);
	assert_int_equal(record_of(c, 4243, 6 * S).parent_pid_at_fork, 4242);
	assert_int_equal(stats_of(c).orphans, 1);
	context_free(c);
}

/* Two owners of one pid, the first waiting to be joined. */
static void test_pid_again(void **state)
{
	struct context *c = make();
	const struct context_entry *old, *new;

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_fork(c, 1, 101, 1 * S);
	context_login(c, 100, 1000, 1, 1 * S);
	context_login(c, 101, 1001, 2, 1 * S);
	context_fork(c, 100, 4242, 2 * S);
	context_exit(c, 4242, 4242, 3 * S);
	context_fork(c, 101, 4242, 4 * S);

	old = context_lookup(c, 4242, 2 * S);
	new = context_lookup(c, 4242, 4 * S);
	assert_non_null(old);
	assert_non_null(new);
	assert_ptr_not_equal(old, new);
	assert_int_equal(old->login_uid, 1000);
	assert_int_equal(old->end_ns, 3 * S);
	assert_int_equal(new->login_uid, 1001);
	/* estimates of a start are late, and some microseconds early at worst */
	assert_ptr_equal(context_lookup(c, 4242, 3 * S + 200 * MS), old);
	assert_ptr_equal(context_lookup(c, 4242, 4 * S - 7000), new);
	assert_ptr_equal(context_lookup(c, 4242, 9 * S), new);

	context_release(c, old, 5 * S);
	assert_null(context_lookup(c, 4242, 2 * S));
	assert_ptr_equal(context_lookup(c, 4242, 4 * S), new);
	context_release(c, new, 6 * S);
	context_tick(c, 7 * S);
	assert_int_equal(stats_of(c).entries, 2);
	assert_int_equal(stats_of(c).expired, 0);
	context_free(c);
}

/* The first owner's EXIT was lost; the second one's FORK proves that it ended. */
static void test_pid_again_after_lost_exit(void **state)
{
	struct context *c = make();
	const struct context_entry *old;

	(void)state;
	context_fork(c, 1, 4242, 2 * S);
	context_fork(c, 1, 4242, 4 * S);
	old = context_lookup(c, 4242, 2 * S);
	assert_int_equal(old->flags & CONTEXT_ENDED, CONTEXT_ENDED);
	assert_int_equal(old->end_ns, 4 * S);
	context_tick(c, 4 * S + 11 * S);
	assert_int_equal(stats_of(c).entries, 1);
	assert_int_equal(stats_of(c).expired, 1);
	assert_int_equal(context_lookup(c, 4242, 20 * S)->start_ns, 4 * S);
	context_free(c);
}

/* Events of two CPUs may be read in the wrong order. */
static void test_exec_before_fork(void **state)
{
	struct context *c = make();
	const struct context_entry *e;

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_login(c, 100, 1000, 1, 1 * S);
	context_exec(c, 4242, 2 * S + 500);
	context_fork(c, 100, 4242, 2 * S);
	e = context_lookup(c, 4242, 2 * S);
	assert_non_null(e);
	assert_int_equal(e->start_ns, 2 * S);
	assert_int_equal(e->parent_tgid, 100);
	assert_int_equal(e->login_uid, 1000);
	assert_int_equal(e->flags & (CONTEXT_BORN | CONTEXT_EXECED), CONTEXT_BORN | CONTEXT_EXECED);
	assert_int_equal(stats_of(c).entries, 2);
	context_free(c);
}

/* A FORK that was read after the child's whole life of another generation is put in its place. */
static void test_late_fork_of_an_older_generation(void **state)
{
	struct context *c = make();

	(void)state;
	context_fork(c, 1, 4242, 4 * S);
	context_fork(c, 1, 4242, 2 * S);
	assert_int_equal(context_lookup(c, 4242, 2 * S)->start_ns, 2 * S);
	assert_int_equal(context_lookup(c, 4242, 4 * S)->start_ns, 4 * S);
	context_free(c);
}

/* A.11: the leader's EXIT, then EXEC of the same process. */
static void test_exec_by_a_thread(void **state)
{
	struct context *c = make();
	const struct context_entry *e;

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_exit(c, 100, 100, 2 * S);
	context_exec(c, 100, 2 * S + 5000);
	e = context_lookup(c, 100, 1 * S);
	assert_int_equal(e->flags & (CONTEXT_ENDED | CONTEXT_LEADERLESS), 0);
	context_tick(c, 60 * S);
	assert_non_null(context_lookup(c, 100, 1 * S));
	context_exit(c, 100, 100, 61 * S);
	assert_int_equal(context_lookup(c, 100, 1 * S)->end_ns, 61 * S);
	assert_int_equal(stats_of(c).entries, 1);
	context_free(c);
}

/* The leader ends first; threads go on, fork, and end. */
static void test_threads_outlive_leader(void **state)
{
	struct context *c = make();
	const struct context_entry *e;

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_exit(c, 100, 101, 2 * S); /* a thread: says nothing */
	assert_int_equal(context_lookup(c, 100, 1 * S)->flags & CONTEXT_ENDED, 0);
	context_exit(c, 100, 100, 3 * S);
	context_fork(c, 100, 200, 4 * S); /* by a thread that is left */
	e = context_lookup(c, 100, 1 * S);
	assert_int_equal(e->flags & CONTEXT_ENDED, 0);
	context_exit(c, 100, 102, 5 * S);
	assert_int_equal(context_lookup(c, 100, 1 * S)->end_ns, 5 * S);
	/* a child's FORK that is read late does not bring the dead back */
	context_fork(c, 100, 201, 5 * S - 1);
	assert_int_equal(context_lookup(c, 100, 1 * S)->flags & CONTEXT_ENDED, CONTEXT_ENDED);
	context_free(c);
}

/* FORK of a child may be read after the parent's record was made. */
static void test_child_of_a_released_parent(void **state)
{
	struct context *c = make();

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_login(c, 100, 1000, 1, 1 * S);
	context_exit(c, 100, 100, 2 * S);
	context_release(c, context_lookup(c, 100, 1 * S), 2 * S + MS);
	assert_null(context_lookup(c, 100, 1 * S));
	context_fork(c, 100, 200, 2 * S - 1000);
	assert_int_equal(context_lookup(c, 200, 2 * S)->login_uid, 1000);
	/* but nobody forks after his end */
	context_fork(c, 100, 201, 2 * S + 1000);
	assert_int_equal(context_lookup(c, 201, 2 * S + 1000)->known & CONTEXT_LOGIN, 0);
	context_free(c);
}

/* The EXEC was seen and could not be read: the parent's name is not its own. */
static void test_exec_forgets_the_name(void **state)
{
	struct context *c = make();
	struct exeunt_record r = { 0 };

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_comm(c, 100, "parent\0\0\0\0\0\0\0\0\0", 1 * S);
	context_fork(c, 100, 200, 2 * S);
	context_exec(c, 200, 2 * S + 10);
	context_to_record(context_lookup(c, 200, 2 * S), &r);
	assert_false(exeunt_has(&r, EXEUNT_F_COMM));
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));
	context_free(c);
}

static void test_event_dispatch(void **state)
{
	struct context *c = make();
	struct proc_event_info e = { .kind = PROC_KIND_FORK,
				     .timestamp_ns = 1 * S,
				     .pid = 100,
				     .tgid = 100,
				     .parent_pid = 1,
				     .parent_tgid = 1 };

	(void)state;
	context_event(c, &e);
	/* a thread is no process, and its name and ids are not the process's */
	e.pid = 101;
	context_event(c, &e);
	e.kind = PROC_KIND_COMM;
	strcpy(e.u.comm, "thread");
	context_event(c, &e);
	assert_int_equal(context_lookup(c, 100, 1 * S)->known & CONTEXT_COMM, 0);
	e.pid = 100;
	context_event(c, &e);
	assert_string_equal(context_lookup(c, 100, 1 * S)->comm, "thread");
	e.kind = PROC_KIND_UID;
	e.u.id.real = 5;
	e.u.id.effective = 6;
	context_event(c, &e);
	e.kind = PROC_KIND_GID;
	context_event(c, &e);
	e.kind = PROC_KIND_SID;
	context_event(c, &e);
	e.kind = PROC_KIND_ACK;
	context_event(c, &e);
	assert_int_equal(context_lookup(c, 100, 1 * S)->euid, 6);
	assert_int_equal(context_lookup(c, 100, 1 * S)->gid, 5);
	e.kind = PROC_KIND_EXEC;
	context_event(c, &e);
	e.kind = PROC_KIND_EXIT;
	e.timestamp_ns = UINT64_MAX;
	context_event(c, &e);
	assert_int_equal(context_lookup(c, 100, 1 * S)->flags,
			 CONTEXT_BORN | CONTEXT_EXECED | CONTEXT_ENDED | CONTEXT_LEADERLESS);
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inheritance),
		cmocka_unit_test(test_record_keeps_what_it_has),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_pid_again),
		cmocka_unit_test(test_pid_again_after_lost_exit),
		cmocka_unit_test(test_exec_before_fork),
		cmocka_unit_test(test_late_fork_of_an_older_generation),
		cmocka_unit_test(test_exec_by_a_thread),
		cmocka_unit_test(test_threads_outlive_leader),
		cmocka_unit_test(test_child_of_a_released_parent),
		cmocka_unit_test(test_exec_forgets_the_name),
		cmocka_unit_test(test_event_dispatch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
