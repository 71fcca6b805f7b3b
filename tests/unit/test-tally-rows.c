/* SPDX-License-Identifier: MIT */
/* The rows of a tally: what the bounds do, and in which order they come. */
#include "unit/test.h"

#include "unit/tally.h"

static void many_groups(void **state)
{
	struct tally *t = by(EXEUNT_F_PID);
	struct tally_rows rows;

	(void)state;
	for (int round = 1; round <= 3; round++) {
		for (int32_t pid = 0; pid < 50000; pid++) {
			struct exeunt_record r = exit_with_cpu("x", pid, (uint64_t)(pid * round));

			tally_take(t, &r, true);
		}
	}
	rows = rows_of(t, TALLY_BY_NAME, 0);
	assert_int_equal(rows.n, 50000);
	for (int32_t pid = 0; pid < 50000; pid++) {
		struct exeunt_record r;

		tally_group_record(t, rows.rows[pid].group, &r);
		assert_int_equal(r.pid, pid);
		assert_int_equal(rows.rows[pid].sums->exits, 3);
		assert_int_equal(rows.rows[pid].sums->value[TALLY_CPU_USER], pid * 6);
	}
	tally_free(t);
}

static void bounded(void **state)
{
	struct tally *t = new_tally(&(struct tally_options){
		.fields = { EXEUNT_F_PID }, .n_fields = 1, .most_groups = 10 });
	struct tally_rows rows;

	(void)state;
	for (int32_t pid = 0; pid < 35; pid++) {
		struct exeunt_record r = exit_with_cpu("x", pid, 1);

		tally_take(t, &r, true);
		r = exit_with_cpu("x", pid % 10, 1);
		tally_take(t, &r, true);
	}
	rows = rows_of(t, TALLY_BY_CPU, 0);
	assert_int_equal(rows.n, 11);
	assert_null(rows.rows[10].group);
	assert_int_equal(rows.rows[10].groups, 0); /* nobody knows */
	assert_int_equal(rows.rows[10].sums->exits, 25);
	assert_int_equal(rows.total.exits, 70);
	assert_int_equal(rows.total.value[TALLY_CPU_USER], 70);
	/* both kinds of others */
	rows = rows_of(t, TALLY_BY_CPU, 4);
	assert_int_equal(rows.n, 6);
	assert_int_equal(rows.rows[4].groups, 6);
	assert_int_equal(rows.total.exits, 70);
	tally_free(t);
}

/* A key of any length, or none; too long is an other. */
static void long_keys(void **state)
{
	struct tally *t = by(EXEUNT_F_EXE_PATH);
	struct exeunt_record r = exit_of("x", 1);
	static char path[200000];
	struct tally_rows rows;

	(void)state;
	field_set(&r, EXEUNT_F_EXE_PATH);
	for (uint32_t len = 0; len < 300; len++) {
		r.exe_path = (struct exeunt_bytes){ path, len };
		tally_take(t, &r, true);
	}
	for (uint32_t len = 60000; len < sizeof(path); len += 20000) {
		r.exe_path = (struct exeunt_bytes){ path, len };
		tally_take(t, &r, true);
	}
	rows = rows_of(t, TALLY_BY_NAME, 0);
	assert_int_equal(rows.n, 302);
	assert_int_equal(rows.rows[301].sums->exits, 6);
	assert_null(rows.rows[301].group);
	tally_free(t);
}

static void orders(void **state)
{
	static const struct {
		enum tally_sort sort;
		const char *first, *last;
	} cases[] = {
		{ TALLY_BY_CPU, "c", "a" },	{ TALLY_BY_EXITS, "a", "c" },
		{ TALLY_BY_ELAPSED, "b", "a" }, { TALLY_BY_FAILED, "b", "c" },
		{ TALLY_BY_NAME, "a", "c" },
	};
	struct tally *t = by(EXEUNT_F_COMM);
	struct exeunt_record r;

	(void)state;
	for (int i = 0; i < 3; i++) {
		r = exit_with_cpu("a", i, 1);
		record_set_status(&r, i ? 0 : 0x100);
		tally_take(t, &r, true);
	}
	for (int i = 0; i < 2; i++) {
		r = exit_with_cpu("b", i, 2);
		r.elapsed_us = 10;
		field_set(&r, EXEUNT_F_ELAPSED);
		record_set_status(&r, i ? 9 : 0x100);
		tally_take(t, &r, true);
	}
	r = exit_with_cpu("c", 1, 5);
	tally_take(t, &r, true);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tally_rows rows = rows_of(t, cases[i].sort, 0);

		assert_int_equal(rows.n, 3);
		assert_comm(t, &rows.rows[0], cases[i].first);
		assert_comm(t, &rows.rows[2], cases[i].last);
	}
	tally_free(t);
}

/* Numbers by their value and sign; what is not known is last. */
static void order_of_numbers(void **state)
{
	static const int32_t nice[] = { 19, -20, 0, -1, 5 };
	static const int32_t want[] = { -20, -1, 0, 5, 19 };
	struct tally *t = by(EXEUNT_F_NICE);
	struct exeunt_record r = exit_of("x", 1);
	struct tally_rows rows;

	(void)state;
	tally_take(t, &r, true);
	field_set(&r, EXEUNT_F_NICE);
	for (size_t i = 0; i < ARRAY_SIZE(nice); i++) {
		r.nice = nice[i];
		tally_take(t, &r, true);
	}
	rows = rows_of(t, TALLY_BY_NAME, 0);
	assert_int_equal(rows.n, 6);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		tally_group_record(t, rows.rows[i].group, &r);
		assert_int_equal(r.nice, want[i]);
	}
	tally_group_record(t, rows.rows[5].group, &r);
	assert_false(exeunt_has(&r, EXEUNT_F_NICE));
	tally_free(t);
}

static void at(struct tally *t, const char *comm, int64_t ns)
{
	struct exeunt_record r = exit_of(comm, 1);

	r.exit_time_ns = ns;
	field_set(&r, EXEUNT_F_EXIT_TIME);
	tally_take(t, &r, true);
}

static void intervals(void **state)
{
	static const int64_t starts[] = { -60 * SECOND, 0, 0, 60 * SECOND };
	struct tally *t = new_tally(&(struct tally_options){
		.fields = { EXEUNT_F_COMM }, .n_fields = 1, .interval_ns = 60 * SECOND });
	struct exeunt_record r = exit_of("when", 1);
	struct tally_rows rows;

	(void)state;
	at(t, "a", 119 * SECOND);
	at(t, "a", 60 * SECOND);
	at(t, "a", 60 * SECOND - 1);
	at(t, "b", 0);
	at(t, "b", -1);
	at(t, "b", -60 * SECOND);
	tally_take(t, &r, true);
	rows = rows_of(t, TALLY_BY_NAME, 0);
	assert_int_equal(rows.n, 5);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		assert_true(rows.rows[i].has_interval);
		assert_int_equal(rows.rows[i].interval_start_ns, starts[i]);
	}
	assert_int_equal(rows.rows[0].sums->exits, 2);
	assert_int_equal(rows.rows[3].sums->exits, 2);
	assert_false(rows.rows[4].has_interval);
	assert_comm(t, &rows.rows[4], "when");
	/* the first of each */
	rows = rows_of(t, TALLY_BY_NAME, 1);
	assert_int_equal(rows.n, 5);
	assert_null(rows.rows[2].group);
	assert_true(rows.rows[2].has_interval);
	assert_int_equal(rows.rows[2].groups, 1);
	tally_free(t);
}

/* Sums of hostile numbers stay at the largest one. */
static void sums_do_not_wrap(void **state)
{
	struct tally *t = by(EXEUNT_F_COMM);
	struct tally_rows rows;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct exeunt_record r = exit_with_cpu(i ? "a" : "b", i, UINT64_MAX - 5);

		tally_take(t, &r, true);
	}
	rows = rows_of(t, TALLY_BY_CPU, 0);
	assert_comm(t, &rows.rows[0], "a");
	assert_true(rows.rows[0].sums->value[TALLY_CPU_USER] == UINT64_MAX);
	assert_true(rows.total.value[TALLY_CPU_USER] == UINT64_MAX);
	tally_free(t);
}

static void no_fields_is_one_group(void **state)
{
	struct tally *t = new_tally(&(struct tally_options){ 0 });
	struct exeunt_record r = exit_of("a", 1);

	(void)state;
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).n, 0);
	tally_take(t, &r, true);
	r = exit_of("b", 2);
	tally_take(t, &r, true);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 1).n, 1);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 1).rows[0].sums->exits, 2);
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_groups),	    cmocka_unit_test(bounded),
		cmocka_unit_test(long_keys),	    cmocka_unit_test(orders),
		cmocka_unit_test(order_of_numbers), cmocka_unit_test(intervals),
		cmocka_unit_test(sums_do_not_wrap), cmocka_unit_test(no_fields_is_one_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
