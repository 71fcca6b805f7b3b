/* SPDX-License-Identifier: MIT */
/* The joiner: one exit record for each process, whatever the order of its threads. Cases C050, C051. */
#include "unit/test.h"

#include "base/util.h"
#include "join/join.h"

#define MS NS_PER_MSEC
#define T0 (1000 * NS_PER_SEC) /* monotonic */
#define R0 (1700000000 * NS_PER_SEC)

struct seen {
	struct exeunt_record records[64];
	size_t n;
	struct exeunt_loss loss;
	size_t losses;
};

static struct seen seen;
static struct ledger *ledger;
static struct joiner *joiner;

static void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	assert_true(seen.n < ARRAY_SIZE(seen.records));
	seen.records[seen.n++] = *r;
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)userdata;
	seen.loss = *loss;
	seen.losses++;
}

static int begin_with(unsigned int entries, bool threads)
{
	struct join_options o = { .table_entries = entries, .threads = threads, .emit = on_emit };

	memset(&seen, 0, sizeof(seen));
	if (ledger_new(&ledger, on_loss, NULL))
		return -1;
	o.ledger = ledger;
	return join_new(&joiner, &o);
}

static int begin(void **state)
{
	(void)state;
	return begin_with(0, false);
}

static int end(void **state)
{
	(void)state;
	join_free(joiner);
	ledger_free(ledger);
	return 0;
}

/* A task that ended at `at_ms` after T0; the process began at T0 less a second. */
static struct task_exit task_of(int32_t pid, int32_t tgid, uint32_t code, uint8_t flag,
				int64_t at_ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID | TASK_HAS_MEMORY | TASK_HAS_IO |
				      TASK_HAS_SWITCHES,
			       .pid = pid,
			       .tgid = tgid,
			       .exit_code = code,
			       .flag = flag,
			       .ppid = 1,
			       .uid = 1000 };

	t.tgetime_us = t.etime_us = (uint64_t)(1000 + at_ms) * 1000;
	t.btime = 1700000000 - 1;
	t.utime_us = 4000;
	t.hiwater_rss_kb = 100u + (unsigned int)(pid % 7);
	t.read_bytes = 1024;
	snprintf(t.comm, sizeof(t.comm), "c%d", pid);
	return t;
}

static struct frame frame_at(int64_t at_ms)
{
	return (struct frame){ .source = EXEUNT_SOURCE_TASKSTATS,
			       .kind = FRAME_DATA,
			       .mono_ns = T0 + at_ms * MS,
			       .real_ns = R0 + at_ms * MS,
			       .since_ns = T0 + at_ms * MS - MS };
}

static void put_task(const struct task_exit *t, int64_t at_ms)
{
	struct frame f = frame_at(at_ms);

	join_task(joiner, t, &f);
}

static void put(int32_t pid, int32_t tgid, uint32_t code, uint8_t flag, bool aggregate,
		int64_t at_ms)
{
	struct task_exit t = task_of(pid, tgid, code, flag, at_ms);

	if (aggregate)
		t.has |= TASK_HAS_AGGREGATE;
	put_task(&t, at_ms);
}

static void single_process_is_out_at_once(void **state)
{
	const struct exeunt_record *r = &seen.records[0];

	(void)state;
	put(42, 42, 0x200, TASK_GROUP, false, 5);
	assert_int_equal(seen.n, 1);
	assert_int_equal(r->type, EXEUNT_TYPE_EXIT);
	assert_int_equal(r->pid, 42);
	assert_int_equal(r->exit_code, 2);
	assert_int_equal(r->threads, 1);
	assert_string_equal(r->comm, "c42");
	assert_false(exeunt_has(r, EXEUNT_F_EXIT_CERTAIN));
	assert_true(exeunt_has(r, EXEUNT_F_CREATION_TIME));
	assert_int_equal(r->exit_time_ns, R0 + 5 * MS);
	assert_int_equal(r->creation_time_ns, R0 - 1000 * MS);
	assert_int_equal(r->exit_precision_ns, MS);
	assert_int_equal(join_deadline(joiner), INT64_MAX);
}

static void threads_are_summed_under_the_leaders_name(void **state)
{
	const struct exeunt_record *r = &seen.records[0];

	(void)state;
	put(43, 42, 0, 0, false, 1);
	put(44, 42, 0x700, TASK_GROUP, true, 10);
	put(42, 42, 0x700, TASK_XSIG, false, 12); /* the leader, behind the end */
	assert_int_equal(seen.n, 0);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 36 * MS);
	assert_int_equal(seen.n, 0);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 37 * MS);
	assert_int_equal(seen.n, 1);
	assert_int_equal(r->threads, 3);
	assert_string_equal(r->comm, "c42");
	assert_int_equal(r->cpu_user_us, 12000);
	assert_int_equal(r->read_bytes, 3072);
	assert_int_equal(r->rss_peak_bytes, 102 * 1024);
	assert_int_equal(r->exit_code, 7);
	assert_int_equal(r->elapsed_us, 1010000);
}

/* Ticks missed nearly all of it, the scheduler did not; the split is the ticks'. */
static void cpu_time_is_what_the_scheduler_measured(void **state)
{
	struct task_exit t = task_of(42, 42, 0, TASK_GROUP, 1);

	(void)state;
	t.utime_us = 4000;
	t.stime_us = 12000;
	t.run_ns = 100 * MS;
	put_task(&t, 1);
	assert_int_equal(seen.records[0].cpu_user_us, 25000);
	assert_int_equal(seen.records[0].cpu_system_us, 75000);
	t.utime_us = t.stime_us = 0;
	put_task(&t, 2);
	assert_int_equal(seen.records[1].cpu_user_us, 100000);
	assert_int_equal(seen.records[1].cpu_system_us, 0);
	t.run_ns = 0;
	t.stime_us = 4000;
	put_task(&t, 3);
	assert_int_equal(seen.records[2].cpu_system_us, 4000);
	t.run_ns = UINT64_MAX;
	t.utime_us = t.stime_us = UINT64_MAX;
	put_task(&t, 4);
}

/* The old leader fell to an exec by a worker, and is read behind the end of the new program. */
static void the_later_leader_has_the_name(void **state)
{
	struct task_exit old = task_of(42, 42, 0, TASK_XSIG, 1),
			 new = task_of(42, 42, 0x700, TASK_GROUP, 5);

	(void)state;
	strcpy(old.comm, "before");
	strcpy(new.comm, "after");
	new.has |= TASK_HAS_AGGREGATE;
	put_task(&new, 8);
	put_task(&old, 9);
	join_flush(joiner);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.records[0].comm, "after");
	assert_int_equal(seen.records[0].exit_code, 7);
	assert_false(exeunt_has(&seen.records[0], EXEUNT_F_EXIT_CERTAIN));
}

/* Without the leader the process is given more time: the name is still to come. */
static void the_leader_is_waited_for(void **state)
{
	(void)state;
	put(44, 42, 0, TASK_GROUP, true, 10);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 400 * MS);
	assert_int_equal(seen.n, 0);
	put(42, 42, 0, TASK_XSIG, false, 401);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 430 * MS);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.records[0].comm, "c42");
}

static void a_thread_later_than_grace_amends(void **state)
{
	(void)state;
	put(42, 42, 0, 0, false, 1);
	put(44, 42, 0x300, TASK_GROUP, true, 1);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 30 * MS);
	assert_int_equal(seen.n, 1);
	put(43, 42, 0x300, TASK_XSIG, false, 31);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.records[1].type, EXEUNT_TYPE_AMEND);
	assert_int_equal(seen.records[1].threads, 3);
	assert_true(seen.records[0].entity_start_ns == seen.records[1].entity_start_ns);
	assert_int_equal(ledger_balance(ledger)->exits, 1);
}

static void a_leader_that_left_early_is_no_end(void **state)
{
	(void)state;
	put(42, 42, 0x900, 0, false, 1);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 20 * NS_PER_SEC);
	assert_int_equal(seen.n, 0);
	put(43, 42, 0x500, TASK_GROUP, true, 30000);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 31 * NS_PER_SEC);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.records[0].exit_code, 5);
	assert_string_equal(seen.records[0].comm, "c42");
}

/* The pid is used again at once: two last tasks are two processes. */
static void two_ends_of_one_pid_are_two_processes(void **state)
{
	struct task_exit t = task_of(42, 42, 0x100, TASK_GROUP, 50);

	(void)state;
	put(43, 42, 0x500, TASK_XSIG, false, 1);
	put(42, 42, 0x500, TASK_GROUP, true, 1);
	t.tgetime_us = t.etime_us = 3000;
	put_task(&t, 50);
	join_flush(joiner);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.records[0].exit_code, 1);
	assert_int_equal(seen.records[0].threads, 1);
	assert_int_equal(seen.records[1].exit_code, 5);
	assert_int_equal(seen.records[1].threads, 2);
}

static bool nobody_lives(int32_t tgid)
{
	(void)tgid;
	return false;
}

static void an_end_that_was_lost_is_backfilled(void **state)
{
	struct frame now = frame_at(5000);
	const struct exeunt_record *r = &seen.records[0];

	(void)state;
	put(42, 42, 9, TASK_XSIG, false, 1);
	now.mono_ns = T0 + 500 * MS;
	assert_true(join_sweep(joiner, nobody_lives, &now));
	assert_int_equal(seen.n, 0);
	now.mono_ns = T0 + 5000 * MS;
	assert_true(join_sweep(joiner, nobody_lives, &now));
	assert_int_equal(seen.n, 0); /* its end may just not have been read yet */
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, now.mono_ns + 1);
	assert_false(join_sweep(joiner, nobody_lives, &now));
	assert_int_equal(seen.n, 1);
	assert_true(r->backfilled);
	assert_int_equal(r->exit_signal, 9);
	assert_false(exeunt_has(r, EXEUNT_F_ELAPSED));
	assert_int_equal(ledger_balance(ledger)->backfilled, 1);
	/* a newer process of the same pid shows it as well */
	put(50, 50, 0, 0, false, 1);
	put(50, 50, 0x100, TASK_GROUP, false, 90000);
}

/* It ended between the reading of the queues and the look whether it lives. */
static void an_end_that_was_only_late_is_no_loss(void **state)
{
	struct frame now = frame_at(5000);

	(void)state;
	put(43, 42, 0, 0, false, 1);
	assert_true(join_sweep(joiner, nobody_lives, &now));
	put(42, 42, 0x300, TASK_GROUP, true, 5000);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 5100 * MS);
	assert_false(join_sweep(joiner, nobody_lives, &now));
	assert_int_equal(seen.n, 1);
	assert_false(seen.records[0].backfilled);
	assert_false(exeunt_has(&seen.records[0], EXEUNT_F_EXIT_CERTAIN));
	assert_int_equal(ledger_balance(ledger)->backfilled, 0);
}

static void a_new_process_shows_that_the_old_is_gone(void **state)
{
	struct task_exit t = task_of(42, 42, 0x100, TASK_GROUP, 9000);

	(void)state;
	put(42, 42, 0, 0, false, 1);
	t.tgetime_us = t.etime_us = 3000;
	put_task(&t, 9000);
	assert_int_equal(seen.n, 2);
	assert_true(seen.records[0].backfilled);
	assert_false(exeunt_has(&seen.records[1], EXEUNT_F_BACKFILLED));
	assert_int_equal(seen.records[1].threads, 1);
}

static void a_full_table_tells_what_it_cost(void **state)
{
	struct exeunt_balance b;

	(void)state;
	end(NULL);
	begin_with(4, false);
	for (int32_t tgid = 100; tgid < 106; tgid++)
		put(tgid + 1000, tgid, 0, 0, false, tgid - 100);
	assert_int_equal(seen.losses, 0);
	join_checked(joiner, T0 + 10 * MS);
	assert_int_equal(seen.losses, 1); /* one record, whatever the flood */
	assert_int_equal(seen.loss.count, 2);
	assert_int_equal(seen.loss.cause, EXEUNT_LOSS_TABLE_FULL);
	assert_int_equal(seen.loss.window_start_ns, R0 + 4 * MS);
	assert_int_equal(seen.loss.window_end_ns, R0 + 5 * MS);
	assert_int_equal(ledger_balance(ledger)->evicted, 2);
	join_count(joiner, &b);
	assert_int_equal(b.unfinished, 4);
	/* what has ended goes out early instead */
	put(105, 105, 0, TASK_GROUP, true, 10);
	put(107 + 1000, 107, 0, 0, false, 11);
	join_flush(joiner);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.records[0].threads, 2);
}

static void thread_records_name_their_process(void **state)
{
	(void)state;
	end(NULL);
	begin_with(0, true);
	put(43, 42, 0x100, 0, false, 1);
	put(42, 42, 0x300, TASK_GROUP, true, 9);
	join_flush(joiner);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.records[0].type, EXEUNT_TYPE_THREAD);
	assert_int_equal(seen.records[0].thread_id, 43);
	assert_int_equal(seen.records[0].pid, 42);
	assert_int_equal(seen.records[0].exit_code, 1);
	assert_true(seen.records[0].entity_start_ns == seen.records[2].entity_start_ns);
	assert_int_equal(seen.records[2].type, EXEUNT_TYPE_EXIT);
	/* of a process with one thread there is nothing more to tell */
	put(77, 77, 0, TASK_GROUP, false, 10);
	assert_int_equal(seen.n, 4);
}

/* Kernels before version 12 say neither tgid nor which task was last. */
static void an_old_kernel_gives_guesses_marked_as_such(void **state)
{
	struct task_exit t = task_of(42, 0, 0x100, 0, 1);

	(void)state;
	t.has &= ~(unsigned int)TASK_HAS_TGID;
	t.tgid = 0;
	put_task(&t, 1);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.records[0].pid, 42);
	assert_true(exeunt_has(&seen.records[0], EXEUNT_F_EXIT_CERTAIN));
	assert_false(seen.records[0].exit_certain);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(single_process_is_out_at_once),
		TEST(threads_are_summed_under_the_leaders_name),
		TEST(cpu_time_is_what_the_scheduler_measured),
		TEST(the_later_leader_has_the_name),
		TEST(the_leader_is_waited_for),
		TEST(a_thread_later_than_grace_amends),
		TEST(a_leader_that_left_early_is_no_end),
		TEST(two_ends_of_one_pid_are_two_processes),
		TEST(an_end_that_was_lost_is_backfilled),
		TEST(an_end_that_was_only_late_is_no_loss),
		TEST(a_new_process_shows_that_the_old_is_gone),
		TEST(a_full_table_tells_what_it_cost),
		TEST(thread_records_name_their_process),
		TEST(an_old_kernel_gives_guesses_marked_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
