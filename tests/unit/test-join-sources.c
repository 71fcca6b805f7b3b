/* SPDX-License-Identifier: MIT */
/*
 * Several sources of one end: each exit once, whatever told of it first; what only a second source saw is an exit when
 * something was lost, and nothing when nothing was.
 */
#include "unit/test.h"

#include "base/util.h"
#include "join/join.h"
#include "record/fields.h"

#define MS NS_PER_MSEC
#define T0 (1000 * NS_PER_SEC)
#define R0 (1700000000 * NS_PER_SEC)

#define T EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS)
#define P EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT)
#define A EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT)

static struct exeunt_record seen[64];
static char seen_tty[64][16];
static size_t n_seen;
static struct exeunt_loss losses[8];
static size_t n_losses;
static struct ledger *ledger;
static struct joiner *joiner;

static void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	assert_true(n_seen < ARRAY_SIZE(seen));
	if (exeunt_has(r, EXEUNT_F_TTY))
		snprintf(seen_tty[n_seen], sizeof(seen_tty[0]), "%.*s", (int)r->tty.len,
			 r->tty.data);
	seen[n_seen++] = *r;
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)userdata;
	losses[n_losses++] = *loss;
}

static int begin(void **state)
{
	struct join_options o = { .emit = on_emit };

	(void)state;
	n_seen = n_losses = 0;
	if (ledger_new(&ledger, on_loss, NULL))
		return -1;
	o.ledger = ledger;
	if (join_new(&joiner, &o))
		return -1;
	join_set_sources(joiner, T | P | A, P | A);
	return 0;
}

static int end(void **state)
{
	(void)state;
	join_free(joiner);
	ledger_free(ledger);
	return 0;
}

static struct frame frame_at(int64_t at_ms)
{
	return (struct frame){ .mono_ns = T0 + at_ms * MS,
			       .real_ns = R0 + at_ms * MS,
			       .since_ns = T0 + at_ms * MS - MS };
}

/* A process of one thread that began a second before T0. */
static void put_task(int32_t pid, uint32_t uid, uint32_t code, int64_t at_ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = pid,
			       .tgid = pid,
			       .exit_code = code,
			       .flag = TASK_GROUP,
			       .uid = uid,
			       .gid = uid,
			       .comm = "demo",
			       .exe_inode = 1 };
	struct frame f = frame_at(at_ms);

	t.tgetime_us = t.etime_us = (uint64_t)(1000 + at_ms) * 1000;
	t.btime = 1700000000 - 1;
	join_task(joiner, &t, &f);
}

static void put_pacct(int32_t pid, uint32_t uid, uint32_t code, int64_t ended_ms, int64_t read_ms)
{
	struct pacct_exit e = { .present = PACCT_HAS_PID | PACCT_HAS_UID | PACCT_HAS_BTIME |
					   PACCT_HAS_STATUS | PACCT_HAS_ETIME | PACCT_HAS_MEM |
					   PACCT_HAS_TTY,
				.version = 3,
				.ahz = 100,
				.pid = (uint32_t)pid,
				.uid = uid,
				.gid = uid,
				.status = code,
				.btime_s = 1700000000 - 1,
				.etime_precision_ns = 10000000,
				.mem_kib = 77,
				.tty_text = "pts/3",
				.comm = "demo",
				.comm_len = 4 };
	struct frame f = frame_at(read_ms);

	e.etime_us = (uint64_t)(1000 + ended_ms) / 10 * 10000;
	join_pacct(joiner, &e, &f);
}

static void put_audit(int32_t pid, uint8_t code, int64_t called_ms, int64_t read_ms)
{
	struct audit_event e = { .kind = AUDIT_EVENT_EXIT,
				 .pid = pid,
				 .code = code,
				 .auid = 500,
				 .ses = 7,
				 .time_ns = R0 + called_ms * MS,
				 .serial = 99,
				 .exe = { "/usr/bin/demo", 13 } };
	struct frame f = frame_at(read_ms);

	e.has = 1ull << AUDIT_HAS_PID | 1ull << AUDIT_HAS_CODE | 1ull << AUDIT_HAS_AUID |
		1ull << AUDIT_HAS_SES | 1ull << AUDIT_HAS_EXE;
	join_audit(joiner, &e, &f);
}

static void all_quiet_at(int64_t at_ms)
{
	for (int s = 0; s < EXEUNT_SOURCE_OUTPUT; s++)
		join_horizon(joiner, (enum exeunt_source)s, T0 + at_ms * MS);
}

static void check_joined(void)
{
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].type, EXEUNT_TYPE_EXIT);
	assert_int_equal(seen[0].sources, T | P | A);
	assert_int_equal(seen[0].exit_code, 3);
	assert_int_equal(seen[0].login_uid, 500);
	assert_int_equal(seen[0].session, 7);
	assert_int_equal(seen[0].vm_at_exit_bytes, 77 * 1024);
	assert_string_equal(seen_tty[0], "pts/3");
	assert_false(exeunt_has(&seen[0], EXEUNT_F_MISSING));
	assert_false(exeunt_has(&seen[0], EXEUNT_F_EXIT_CERTAIN));
}

static void in_every_order(void **state)
{
	static const char *const orders[] = { "TPA", "TAP", "PTA", "PAT", "ATP", "APT" };

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		for (const char *c = orders[i]; *c; c++) {
			assert_int_equal(n_seen, 0);
			if (*c == 'T')
				put_task(42, 1000, 0x300, 10);
			else if (*c == 'P')
				put_pacct(42, 1000, 0x300, 10, 11);
			else
				put_audit(42, 3, 6, 12);
		}
		check_joined();
		end(state);
		begin(state);
	}
}

static void what_does_not_come_is_missing(void **state)
{
	(void)state;
	put_task(42, 1000, 9, 10);
	all_quiet_at(25);
	assert_int_equal(n_seen, 0);
	all_quiet_at(60);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].sources, T);
	/* a killed process has no audit record, and that is nothing amiss */
	assert_int_equal(seen[0].missing, P);
	/* and comes late */
	put_pacct(42, 1000, 9, 10, 300);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[1].type, EXEUNT_TYPE_AMEND);
	assert_int_equal(seen[1].sources, T | P);
	assert_false(exeunt_has(&seen[1], EXEUNT_F_MISSING));
	assert_true(seen[0].entity_start_ns == seen[1].entity_start_ns);
	assert_int_equal(ledger_balance(ledger)->exits, 1);
}

/* The pid was used twice within a moment: the oldest that fits, and only if it fits. */
static void one_pid_twice(void **state)
{
	(void)state;
	put_task(42, 1000, 0x100, 10);
	put_task(42, 2000, 0x200, 11);
	put_pacct(42, 2000, 0x200, 11, 12);
	put_pacct(42, 1000, 0x100, 10, 12);
	put_audit(42, 1, 9, 13);
	put_audit(42, 2, 60, 61);
	all_quiet_at(200);
	assert_int_equal(n_seen, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(seen[i].uid, seen[i].exit_code * 1000);
		assert_true(seen[i].sources & P);
	}
}

static void lose(uint64_t count)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = count,
				    .exact = true,
				    .window_start_ns = R0,
				    .window_end_ns = R0 + 50 * MS };

	ledger_lose(ledger, &loss);
}

static void what_taskstats_lost_is_backfilled(void **state)
{
	(void)state;
	ledger_set_hold(ledger, NS_PER_SEC);
	put_pacct(42, 1000, 0x300, 10, 11);
	put_pacct(43, 1000, 9, 10, 11);
	put_audit(43, 0, 9, 12); /* called exit_group(2), and was killed on the way */
	lose(3);
	join_checked(joiner, T0 + 250 * MS);
	assert_int_equal(n_seen, 0); /* queues were not seen empty behind these */
	all_quiet_at(251);
	join_checked(joiner, T0 + 252 * MS);
	assert_int_equal(n_seen, 2);
	assert_true(seen[0].backfilled);
	assert_int_equal(seen[0].sources, P);
	assert_int_equal(seen[0].missing, T);
	assert_int_equal(seen[0].exit_code, 3);
	assert_int_equal(seen[1].login_uid, 500);
	/* the loss record learns of it */
	ledger_release(ledger, R0 + 500 * MS);
	assert_int_equal(n_losses, 0);
	ledger_release(ledger, R0 + 2000 * MS);
	assert_int_equal(n_losses, 1);
	assert_int_equal(losses[0].count, 3);
	assert_int_equal(losses[0].backfilled, 2);
	assert_int_equal(ledger_outstanding(ledger), 1);
}

static void without_a_loss_nothing_is_made_up(void **state)
{
	(void)state;
	put_pacct(42, 1000, 0x300, 10, 11);
	put_audit(77, 1, 9, 12);
	all_quiet_at(100);
	join_checked(joiner, T0 + 250 * MS);
	all_quiet_at(5000);
	join_checked(joiner, T0 + 5000 * MS);
	assert_int_equal(n_seen, 0);
	assert_int_equal(ledger_balance(ledger)->unmatched, 2);
	assert_int_equal(ledger_balance(ledger)->exits, 0);
}

/* taskstats told of a worker, lost the end, and accounting has it. */
static void threads_of_a_lost_end_are_added(void **state)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID | TASK_HAS_IO,
			       .pid = 43,
			       .tgid = 42,
			       .uid = 1000,
			       .gid = 1000,
			       .read_bytes = 4096,
			       .btime = 1700000000 - 1,
			       .tgetime_us = 1005000,
			       .comm = "worker" };
	struct frame f = frame_at(5);

	(void)state;
	join_task(joiner, &t, &f);
	put_pacct(42, 1000, 0x300, 10, 11);
	lose(1);
	all_quiet_at(300);
	join_checked(joiner, T0 + 301 * MS);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].exit_code, 3);
	assert_int_equal(seen[0].read_bytes, 4096);
	assert_string_equal(seen[0].comm, "demo");
	assert_true(seen[0].backfilled);
}

static void a_phantom_is_no_exit(void **state)
{
	struct pacct_exit e = { .present = PACCT_HAS_PID, .pid = 42, .phantom = true };
	struct frame f = frame_at(1);

	(void)state;
	join_set_sources(joiner, P, P);
	join_pacct(joiner, &e, &f);
	assert_int_equal(n_seen, 0);
}

static void accounting_alone_is_a_source(void **state)
{
	(void)state;
	join_set_sources(joiner, P, P);
	put_pacct(42, 1000, 0x8b, 10, 11);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].exit_signal, 11);
	assert_true(seen[0].exit_core_dumped);
	assert_int_equal(seen[0].sources, P);
	assert_true(seen[0].exit_precision_ns <= (uint64_t)NS_PER_SEC);
}

/* Before version 12 accounting tells a process from a thread. */
static void accounting_tells_a_process_from_a_thread(void **state)
{
	struct task_exit t = { .version = 10,
			       .pid = 42,
			       .uid = 1000,
			       .gid = 1000,
			       .exit_code = 0x300,
			       .etime_us = 1010000,
			       .btime = 1700000000 - 1,
			       .comm = "demo" };
	struct frame f = frame_at(10);

	(void)state;
	join_set_sources(joiner, T | P, P);
	join_task(joiner, &t, &f);
	t.pid = 43;
	t.exit_code = 0;
	join_task(joiner, &t, &f);
	put_pacct(42, 1000, 0x300, 10, 11);
	all_quiet_at(100);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].pid, 42);
	assert_int_equal(seen[0].exit_code, 3);
	assert_false(exeunt_has(&seen[0], EXEUNT_F_EXIT_CERTAIN));
}

/* A source that does not answer does not hold up the stream for ever. */
static void a_silent_source_is_not_waited_for_long(void **state)
{
	(void)state;
	put_task(42, 1000, 0, 10);
	for (int at = 10; at < 1500; at += 100)
		join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + at * MS);
	assert_int_equal(n_seen, 1);
}

static void audit_decides_a_race(void **state)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = 42,
			       .tgid = 42,
			       .exit_code = 0x300,
			       .tgetime_us = 1010000,
			       .etime_us = 1010000,
			       .btime = 1700000000 - 1,
			       .uid = 1000,
			       .gid = 1000,
			       .exe_inode = 1 };
	struct frame f = frame_at(10);

	(void)state;
	join_set_sources(joiner, T | A, A);
	join_task(joiner, &t, &f);
	t.pid = 43;
	t.exit_code = 0;
	t.flag = TASK_GROUP;
	t.has |= TASK_HAS_AGGREGATE;
	join_task(joiner, &t, &f);
	put_audit(42, 3, 8, 11);
	all_quiet_at(600);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].exit_code, 3);
	assert_false(exeunt_has(&seen[0], EXEUNT_F_EXIT_CERTAIN));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_every_order),
		TEST(what_does_not_come_is_missing),
		TEST(one_pid_twice),
		TEST(what_taskstats_lost_is_backfilled),
		TEST(without_a_loss_nothing_is_made_up),
		TEST(threads_of_a_lost_end_are_added),
		TEST(a_phantom_is_no_exit),
		TEST(accounting_alone_is_a_source),
		TEST(accounting_tells_a_process_from_a_thread),
		TEST(a_silent_source_is_not_waited_for_long),
		TEST(audit_decides_a_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
