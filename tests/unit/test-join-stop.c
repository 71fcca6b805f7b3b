/* SPDX-License-Identifier: MIT */
/* A source stops, a file ends, nothing more comes: what waited is told or counted, and is told once. */
#include "unit/test.h"

#include "unit/joined.h"

/* taskstats stops: what it told of goes out though its queues are never seen empty again, and accounting leads. */
static void the_leading_source_stops(void **state)
{
	(void)state;
	put_thread(43, 42, 0x10, false, 9);
	put_thread(42, 42, TASK_GROUP, true, 10);
	put_pacct(42, 10, 11);
	put_pacct(77, 10, 11); /* taskstats stopped before it told of this one */
	quiet_at(EXEUNT_SOURCE_TASKSTATS, 11);
	assert_int_equal(n_seen, 0);
	join_set_sources(joiner, P | A, P);
	quiet_at(EXEUNT_SOURCE_PACCT, 100);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0].pid, 42);
	assert_int_equal(seen[0].threads, 2);
	assert_int_equal(seen[1].pid, 77);
	assert_false(seen[1].backfilled);
	put_pacct(78, 200, 201);
	quiet_at(EXEUNT_SOURCE_PACCT, 300);
	quiet_at(EXEUNT_SOURCE_AUDIT, 300);
	assert_int_equal(n_seen, 3);
	assert_int_equal(balance().pending, 0);
}

/* One that is waited for stops. */
static void an_awaited_source_stops(void **state)
{
	(void)state;
	put_task(42, 10);
	put_audit(42, 9, 11);
	all_quiet_at(11);
	assert_int_equal(n_seen, 0);
	join_set_sources(joiner, T | A, A);
	quiet_at(EXEUNT_SOURCE_TASKSTATS, 12);
	assert_int_equal(n_seen, 1);
	assert_false(exeunt_has(&seen[0], EXEUNT_F_MISSING));
}

/* And works again: it is waited for again. */
static void a_source_comes_back(void **state)
{
	(void)state;
	join_set_sources(joiner, T | A, A);
	join_set_sources(joiner, T | P | A, P);
	put_task(42, 10);
	quiet_at(EXEUNT_SOURCE_TASKSTATS, 15);
	assert_int_equal(n_seen, 0);
	put_pacct(42, 10, 16);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].sources, T | P);
}

/* Audit told of a call that accounting, which leads, has no end for. */
static void what_stands_alone_is_judged_by_whoever_leads(void **state)
{
	(void)state;
	join_set_sources(joiner, P | A, P);
	put_audit(42, 9, 10);
	quiet_at(EXEUNT_SOURCE_PACCT, 5000);
	quiet_at(EXEUNT_SOURCE_AUDIT, 5000);
	join_checked(joiner, T0 + 5000 * MS);
	assert_int_equal(balance().pending, 0);
	assert_int_equal(balance().unmatched, 1);
	assert_int_equal(n_seen, 0);
}

/* At the end nothing is left over uncounted, and times that say "the end" do not overflow. */
static void the_end_judges_all(void **state)
{
	(void)state;
	put_pacct(42, 10, 11);
	put_audit(43, 10, 11);
	put_task(44, 12);
	quiet_at(EXEUNT_SOURCE_TASKSTATS, 1000);
	put_audit(46, 990, 991); /* on its way out when we stop */
	join_flush(joiner);
	assert_int_equal(n_seen, 1);
	assert_int_equal(balance().unmatched, 2);
	assert_int_equal(balance().pending, 0);
	put_pacct(45, 10, 11);
	lose(1, 0, 20);
	join_flush(joiner);
	assert_int_equal(n_seen, 2);
	assert_true(seen[1].backfilled);
}

/* The next file may be of another boot, whose clock has not come as far. */
static void another_boot_begins_anew(void **state)
{
	(void)state;
	all_quiet_at(100000);
	join_flush(joiner);
	put_thread(43, 42, 0x10, false, 9);
	put_thread(42, 42, TASK_GROUP, true, 10);
	put_pacct(42, 10, 11);
	put_audit(42, 9, 11);
	assert_int_equal(n_seen, 0); /* its companions still have their time */
	put_thread(44, 42, 0x10, false, 12);
	all_quiet_at(60);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].threads, 3);
}

/* Something was lost once; that makes no exits of what stands alone at another time. */
static void a_loss_is_filled_at_its_own_time(void **state)
{
	(void)state;
	lose(5, 0, 50);
	put_pacct(42, 10, 11);
	all_quiet_at(60);
	join_checked(joiner, T0 + 60 * MS);
	assert_int_equal(n_seen, 1);
	ledger_release(ledger, R0 + 60 * MS);
	/* such as a second call of exit_group(2) in a process that was joined and forgotten */
	put_audit(42, 9000, 9001);
	put_pacct(43, 9000, 9001);
	all_quiet_at(9100);
	join_checked(joiner, T0 + 9100 * MS);
	all_quiet_at(12000);
	join_checked(joiner, T0 + 12000 * MS);
	assert_int_equal(n_seen, 1);
	assert_int_equal(balance().unmatched, 2);
	assert_int_equal(ledger_outstanding(ledger), 4);
}

/* The pid of an end that was lost comes again at once, and is no late word of that end. */
static void the_next_owner_of_the_pid_is_another(void **state)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = 42,
			       .tgid = 42,
			       .flag = TASK_GROUP,
			       .uid = 1000,
			       .gid = 1000,
			       .tgetime_us = 5000,
			       .etime_us = 5000,
			       .btime = 1700000000 };
	struct frame f = frame_at(700);

	(void)state;
	lose(1, 0, 50);
	put_pacct(42, 10, 11);
	all_quiet_at(60);
	join_checked(joiner, T0 + 60 * MS);
	assert_int_equal(n_seen, 1);
	assert_true(seen[0].backfilled);
	join_task(joiner, &t, &f);
	all_quiet_at(800);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[1].type, EXEUNT_TYPE_EXIT);
	assert_int_equal(seen[1].elapsed_us, 5000);
}

/*
 * The end itself, when it was only late, amends; but what came into an empty queue behind accounting's record is of the next
 * owner, for taskstats tells first.
 */
static void late_word_was_queued_early(void **state)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .flag = TASK_GROUP,
			       .uid = 1000,
			       .gid = 1000,
			       .tgetime_us = 1900000,
			       .etime_us = 1900000,
			       .btime = 1700000000 - 1 };
	struct frame f = frame_at(905);

	(void)state;
	lose(2, 850, 950);
	put_pacct(50, 900, 901);
	put_pacct(51, 900, 901);
	all_quiet_at(960);
	join_checked(joiner, T0 + 960 * MS);
	assert_int_equal(n_seen, 2);
	t.pid = t.tgid = 50;
	f.since_ns = T0 + 899 * MS;
	join_task(joiner, &t, &f);
	assert_int_equal(n_seen, 3);
	assert_int_equal(seen[2].type, EXEUNT_TYPE_AMEND);
	t.pid = t.tgid = 51;
	f.since_ns = T0 + 902 * MS;
	join_task(joiner, &t, &f);
	all_quiet_at(1100);
	assert_int_equal(n_seen, 4);
	assert_int_equal(seen[3].type, EXEUNT_TYPE_EXIT);
}

/* Accounting is late, and its process was forgotten, for the pid came again too often: that is none that was lost. */
static void one_that_was_forgotten_is_not_filled_in(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		put_task(42, 100 + 10 * i);
		all_quiet_at(100 + 10 * i + 1);
	}
	all_quiet_at(400);
	assert_int_equal(n_seen, 10);
	lose(5, 50, 400);
	for (int i = 0; i < 10; i++)
		put_pacct(42, 100 + 10 * i, 401);
	all_quiet_at(450);
	join_checked(joiner, T0 + 450 * MS);
	assert_int_equal(balance().exits, 10);
	assert_int_equal(balance().amends, 8);
	assert_int_equal(balance().backfilled, 0);
	join_flush(joiner);
	assert_int_equal(balance().exits, 10);
	assert_int_equal(balance().unmatched, 2);
}

/* The clock is set back by an hour while a loss is held. */
static void a_clock_set_back_holds_nothing_up(void **state)
{
	(void)state;
	ledger_set_hold(ledger, 2 * NS_PER_SEC);
	lose(5, 0, 50);
	ledger_release(ledger, R0 + 100 * MS);
	assert_int_equal(n_losses, 0);
	assert_false(ledger_is_settled(ledger));
	ledger_release(ledger, R0 - 3600 * NS_PER_SEC);
	assert_int_equal(n_losses, 1);
	assert_true(ledger_is_settled(ledger));
}

static void a_loss_is_told_once_however_it_is_held(void **state)
{
	(void)state;
	lose(5, 0, 50);
	assert_int_equal(n_losses, 1);
	assert_true(ledger_is_lost(ledger, R0 + 10 * MS));
	ledger_release(ledger, R0 + 100 * MS);
	ledger_release(ledger, R0 + 10000 * MS);
	ledger_release(ledger, INT64_MAX);
	assert_int_equal(n_losses, 1);
	assert_false(ledger_is_lost(ledger, R0 + 10 * MS));
	ledger_set_hold(ledger, 2 * NS_PER_SEC);
	lose(6, 0, 50);
	assert_int_equal(n_losses, 1);
	ledger_release(ledger, R0 + 2100 * MS);
	assert_int_equal(n_losses, 2);
	ledger_release(ledger, INT64_MAX);
	assert_int_equal(n_losses, 2);
}

static void any_bound_of_the_table_is_taken(void **state)
{
	end(state);
	assert_int_equal(begin_with(UINT32_MAX), 0);
	put_task(42, 10);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_leading_source_stops),
		TEST(an_awaited_source_stops),
		TEST(a_source_comes_back),
		TEST(what_stands_alone_is_judged_by_whoever_leads),
		TEST(the_end_judges_all),
		TEST(another_boot_begins_anew),
		TEST(a_loss_is_filled_at_its_own_time),
		TEST(the_next_owner_of_the_pid_is_another),
		TEST(late_word_was_queued_early),
		TEST(one_that_was_forgotten_is_not_filled_in),
		TEST(a_clock_set_back_holds_nothing_up),
		TEST(a_loss_is_told_once_however_it_is_held),
		TEST(any_bound_of_the_table_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
