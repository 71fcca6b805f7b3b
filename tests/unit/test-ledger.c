/* SPDX-License-Identifier: MIT */
/* The ledger's sequence numbers: a gap is told from a task that moved to another CPU while the kernel sent. */
#include "unit/test.h"

#include "base/util.h"
#include "join/ledger.h"

static struct exeunt_loss last;
static unsigned int losses;

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)userdata;
	last = *loss;
	losses++;
}

static struct ledger *begin(void)
{
	struct ledger *l;

	losses = 0;
	assert_int_equal(ledger_new(&l, on_loss, NULL), 0);
	return l;
}

static void run_of(struct ledger *l, int cpu, uint32_t from, uint32_t to)
{
	for (uint32_t s = from; s != to; s++)
		assert_int_equal(ledger_sequence(l, cpu, s), 0);
}

static void settle(struct ledger *l)
{
	for (int i = 0; i < 3; i++)
		ledger_check(l, 1000 + i);
}

static void unbroken_numbers_lose_nothing(void **state)
{
	struct ledger *l = begin();

	(void)state;
	run_of(l, 0, 4294967000u, 500); /* over the end of 32 bits */
	run_of(l, 1, 77, 9000);
	settle(l);
	assert_int_equal(losses, 0);
	ledger_free(l);
}

static void a_gap_without_overflow_is_told_once(void **state)
{
	struct ledger *l = begin();

	(void)state;
	run_of(l, 0, 10, 20);
	run_of(l, 0, 23, 40);
	ledger_check(l, 1000);
	assert_int_equal(losses, 0); /* not before it stood for two looks */
	ledger_check(l, 2000);
	settle(l);
	assert_int_equal(losses, 1);
	assert_int_equal(last.count, 3);
	assert_int_equal(last.cause, EXEUNT_LOSS_SEQUENCE_GAP);
	assert_false(last.exact);
	assert_int_equal(ledger_balance(l)->lost, 3);
	ledger_free(l);
}

static void an_overflow_explains_its_gap(void **state)
{
	struct ledger *l = begin();

	(void)state;
	run_of(l, 0, 10, 20);
	run_of(l, 0, 120, 140);
	ledger_explain(l, 100);
	settle(l);
	assert_int_equal(losses, 0);
	/* the counter may be read before the message behind the gap comes */
	ledger_explain(l, 5);
	ledger_check(l, 1);
	run_of(l, 0, 145, 150);
	settle(l);
	assert_int_equal(losses, 0);
	ledger_free(l);
}

/* Numbered on CPU 0, sent on CPU 1. */
static void a_task_that_moved_is_no_loss(void **state)
{
	static const uint32_t strangers[] = { 15, 5000, 1000, 4000000000u };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++) {
		struct ledger *l = begin();

		run_of(l, 1, 990, 1000);
		run_of(l, 0, strangers[i] - 5, strangers[i]);
		assert_int_equal(ledger_sequence(l, 1, strangers[i]), 0);
		run_of(l, 0, strangers[i] + 1, strangers[i] + 9);
		run_of(l, 1, 1000, 1020);
		settle(l);
		assert_int_equal(losses, 0);
		ledger_free(l);
	}
}

static void causes_go_to_their_counters(void **state)
{
	struct ledger *l = begin();
	struct exeunt_loss loss = { .count = 7, .cpu = -1 };

	(void)state;
	loss.cause = EXEUNT_LOSS_TABLE_FULL;
	ledger_lose(l, &loss);
	assert_int_equal(ledger_balance(l)->evicted, 7);
	assert_int_equal(ledger_balance(l)->lost, 0);
	loss.cause = EXEUNT_LOSS_UNPARSABLE;
	ledger_lose(l, &loss);
	assert_int_equal(ledger_balance(l)->unparsable, 7);
	assert_int_equal(ledger_balance(l)->lost, 7);
	loss.source = EXEUNT_SOURCE_OUTPUT;
	loss.cause = EXEUNT_LOSS_SLOW_SINK;
	ledger_lose(l, &loss);
	assert_int_equal(ledger_balance(l)->lost_output, 7);
	assert_int_equal(ledger_balance(l)->lost, 7);
	ledger_free(l);
}

static void any_channel_may_be_named(void **state)
{
	struct ledger *l = begin();

	(void)state;
	assert_int_equal(ledger_sequence(l, -5, 1), 0);
	assert_int_equal(ledger_sequence(l, INT32_MAX, 1), 0);
	assert_int_equal(ledger_sequence(l, 65535, 1), 0);
	ledger_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unbroken_numbers_lose_nothing),
		cmocka_unit_test(a_gap_without_overflow_is_told_once),
		cmocka_unit_test(an_overflow_explains_its_gap),
		cmocka_unit_test(a_task_that_moved_is_no_loss),
		cmocka_unit_test(causes_go_to_their_counters),
		cmocka_unit_test(any_channel_may_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
