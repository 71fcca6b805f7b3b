/* SPDX-License-Identifier: MIT */
/*
 * Following an accounting file while it is rotated in every way that is known: each record comes
 * once.
 */
#include "unit/test.h"

#include "unit/follow.h"

static void only_what_comes_after_the_start(void **state)
{
	struct world *w = world_new();

	(void)state;
	create(w, "pacct");
	accton(w, "pacct");
	write_records(w, 5);
	begin(w);
	read_all(w);
	assert_int_equal(w->n_got, 0);
	write_records(w, 3);
	read_all(w);
	expect_all(w, 6);
	assert_int_equal(w->n_files, 1);
	read_all(w);
	expect_all(w, 6);
	world_free(w);
}

/* Case C011: the kernel goes on in the old file, for it was not told. */
static void renamed_while_the_kernel_goes_on(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 3);
	tick(w);
	move(w, "pacct", "pacct.1");
	create(w, "pacct");
	write_records(w, 2);
	tick(w);
	assert_int_equal(w->n_got, 5);
	/* Half an hour later still. */
	for (int i = 0; i < 7200; i++)
		tick(w);
	assert_int_equal(pacct_follow_files(w->f), 2);
	write_records(w, 1);
	tick(w);
	assert_int_equal(w->n_got, 6);
	assert_true(pacct_follow_is_behind(w->f));
	accton(w, "pacct");
	write_records(w, 4);
	tick(w);
	expect_all(w, 1);
	assert_false(pacct_follow_is_behind(w->f));
	for (int i = 0; i < 60; i++)
		tick(w);
	assert_int_equal(pacct_follow_files(w->f), 1);
	assert_int_equal(w->n_gaps, 0);
	world_free(w);
}

/* An exit that was being written to the old file while accounting was switched over. */
static void a_late_record_in_the_old_file(void **state)
{
	struct world *w = start();
	int old;

	(void)state;
	write_records(w, 3);
	tick(w);
	move(w, "pacct", "pacct.1");
	old = open(in(w, "pacct.1"), O_WRONLY | O_APPEND);
	create(w, "pacct");
	accton(w, "pacct");
	w->keep_back = 128;
	write_records(w, 4);
	tick(w);
	write_to(w, old, 1);
	write_records(w, 2);
	tick(w);
	write_to(w, old, 1);
	tick(w);
	w->keep_back = 0;
	write_records(w, 1);
	tick(w);
	expect_all(w, 1);
	close(old);
	world_free(w);
}

static void unlinked_and_made_again(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 3);
	tick(w);
	unlink(in(w, "pacct"));
	write_records(w, 2);
	tick(w);
	assert_int_equal(w->n_got, 5);
	create(w, "pacct");
	write_records(w, 1);
	tick(w);
	accton(w, "pacct");
	write_records(w, 4);
	tick(w);
	expect_all(w, 1);
	assert_int_equal(w->n_gaps, 0);
	world_free(w);
}

static void packed_while_it_is_read(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 3);
	tick(w);
	move(w, "pacct", "pacct.1");
	create(w, "pacct");
	write_records(w, 2);
	accton(w, "pacct");
	write_records(w, 2);
	pack(w, "pacct.1");
	tick(w);
	expect_all(w, 1);
	for (int i = 0; i < 60; i++)
		tick(w);
	expect_all(w, 1);
	world_free(w);
}

static void twice_between_two_looks(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 3);
	tick(w);
	for (int i = 1; i <= 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pacct.%d", 4 - i);
		write_records(w, 2);
		move(w, "pacct", name);
		create(w, "pacct");
		accton(w, "pacct");
		write_records(w, 3);
	}
	pack(w, "pacct.2");
	tick(w);
	expect_all(w, 1);
	/* in the order in which they were written */
	for (uint32_t i = 0; i < w->n_got; i++)
		assert_int_equal(w->got[i], i + 1);
	for (int i = 0; i < 60; i++)
		tick(w);
	write_records(w, 3);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

static void renamed_back(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 3);
	tick(w);
	move(w, "pacct", "pacct.1");
	create(w, "pacct");
	tick(w);
	write_records(w, 3);
	tick(w);
	move(w, "pacct.1", "pacct");
	tick(w);
	write_records(w, 3);
	tick(w);
	for (int i = 0; i < 60; i++)
		tick(w);
	write_records(w, 3);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

static void a_path_that_comes_into_being(void **state)
{
	struct world *w = world_new();

	(void)state;
	begin(w);
	tick(w);
	assert_int_equal(pacct_follow_fd(w->f), -1);
	create(w, "pacct");
	accton(w, "pacct");
	write_records(w, 4);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

static void larger_than_the_buffer(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 50000);
	read_all(w);
	expect_all(w, 1);
	assert_int_equal(w->n_files, 1);
	world_free(w);
}

static void begins_where_the_kernel_writes(void **state)
{
	struct world *w = world_new();

	(void)state;
	create(w, "pacct");
	accton(w, "pacct");
	write_records(w, 7);
	move(w, "pacct", "pacct.0");
	create(w, "pacct");
	assert_int_equal(pacct_follow_new(&w->f, in(w, "pacct"), NULL), 0);
	assert_int_equal(pacct_follow_begin(w->f, "pacct.0", w->now), 0);
	write_records(w, 3);
	tick(w);
	accton(w, "pacct");
	write_records(w, 3);
	tick(w);
	expect_all(w, 8);
	world_free(w);
}

/* Two files of our own, used in turn. */
static void switched_by_ourselves(void **state)
{
	struct world *w = world_new();

	(void)state;
	create(w, "pacct-a");
	create(w, "pacct-b");
	accton(w, "pacct-a");
	assert_int_equal(pacct_follow_new(&w->f, in(w, "pacct-a"), "pacct-"), 0);
	assert_int_equal(pacct_follow_begin(w->f, NULL, w->now), 0);
	for (int i = 0; i < 20; i++) {
		const char *next = i % 2 ? "pacct-a" : "pacct-b";

		write_records(w, 10);
		read_all(w);
		write_records(w, 1);
		assert_int_equal(pacct_follow_files(w->f), 1);
		assert_int_equal(truncate(in(w, next), 0), 0);
		accton(w, next);
		assert_int_equal(pacct_follow_switch(w->f, in(w, next), w->now), 0);
		write_records(w, 2);
		tick(w);
	}
	expect_all(w, 1);
	assert_int_equal(w->n_gaps, 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_comes_after_the_start),
		cmocka_unit_test(renamed_while_the_kernel_goes_on),
		cmocka_unit_test(a_late_record_in_the_old_file),
		cmocka_unit_test(unlinked_and_made_again),
		cmocka_unit_test(packed_while_it_is_read),
		cmocka_unit_test(twice_between_two_looks),
		cmocka_unit_test(renamed_back),
		cmocka_unit_test(a_path_that_comes_into_being),
		cmocka_unit_test(larger_than_the_buffer),
		cmocka_unit_test(begins_where_the_kernel_writes),
		cmocka_unit_test(switched_by_ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
