/* SPDX-License-Identifier: MIT */
/* join/merge.h: when a process ended, from the second that the kernel tells and the time at which we read it. Case C059. */
#include "unit/test.h"

#include "base/util.h"
#include "join/merge.h"
#include "record/fields.h"

#define MS NS_PER_MSEC
#define T0 (1000 * NS_PER_SEC) /* monotonic */
#define R0 (1700000000 * NS_PER_SEC)

/* A process that began at T0 less a second, ended at `ended_ms` and was read at `read_ms`; its queue was empty before that. */
static struct exeunt_record merged(int64_t ended_ms, int64_t read_ms, int64_t window_ms)
{
	struct task_exit t = { .version = 16, .has = TASK_HAS_TGID, .btime = 1700000000 - 1 };
	struct frame f = { .mono_ns = T0 + read_ms * MS,
			   .real_ns = R0 + read_ms * MS,
			   .since_ns = T0 + (read_ms - window_ms) * MS };
	struct exeunt_record r = { 0 };

	t.tgetime_us = t.etime_us = (uint64_t)(1000 + ended_ms) * 1000;
	merge_times(&r, &t, &f);
	return r;
}

static void check_claim(const struct exeunt_record *r, int64_t ended_ms)
{
	assert_true(r->exit_time_ns >= R0 + ended_ms * MS);
	assert_true(r->exit_time_ns - (int64_t)r->exit_precision_ns <= R0 + ended_ms * MS);
	assert_true(r->exit_precision_ns <= (uint64_t)(1100 * MS));
}

static void read_at_once(void **state)
{
	struct exeunt_record r = merged(100, 101, 2);

	(void)state;
	check_claim(&r, 100);
	assert_int_equal(r.exit_precision_ns, 2 * MS);
	assert_int_equal(r.creation_time_ns, r.exit_time_ns - 1100 * MS);
}

/* We were stopped for two seconds: the record has the second of the exit, and that bounds the estimate. */
static void the_second_of_the_record_bounds_the_time(void **state)
{
	struct exeunt_record r = merged(100, 2900, 2850);

	(void)state;
	check_claim(&r, 100);
}

/* A quiet host: one exit, and we were stopped in poll(2), which then says that it came just now. */
static void a_pause_that_nobody_noticed_shows_in_the_second(void **state)
{
	struct exeunt_record r = merged(100, 30000, 5);

	(void)state;
	check_claim(&r, 100);
}

static void a_clock_that_was_set_gives_no_monsters(void **state)
{
	static const uint64_t btimes[] = { 0, 1, 1700000005, UINT64_MAX, INT64_MAX, 4294967295u };
	static const uint64_t elapsed[] = { 0, 1, UINT64_MAX, INT64_MAX };
	const struct frame f = { .mono_ns = T0 + 7 * MS,
				 .real_ns = R0 + 7 * MS,
				 .since_ns = T0 + 6 * MS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(btimes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(elapsed); k++) {
			struct task_exit t = { .has = TASK_HAS_TGID,
					       .btime = btimes[i],
					       .etime_us = elapsed[k],
					       .tgetime_us = elapsed[k] };
			struct exeunt_record r = { 0 };

			merge_times(&r, &t, &f);
			assert_true(r.exit_time_ns >= R0 && r.exit_time_ns <= R0 + 7 * MS);
			assert_true(r.exit_precision_ns <= (uint64_t)NS_PER_SEC);
			assert_true(r.elapsed_us == elapsed[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_at_once),
		cmocka_unit_test(the_second_of_the_record_bounds_the_time),
		cmocka_unit_test(a_pause_that_nobody_noticed_shows_in_the_second),
		cmocka_unit_test(a_clock_that_was_set_gives_no_monsters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
