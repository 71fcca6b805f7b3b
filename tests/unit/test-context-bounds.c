/* SPDX-License-Identifier: MIT */
/* join/context.h: the bounds of the table, and who has to go. No /proc. */
#include "unit/test.h"

#include <string.h>

#include "base/util.h"
#include "join/context.h"

#define S NS_PER_SEC

static struct context *make(uint32_t max_entries)
{
	const struct context_options o = { .proc_path = "", .max_entries = max_entries };
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

/*
 * What is joined goes first, then what ended, then the longest untouched; a parent at work stays.
 */
static void test_bound_of_entries(void **state)
{
	struct context *c = make(16);

	(void)state;
	for (int32_t i = 0; i < 16; i++)
		context_fork(c, 1, 100 + i, (1 + i) * S);
	assert_int_equal(stats_of(c).entries, 16);
	context_exit(c, 105, 105, 20 * S);
	context_exit(c, 106, 106, 20 * S);
	context_release(c, context_lookup(c, 106, 7 * S), 20 * S);
	context_fork(c, 100, 300, 20 * S); /* costs the released one */
	assert_int_equal(stats_of(c).evicted, 0);
	context_fork(c, 100, 301, 20 * S); /* the ended one */
	assert_int_equal(stats_of(c).evicted, 1);
	assert_null(context_lookup(c, 105, 30 * S));
	context_fork(c, 100, 302, 20 * S); /* the oldest living one: not 100, which just forked */
	assert_null(context_lookup(c, 101, 30 * S));
	assert_non_null(context_lookup(c, 100, 30 * S));
	assert_int_equal(stats_of(c).evicted, 2);
	for (int32_t i = 0; i < 1000; i++)
		context_fork(c, 100, 1000 + i, 21 * S + i);
	assert_int_equal(stats_of(c).entries, 16);
	assert_int_equal(stats_of(c).evicted, 1002);
	assert_non_null(context_lookup(c, 100, 30 * S));
	context_free(c);
}

/*
 * A million lives: the memory is that of those alive at once, and of the afterlife of the released.
 */
static void test_churn(void **state)
{
	struct context *c = make(0);
	int64_t t = 10 * S;
	size_t most = 0;

	(void)state;
	context_fork(c, 1, 2, t);
	context_login(c, 2, 1000, 1, t);
	for (int i = 0; i < 1000000; i++, t += 25000) { /* 40,000 a second */
		int32_t pid = 300 + i % 30000;
		const struct context_entry *e;

		context_fork(c, 2, pid, t);
		context_exit(c, pid, pid, t + 20000);
		e = context_lookup(c, pid, t + 30);
		assert_true(e && e->start_ns == t && e->login_uid == 1000);
		context_release(c, e, t + 21000);
		most = MAX(most, (size_t)stats_of(c).entries);
	}
	assert_true(most <= 8100);
	assert_true(stats_of(c).bytes < 2 << 20);
	assert_int_equal(stats_of(c).evicted + stats_of(c).expired + stats_of(c).no_memory, 0);
	context_tick(c, t + S);
	assert_int_equal(stats_of(c).entries, 1);
	context_free(c);
}

/* Nobody asks: the ended go after a while. */
static void test_linger(void **state)
{
	struct context *c = make(0);

	(void)state;
	context_fork(c, 1, 100, 1 * S);
	context_exit(c, 100, 100, 2 * S);
	context_tick(c, 11 * S);
	assert_non_null(context_lookup(c, 100, 1 * S));
	context_tick(c, 12 * S);
	assert_null(context_lookup(c, 100, 1 * S));
	assert_int_equal(stats_of(c).expired, 1);
	context_free(c);
}

/* Strings count too; a parent at work stays whatever it holds. */
static void test_bound_of_bytes(void **state)
{
	const struct context_options o = { .proc_path = "", .max_bytes = 1 };
	struct context *c;
	size_t most = 0;

	(void)state;
	assert_int_equal(context_new(&c, &o, NULL), 0);
	for (int32_t i = 0; i < 20000; i++) {
		context_fork(c, 2, 100 + i, (1 + i) * S);
		context_tick(c, (1 + i) * S);
		most = MAX(most, stats_of(c).bytes);
	}
	assert_true(most <= 256 << 10); /* the least that is accepted */
	assert_true(stats_of(c).evicted > 15000);
	assert_non_null(context_lookup(c, 100 + 19999, 30000 * S));
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound_of_entries),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_linger),
		cmocka_unit_test(test_bound_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
