/* SPDX-License-Identifier: MIT */
/*
 * Killed and started again, with any rotation meanwhile: nothing is lost and nothing comes twice.
 */
#include "unit/test.h"

#include "unit/follow.h"

/* Ten records read and saved, three read and not saved, two not read; then we are killed. */
static struct world *killed(void)
{
	struct world *w = start();

	write_records(w, 10);
	tick(w);
	w->keep_back = 128;
	write_records(w, 4);
	read_all(w);
	assert_int_equal(w->n_got, 12);
	save(w);
	write_records(w, 3);
	w->keep_back = 0;
	read_all(w);
	assert_int_equal(w->n_got, 17);
	write_records(w, 2);
	crash(w);
	assert_int_equal(w->n_got, 12);
	pass(w, 60 * NS_PER_SEC);
	return w;
}

static void finish(struct world *w, uint32_t gaps)
{
	restart(w);
	tick(w);
	write_records(w, 5);
	tick(w);
	expect_all(w, 1);
	assert_int_equal(w->n_gaps, gaps);
	world_free(w);
}

static void nothing_happened_meanwhile(void **state)
{
	(void)state;
	finish(killed(), 0);
}

static void renamed_meanwhile(void **state)
{
	struct world *w = killed();

	(void)state;
	rotate(w, "pacct.1");
	write_records(w, 4);
	finish(w, 0);
}

static void renamed_and_the_kernel_not_told(void **state)
{
	struct world *w = killed();

	(void)state;
	move(w, "pacct", "pacct.1");
	create(w, "pacct");
	write_records(w, 4);
	finish(w, 0);
}

static void renamed_and_packed(void **state)
{
	struct world *w = killed();

	(void)state;
	rotate(w, "pacct-20260101");
	pack(w, "pacct-20260101");
	write_records(w, 4);
	finish(w, 0);
}

static void renamed_many_times(void **state)
{
	struct world *w = killed();
	char from[32], to[32];

	(void)state;
	for (int day = 0; day < 12; day++) {
		for (int i = day; i > 1; i--) {
			snprintf(from, sizeof(from), "pacct.%d.gz", i - 1);
			snprintf(to, sizeof(to), "pacct.%d.gz", i);
			move(w, from, to);
		}
		if (day) {
			pack(w, "pacct.0");
			move(w, "pacct.0.gz", "pacct.1.gz");
		}
		rotate(w, "pacct.0");
		write_records(w, 7);
	}
	finish(w, 0);
}

static void older_files_are_left_alone(void **state)
{
	struct world *w = world_new();

	(void)state;
	create(w, "pacct.2");
	accton(w, "pacct.2");
	write_records(w, 20);
	pack(w, "pacct.2");
	create(w, "pacct.1");
	accton(w, "pacct.1");
	write_records(w, 20);
	pass(w, 3600 * NS_PER_SEC);
	create(w, "pacct");
	accton(w, "pacct");
	begin(w);
	write_records(w, 3);
	tick(w);
	save(w);
	crash(w);
	rotate(w, "pacct.0");
	write_records(w, 3);
	restart(w);
	tick(w);
	expect_all(w, 41);
	assert_int_equal(w->n_gaps, 0);
	world_free(w);
}

static void copied_and_cut_off(void **state)
{
	struct world *w = killed();

	(void)state;
	copy_file(w, "pacct", "pacct.1");
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	pass(w, NS_PER_SEC);
	write_records(w, 30);
	finish(w, 0);
}

static void copied_and_cut_off_twice_and_packed(void **state)
{
	struct world *w = killed();

	(void)state;
	copy_file(w, "pacct", "pacct.2");
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	pack(w, "pacct.2");
	pass(w, NS_PER_SEC);
	write_records(w, 30);
	copy_file(w, "pacct", "pacct.1");
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	pass(w, NS_PER_SEC);
	write_records(w, 3);
	finish(w, 0);
}

static void a_backup_is_no_second_file(void **state)
{
	struct world *w = killed();

	(void)state;
	copy_file(w, "pacct", "pacct.bak");
	write_records(w, 2);
	rotate(w, "pacct.2");
	write_records(w, 8);
	rotate(w, "pacct.1");
	copy_file(w, "pacct.1", "pacct-copy");
	pack(w, "pacct-copy");
	write_records(w, 2);
	finish(w, 0);
}

static void cut_short_and_gone(void **state)
{
	struct world *w = killed();

	(void)state;
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	w->written -= 7; /* what is lost: all that was not decided on when we saved */
	write_records(w, 3);
	finish(w, 1);
}

static void the_old_one_was_removed(void **state)
{
	struct world *w = killed();

	(void)state;
	rotate(w, "pacct.1");
	unlink(in(w, "pacct.1"));
	w->written -= 7;
	write_records(w, 30);
	finish(w, 1);
}

/*
 * Case C035: the file system gives the inode number to the next file, which is longer than where we
 * were.
 */
static void the_inode_is_used_again(void **state)
{
	struct world *w = killed();
	struct stat st;

	(void)state;
	rotate(w, "pacct.1");
	pack(w, "pacct.1");
	write_records(w, 30);
	assert_int_equal(stat(in(w, "pacct"), &st), 0);
	w->saved.positions[w->saved.n - 1].ino = st.st_ino;
	finish(w, 0);
}

static void saved_while_the_old_one_lingers(void **state)
{
	struct world *w = start();
	int old;

	(void)state;
	write_records(w, 10);
	tick(w);
	move(w, "pacct", "pacct.1");
	old = open(in(w, "pacct.1"), O_WRONLY | O_APPEND);
	create(w, "pacct");
	accton(w, "pacct");
	write_records(w, 5);
	tick(w);
	save(w);
	write_to(w, old, 1);
	crash(w);
	close(old);
	pack(w, "pacct.1");
	finish(w, 0);
}

/* Saved in the moment between the rotation and our noticing of it. */
static void saved_before_we_noticed(void **state)
{
	struct world *w = start();

	(void)state;
	write_records(w, 10);
	tick(w);
	rotate(w, "pacct.2");
	write_records(w, 5);
	save(w);
	crash(w);
	rotate(w, "pacct.1");
	pass(w, 3600 * NS_PER_SEC);
	write_records(w, 5);
	finish(w, 0);
}

static void nothing_was_read_yet(void **state)
{
	struct world *w = start();

	(void)state;
	save(w);
	crash(w);
	write_records(w, 10);
	rotate(w, "pacct.1");
	pack(w, "pacct.1");
	write_records(w, 2);
	finish(w, 0);
}

static void a_state_of_another_place(void **state)
{
	struct world *w = killed();

	(void)state;
	unlink(in(w, "pacct"));
	create(w, "pacct");
	accton(w, "pacct");
	w->now.real_ns -= 3600 * NS_PER_SEC;
	write_records(w, 30);
	w->now.real_ns += 3600 * NS_PER_SEC;
	restart(w);
	tick(w);
	assert_int_equal(w->n_got, 12);
	assert_int_equal(w->n_gaps, 1);
	write_records(w, 5);
	tick(w);
	assert_int_equal(w->n_got, 17);
	world_free(w);
}

static void the_path_is_missing(void **state)
{
	struct world *w = killed();

	(void)state;
	move(w, "pacct", "pacct.1");
	restart(w);
	tick(w);
	assert_int_equal(w->n_got, 19);
	write_records(w, 2);
	tick(w);
	create(w, "pacct");
	accton(w, "pacct");
	write_records(w, 2);
	tick(w);
	expect_all(w, 1);
	assert_int_equal(w->n_gaps, 0);
	world_free(w);
}

static void larger_than_memory(void **state)
{
	struct world *w = killed();

	(void)state;
	write_records(w, 30000);
	rotate(w, "pacct.1");
	write_records(w, 30000);
	finish(w, 0);
}

/* Damaged while it was packed: what is good comes, and the gap is told. */
static void a_broken_archive(void **state)
{
	struct world *w = killed();
	struct stat st;

	(void)state;
	write_records(w, 5000);
	rotate(w, "pacct.1");
	pack(w, "pacct.1");
	assert_int_equal(stat(in(w, "pacct.1.gz"), &st), 0);
	assert_int_equal(truncate(in(w, "pacct.1.gz"), st.st_size - 200), 0);
	write_records(w, 5);
	w->torn = true;
	restart(w);
	tick(w);
	assert_true(w->n_got > 100 && w->n_got < 5024);
	assert_int_equal(w->got[w->n_got - 1], w->written);
	assert_int_equal(w->n_gaps, 1);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_happened_meanwhile),
		cmocka_unit_test(renamed_meanwhile),
		cmocka_unit_test(renamed_and_the_kernel_not_told),
		cmocka_unit_test(renamed_and_packed),
		cmocka_unit_test(renamed_many_times),
		cmocka_unit_test(older_files_are_left_alone),
		cmocka_unit_test(copied_and_cut_off),
		cmocka_unit_test(copied_and_cut_off_twice_and_packed),
		cmocka_unit_test(a_backup_is_no_second_file),
		cmocka_unit_test(cut_short_and_gone),
		cmocka_unit_test(the_old_one_was_removed),
		cmocka_unit_test(the_inode_is_used_again),
		cmocka_unit_test(saved_while_the_old_one_lingers),
		cmocka_unit_test(saved_before_we_noticed),
		cmocka_unit_test(nothing_was_read_yet),
		cmocka_unit_test(a_state_of_another_place),
		cmocka_unit_test(the_path_is_missing),
		cmocka_unit_test(larger_than_memory),
		cmocka_unit_test(a_broken_archive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
