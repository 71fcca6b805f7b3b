/* SPDX-License-Identifier: MIT */
/* The followed file is cut off, or replaced by another that holds some of the same records. */
#include "unit/test.h"

#include "unit/follow.h"

/*
 * Case C036: what was written between the copy and the cut is in neither; all else comes, and the
 * gap is told.
 */
static void copied_and_cut_off(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 100);
	tick(w);
	copy_file(w, "pacct", "pacct.1");
	write_records(w, 5);
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	write_records(w, 7);
	tick(w);
	assert_int_equal(w->n_got, 107);
	assert_int_equal(w->got[99], 100);
	assert_int_equal(w->got[100], 106);
	assert_int_equal(w->n_gaps, 1);
	write_records(w, 200);
	tick(w);
	assert_int_equal(w->n_got, 307);
	assert_int_equal(w->n_gaps, 1);
	world_free(w);
}

/* What we had not read before the copy was made is found in the copy. */
static void the_copy_has_what_was_not_read(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 10);
	tick(w);
	write_records(w, 30);
	copy_file(w, "pacct", "pacct.1");
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	write_records(w, 7);
	tick(w);
	expect_all(w, 1);
	assert_int_equal(w->n_gaps, 1);
	world_free(w);
}

/* It was cut off and has grown beyond where we were: only its content tells. */
static void cut_off_and_longer_again(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 10);
	tick(w);
	copy_file(w, "pacct", "pacct.1");
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	write_records(w, 25);
	tick(w);
	expect_all(w, 1);
	assert_int_equal(w->n_gaps, 1);
	assert_true(w->gap_since_ns < w->now.mono_ns);
	world_free(w);
}

static void cut_off_while_it_is_read(void **state)
{
	struct world *w = start();

	(void)state;
	w->keep_back = 100;
	write_records(w, 10000);
	read_one(w);
	read_one(w);
	assert_true(w->n_got > 100 && w->n_got < 10000);
	copy_file(w, "pacct", "pacct.1");
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	write_records(w, 3);
	w->keep_back = 0;
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

static void replaced_by_a_shorter_one(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 50);
	tick(w);
	create(w, "other");
	accton(w, "other");
	write_records(w, 3);
	move(w, "other", "pacct");
	tick(w);
	write_records(w, 3);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

/* dd bs=64 count=20 if=pacct of=other && mv other pacct && accton pacct */
static void replaced_by_a_shorter_copy(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 50);
	tick(w);
	copy_file(w, "pacct", "other");
	assert_int_equal(truncate(in(w, "other"), 20 * RECORD), 0);
	accton(w, "other");
	write_records(w, 3);
	move(w, "other", "pacct");
	tick(w);
	write_records(w, 3);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

/* Copied to another disk and back, with records in it that we had not read in the first. */
static void replaced_by_a_copy(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 50);
	tick(w);
	write_records(w, 5);
	copy_file(w, "pacct", "other");
	accton(w, "other");
	move(w, "other", "pacct");
	write_records(w, 3);
	tick(w);
	write_records(w, 3);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

/* An old file is put back: it is no news, and what is appended is. */
static void replaced_by_an_old_one(void **state)
{
	struct world *w = world_new();

	(void)state;
	create(w, "pacct.3");
	accton(w, "pacct.3");
	write_records(w, 20);
	pass(w, 3600 * NS_PER_SEC);
	create(w, "pacct");
	accton(w, "pacct");
	begin(w);
	write_records(w, 2);
	tick(w);
	pass(w, 60 * NS_PER_SEC);
	tick(w);
	move(w, "pacct.3", "pacct");
	tick(w);
	accton(w, "pacct");
	write_records(w, 3);
	tick(w);
	expect_all(w, 21);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copied_and_cut_off),
		cmocka_unit_test(the_copy_has_what_was_not_read),
		cmocka_unit_test(cut_off_and_longer_again),
		cmocka_unit_test(cut_off_while_it_is_read),
		cmocka_unit_test(replaced_by_a_shorter_one),
		cmocka_unit_test(replaced_by_a_shorter_copy),
		cmocka_unit_test(replaced_by_a_copy),
		cmocka_unit_test(replaced_by_an_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
