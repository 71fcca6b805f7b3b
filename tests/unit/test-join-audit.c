/* SPDX-License-Identifier: MIT */
/*
 * What audit tells of ends, and whose they are: two records of one end, threads, pids that are used again at once, and
 * records from before it was known that any would come.
 */
#include "unit/test.h"

#include "unit/joined.h"

#include "record/status.h"

#define KILL_PROCESS 0x80000000u

static struct audit_event event(enum audit_event_kind kind, int32_t pid, int64_t at_ms)
{
	return (struct audit_event){ .kind = kind,
				     .has = 1ull << AUDIT_HAS_PID | 1ull << AUDIT_HAS_UID |
					    1ull << AUDIT_HAS_AUID | 1ull << AUDIT_HAS_SES |
					    1ull << AUDIT_HAS_EXE | 1ull << AUDIT_HAS_EUID,
				     .pid = pid,
				     .uid = 1000,
				     .euid = 1000,
				     .auid = 500,
				     .ses = 7,
				     .serial = 99,
				     .exe = { "/usr/bin/demo", 13 },
				     .time_ns = R0 + at_ms * MS };
}

static void put(struct audit_event e, int64_t read_ms)
{
	struct frame f = frame_at(read_ms);

	join_audit(joiner, &e, &f);
}

static struct audit_event exits(enum audit_event_kind kind, int32_t pid, uint8_t code,
				int64_t at_ms)
{
	struct audit_event e = event(kind, pid, at_ms);

	e.has |= 1ull << AUDIT_HAS_CODE;
	e.code = code;
	return e;
}

static struct audit_event dies(enum audit_event_kind kind, int32_t pid, uint32_t sig,
			       uint64_t action, int64_t at_ms)
{
	struct audit_event e = event(kind, pid, at_ms);

	e.has |= 1ull << AUDIT_HAS_SIG;
	if (kind == AUDIT_EVENT_SECCOMP)
		e.has |= 1ull << AUDIT_HAS_ACTION;
	e.sig = sig;
	e.action = action;
	return e;
}

/* One that began so long before its end. */
static void put_end(int32_t pid, uint32_t uid, uint32_t code, bool threads, int64_t lived_ms,
		    int64_t at_ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID | (threads ? TASK_HAS_AGGREGATE : 0u),
			       .pid = pid,
			       .tgid = pid,
			       .flag = TASK_GROUP,
			       .exit_code = code,
			       .uid = uid,
			       .comm = "demo",
			       .btime = 1700000000 - 1,
			       .tgetime_us = (uint64_t)lived_ms * 1000,
			       .etime_us = 1000000 + (uint64_t)at_ms * 1000,
			       .exe_inode = 1 };
	struct frame f = frame_at(at_ms);

	join_task(joiner, &t, &f);
}

static void settle(void)
{
	for (int64_t ms = 2000; ms < 9000; ms += 100) {
		all_quiet_at(ms);
		join_checked(joiner, T0 + ms * MS);
	}
}

/* All that was told is in one exit, which may have been amended. */
static const struct exeunt_record *only_exit(void)
{
	settle();
	assert_in_range(n_seen, 1, 2);
	assert_int_equal(seen[0].type, EXEUNT_TYPE_EXIT);
	if (n_seen == 2)
		assert_int_equal(seen[1].type, EXEUNT_TYPE_AMEND);
	assert_int_equal(balance().unmatched, 0);
	return &seen[n_seen - 1];
}

/* Both threads get their record, 50 ms apart because one had to wait for a CPU. */
static void two_threads_call_exit_group(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 10), 61);
	put_end(42, 1000, 0x300, true, 500, 61);
	put(exits(AUDIT_EVENT_EXIT, 42, 5, 60), 62);
	assert_int_equal(only_exit()->exit_status, 0x300);
	assert_int_equal(seen[0].sources, T | A);
}

static void two_threads_before_the_end(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 10), 11);
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 60), 61);
	put_end(42, 1000, 0x300, true, 500, 62);
	assert_int_equal(only_exit()->sources, T | A);
}

static void two_threads_and_audit_alone(void **state)
{
	(void)state;
	join_set_sources(joiner, A, A);
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 10), 11);
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 12), 13);
	only_exit();
}

/* Audit saw the call, and which of two racing threads' codes counts. */
static void the_call_decides_whatever_came_first(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 10), 11);
	put_end(42, 1000, 0, true, 500, 12);
	assert_int_equal(only_exit()->exit_status, 0x300);
}

static void killed_by_seccomp_is_told_twice(void **state)
{
	(void)state;
	put_end(42, 1000, 0x1f, false, 500, 10);
	put(dies(AUDIT_EVENT_SECCOMP, 42, 31, KILL_PROCESS, 8), 11);
	put(dies(AUDIT_EVENT_ABEND, 42, 31, 0, 8), 11);
	assert_int_equal(only_exit()->exit_status, 0x1f);
	assert_int_equal(seen[0].sources, T | A);
}

/* A thread that seccomp ends is no process, unless it is the only one. */
static void a_thread_killed_by_seccomp(void **state)
{
	(void)state;
	put(dies(AUDIT_EVENT_SECCOMP, 42, 31, 0, 8), 11);
	settle();
	assert_int_equal(n_seen, 0);
	assert_int_equal(balance().unmatched, 0);
	put(dies(AUDIT_EVENT_SECCOMP, 43, 9, 0, 9008), 9011);
	put_end(43, 1000, 9, false, 500, 9012);
	all_quiet_at(9100);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].sources, T | A);
}

/* exit(2) by the only thread is the end of the process, in whatever order it is told. */
static void the_only_thread_ends(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_THREAD_EXIT, 42, 4, 8), 9);
	put_end(42, 1000, 0x400, false, 500, 10);
	put_end(43, 1000, 0x400, false, 500, 10);
	put(exits(AUDIT_EVENT_THREAD_EXIT, 43, 4, 8), 11);
	all_quiet_at(60);
	assert_int_equal(n_seen, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(seen[i].sources, T | A);
		assert_int_equal(seen[i].login_uid, 500);
		assert_int_equal(seen[i].audit_serial, 99);
		assert_int_equal(seen[i].exit_status, 0x400);
	}
}

/* Of several threads it tells who they were, and not how the process ended. */
static void one_of_several_threads_ends(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_THREAD_EXIT, 42, 4, 8), 9);
	put_end(42, 1000, 0x500, true, 500, 10);
	assert_int_equal(only_exit()->exit_status, 0x500);
	assert_int_equal(seen[0].sources, T);
	assert_int_equal(seen[0].login_uid, 500);
	assert_false(exeunt_has(&seen[0], EXEUNT_F_AUDIT_SERIAL));
}

static void a_thread_and_then_the_process(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_THREAD_EXIT, 42, 0, 8), 9);
	put_end(42, 1000, 0x500, true, 500, 10);
	put(exits(AUDIT_EVENT_EXIT, 42, 5, 8), 11);
	assert_int_equal(only_exit()->sources, T | A);
	assert_int_equal(seen[0].login_uid, 500);
	assert_int_equal(seen[0].audit_serial, 99);
	assert_int_equal(seen[0].exe_path.len, 13);
}

/* Threads of a process that lives on leave nothing behind. */
static void hints_are_forgotten(void **state)
{
	(void)state;
	for (int i = 0; i < 5000; i++)
		put(exits(AUDIT_EVENT_THREAD_EXIT, 42 + i % 50, 0, 8), 9);
	settle();
	assert_int_equal(n_seen, 0);
	assert_int_equal(balance().unmatched, 0);
	put_end(42, 1000, 0, true, 500, 9010);
	all_quiet_at(9100);
	assert_false(exeunt_has(&seen[0], EXEUNT_F_LOGIN_UID));
}

/* One was killed, and the next with its pid ended by itself 10 ms later: the record is the second one's. */
static void the_next_owner_of_a_pid(void **state)
{
	(void)state;
	put_end(42, 1000, 9, false, 500, 10);
	put_end(42, 1000, 0x300, false, 5, 20);
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 18), 21);
	settle();
	assert_int_equal(n_seen, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(seen[i].sources, seen[i].exit_status == 9 ? T : T | A);
}

/* Another user, or another code than the kernel's: not of this process. */
static void not_of_this_process(void **state)
{
	struct audit_event other = exits(AUDIT_EVENT_EXIT, 42, 3, 8);

	(void)state;
	other.uid = 1001;
	put_end(42, 1000, 0x300, false, 500, 10);
	put(other, 11);
	put_end(43, 1000, 0x300, false, 500, 10);
	put(exits(AUDIT_EVENT_EXIT, 43, 4, 8), 11);
	settle();
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0].sources, T);
	assert_int_equal(seen[1].sources, T);
	assert_int_equal(balance().unmatched, 2);
}

/* A signal that comes between the call and its work: it was killed, and audit saw the call. */
static void killed_in_its_exit(void **state)
{
	(void)state;
	put_end(42, 1000, 9, false, 500, 10);
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 8), 11);
	assert_int_equal(only_exit()->exit_status, 9);
	assert_int_equal(seen[0].sources, T | A);
}

/* The rule was loaded a moment ago, and what ended since went out before that was known. */
static void before_it_was_waited_for(void **state)
{
	(void)state;
	join_set_sources(joiner, T | A, 0);
	put_end(42, 1000, 0, false, 500, 10);
	all_quiet_at(20);
	assert_int_equal(n_seen, 1);
	join_set_sources(joiner, T | A, A);
	put(exits(AUDIT_EVENT_EXIT, 42, 0, 9), 30);
	only_exit();
	put(exits(AUDIT_EVENT_EXIT, 43, 0, 9009), 9010);
	for (int64_t ms = 9100; ms < 12000; ms += 100) {
		all_quiet_at(ms);
		join_checked(joiner, T0 + ms * MS);
	}
	assert_int_equal(balance().unmatched, 1); /* and this is one that taskstats never told of */
}

/* The kernel's thread that hands audit's records on was held up. */
static void late_by_two_seconds(void **state)
{
	(void)state;
	put_end(42, 1000, 0x300, false, 500, 10);
	all_quiet_at(60);
	assert_int_equal(n_seen, 1);
	assert_int_equal(join_untold(joiner), 1);
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 8), 2300);
	assert_int_equal(join_untold(joiner), 0);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[1].type, EXEUNT_TYPE_AMEND);
	assert_int_equal(seen[1].sources, T | A);
	assert_int_equal(balance().exits, 1);
}

static void seen_at(int64_t told_ms, int64_t read_ms)
{
	struct frame f = frame_at(read_ms);

	join_audit_seen(joiner, R0 + told_ms * MS, &f);
}

/* While audit is behind, records wait for it and need no amendment; who was killed waits as long. */
static void what_is_behind_is_waited_for(void **state)
{
	(void)state;
	join_set_sources(joiner, T | A, A);
	seen_at(0, 1000);
	for (int i = 0; i < 10; i++)
		put_end(42 + i, 1000, 0x300, false, 500, 1010 + i);
	for (int64_t ms = 1020; ms < 1500; ms += 5)
		all_quiet_at(ms);
	assert_int_equal(n_seen, 0);
	assert_int_equal(balance().pending, 10);
	assert_in_range(join_deadline(joiner), T0 + 2000 * MS, T0 + 4100 * MS);
	for (int i = 9; i > 0; i--)
		put(exits(AUDIT_EVENT_EXIT, 42 + i, 3, 1008 + i), 1900);
	assert_int_equal(n_seen, 9); /* at once, in whatever order */
	for (int64_t ms = 1900; ms < 4100; ms += 100) {
		seen_at(ms - 1000, ms);
		all_quiet_at(ms);
	}
	assert_int_equal(n_seen, 10);
	assert_int_equal(seen[9].pid, 42);
	assert_int_equal(balance().amends, 0);
	assert_int_equal(balance().pending, 0);
}

/* Once it has caught up, nothing waits any longer than it has to. */
static void caught_up(void **state)
{
	(void)state;
	join_set_sources(joiner, T | A, A);
	seen_at(0, 2000);
	seen_at(2999, 3005);
	seen_at(4099, 4105);
	put_end(42, 1000, 9, false, 500, 4110);
	all_quiet_at(4149);
	assert_int_equal(n_seen, 0);
	all_quiet_at(4150);
	assert_int_equal(n_seen, 1);
}

/* Who calls exit_group(2) sleeps in it until audit's queue has room: for longer than any clock is off. */
static void held_up_in_its_exit(void **state)
{
	(void)state;
	put(exits(AUDIT_EVENT_EXIT, 42, 3, 10), 2500);
	put_end(42, 1000, 0x300, false, 8000, 7000);
	all_quiet_at(7100);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].sources, T | A);
	assert_int_equal(balance().unmatched, 0);
}

/* A flood of them costs what is only remembered, and is put out early at the worst. */
static void behind_in_a_full_table(void **state)
{
	end(state);
	begin_with(16);
	join_set_sources(joiner, T | A, A);
	seen_at(0, 1000);
	for (int i = 0; i < 40; i++) {
		put_end(42 + i, 1000, 0x300, false, 500, 1010 + i * 10);
		all_quiet_at(1010 + i * 10 + 5);
	}
	assert_int_equal(n_seen, 24);
	assert_int_equal(balance().evicted, 0);
	join_flush(joiner);
	assert_int_equal(n_seen, 40);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_threads_call_exit_group),
		TEST(two_threads_before_the_end),
		TEST(two_threads_and_audit_alone),
		TEST(the_call_decides_whatever_came_first),
		TEST(killed_by_seccomp_is_told_twice),
		TEST(a_thread_killed_by_seccomp),
		TEST(the_only_thread_ends),
		TEST(one_of_several_threads_ends),
		TEST(a_thread_and_then_the_process),
		TEST(hints_are_forgotten),
		TEST(the_next_owner_of_a_pid),
		TEST(not_of_this_process),
		TEST(killed_in_its_exit),
		TEST(before_it_was_waited_for),
		TEST(late_by_two_seconds),
		TEST(what_is_behind_is_waited_for),
		TEST(caught_up),
		TEST(held_up_in_its_exit),
		TEST(behind_in_a_full_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
