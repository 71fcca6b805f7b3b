/* SPDX-License-Identifier: MIT */
/* What `exeunt top` knows: sums, windows that fade, bounds, amends. */
#include "unit/test.h"

#include "record/fields.h"
#include "record/filter.h"
#include "record/status.h"
#include "view/top-table.h"

#define SECOND NS_PER_SEC
#define BEGIN (1000 * SECOND)

static struct exeunt_record exit_of(const char *comm, int32_t pid, uint64_t cpu_us)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_EXIT,
				   .pid = pid,
				   .parent_pid = pid / 10,
				   .entity_start_ns = 1,
				   .cpu_user_us = cpu_us };

	snprintf(r.comm, sizeof(r.comm), "%s", comm);
	field_set(&r, EXEUNT_F_COMM);
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_PARENT_PID);
	field_set(&r, EXEUNT_F_ENTITY_ID);
	field_set(&r, EXEUNT_F_CPU_USER);
	record_set_status(&r, 0);
	return r;
}

static struct top_model *model(uint32_t most)
{
	struct top_model *m;

	assert_int_equal(top_model_new(&m, most), 0);
	top_model_advance(m, BEGIN);
	return m;
}

static void take(struct top_model *m, const char *comm, int32_t pid, uint64_t cpu_us, int64_t ns)
{
	struct exeunt_record r = exit_of(comm, pid, cpu_us);

	top_model_take(m, &r, ns, true);
}

static struct top_table table(struct top_model *m, enum top_by by, enum top_window window)
{
	const struct top_choice c = { .by = by, .window = window, .sort = TOP_COLUMN_CPU };
	struct top_table t = { 0 };

	assert_int_equal(top_table_make(&t, m, &c), 0);
	return t;
}

static void assert_name(const struct top_row *row, const char *name)
{
	assert_true(row->known);
	assert_int_equal(row->part.len, strlen(name));
	assert_memory_equal(row->part.data, name, row->part.len);
}

static void one_grouping_after_another(void **state)
{
	struct top_model *m = model(0);
	struct exeunt_record r = exit_of("sh", 21, 5);
	struct top_table t;

	(void)state;
	take(m, "make", 10, 100, BEGIN);
	take(m, "make", 11, 50, BEGIN);
	record_set_status(&r, 0x100);
	top_model_take(m, &r, BEGIN, true);
	record_set_status(&r, 9);
	r.pid = 22;
	top_model_take(m, &r, BEGIN, true);

	t = table(m, TOP_BY_COMM, TOP_START);
	assert_int_equal(t.n, 2);
	assert_name(&t.rows[0], "make");
	assert_int_equal(t.rows[0].sums.value[TOP_CPU], 150);
	assert_name(&t.rows[1], "sh");
	assert_int_equal(t.rows[1].sums.value[TOP_FAILED], 1);
	assert_int_equal(t.rows[1].sums.value[TOP_KILLED], 1);
	assert_int_equal(t.total.value[TOP_EXITS], 4);
	assert_int_equal(t.rows[0].sums.unknown[TOP_READ], 2);
	assert_true(top_column_value(&t.rows[0].sums, TOP_COLUMN_READ) < 0);
	top_table_sort(&t, TOP_COLUMN_FAILED, false);
	assert_name(&t.rows[0], "sh");
	top_table_sort(&t, TOP_COLUMN_NAME, false);
	assert_name(&t.rows[0], "make");
	top_table_clear(&t);

	t = table(m, TOP_BY_PARENT, TOP_START);
	assert_int_equal(t.n, 2);
	assert_int_equal(load_u32(t.rows[0].part.data), 1);
	top_table_clear(&t);
	t = table(m, TOP_BY_STATUS, TOP_START);
	assert_int_equal(t.n, 3);
	top_table_clear(&t);
	t = table(m, TOP_BY_USER, TOP_START);
	assert_int_equal(t.n, 1);
	assert_false(t.rows[0].known);
	assert_int_equal(t.rows[0].sums.value[TOP_EXITS], 4);
	top_table_clear(&t);
	top_model_free(m);
}

/* What was counted is worth 1/e after the time of the window, and nothing of it is lost since the start. */
static void windows_fade(void **state)
{
	struct top_model *m = model(0);
	struct top_sums s;

	(void)state;
	for (int i = 0; i < 1000; i++)
		take(m, "a", i, 1000, BEGIN);
	top_model_total(m, TOP_10S, &s);
	assert_int_equal(s.value[TOP_EXITS], 1000);
	top_model_advance(m, BEGIN + 10 * SECOND);
	top_model_total(m, TOP_10S, &s);
	assert_in_range(s.value[TOP_EXITS], 367, 368);
	top_model_total(m, TOP_1M, &s);
	assert_in_range(s.value[TOP_EXITS], 846, 847);
	top_model_total(m, TOP_START, &s);
	assert_int_equal(s.value[TOP_EXITS], 1000);
	assert_int_equal(s.value[TOP_CPU], 1000000);
	top_model_advance(m, BEGIN + 200 * SECOND);
	top_model_total(m, TOP_10S, &s);
	assert_int_equal(s.value[TOP_EXITS], 0);
	top_model_free(m);
}

/* Exits that come evenly have the same rate in every window, from the beginning on. */
static void rates_agree(void **state)
{
	struct top_model *m = model(0);
	int pid = 0;

	(void)state;
	for (int64_t ns = BEGIN; ns < BEGIN + 40 * SECOND; ns += SECOND / 50)
		take(m, "a", pid++, 1, ns);
	top_model_advance(m, BEGIN + 40 * SECOND);
	for (int w = 0; w < TOP_WINDOWS; w++) {
		struct top_sums s;
		double rate;

		top_model_total(m, w, &s);
		rate = s.value[TOP_EXITS] / top_window_seconds(m, w);
		assert_true(rate > 49.5 && rate < 50.5);
	}
	assert_int_equal(top_model_history(m, 1), 50);
	assert_int_equal(top_model_history(m, 40), 50);
	assert_int_equal(top_model_history(m, 41), 0);
	top_model_free(m);
}

static void longest_goes_with_its_window(void **state)
{
	struct top_model *m = model(0);
	struct exeunt_record r = exit_of("a", 1, 1);
	struct top_sums s;

	(void)state;
	r.elapsed_us = 5000;
	field_set(&r, EXEUNT_F_ELAPSED);
	top_model_take(m, &r, BEGIN, true);
	top_model_advance(m, BEGIN + 9 * SECOND);
	top_model_total(m, TOP_10S, &s);
	assert_int_equal(s.max[TOP_LONGEST], 5000);
	top_model_advance(m, BEGIN + 21 * SECOND);
	top_model_total(m, TOP_10S, &s);
	assert_int_equal(s.max[TOP_LONGEST], 0);
	top_model_total(m, TOP_START, &s);
	assert_int_equal(s.max[TOP_LONGEST], 5000);
	top_model_free(m);
}

/* The heavy ones stay, and what is given up is counted with the others. */
static void bounded(void **state)
{
	struct top_model *m = model(64);
	struct top_table t;
	char name[16];
	int pid = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		take(m, name, pid++, 1, BEGIN);
		take(m, "heavy", pid++, 1000, BEGIN);
	}
	t = table(m, TOP_BY_COMM, TOP_START);
	assert_true(t.n <= 65);
	assert_name(&t.rows[0], "heavy");
	assert_int_equal(t.rows[0].sums.value[TOP_EXITS], 1000);
	assert_true(t.rows[t.n - 1].others);
	assert_int_equal(t.rows[t.n - 1].sums.value[TOP_EXITS], t.given_up);
	assert_int_equal(t.total.value[TOP_EXITS], 2000);
	assert_int_equal(t.total.value[TOP_CPU], 1001000);
	top_table_clear(&t);
	top_model_free(m);
}

static void amends_count_once(void **state)
{
	struct top_model *m = model(0);
	struct exeunt_record r = exit_of("a", 1, 10);
	struct top_table t;

	(void)state;
	top_model_take(m, &r, BEGIN, true);
	take(m, "a", 2, 7, BEGIN);
	r.type = EXEUNT_TYPE_AMEND;
	r.cpu_user_us = 30;
	snprintf(r.comm, sizeof(r.comm), "b");
	top_model_take(m, &r, BEGIN + 5 * SECOND, true);
	t = table(m, TOP_BY_COMM, TOP_START);
	assert_int_equal(t.n, 2);
	assert_name(&t.rows[0], "b");
	assert_int_equal(t.rows[0].sums.value[TOP_CPU], 30);
	assert_int_equal(t.rows[1].sums.value[TOP_CPU], 7);
	assert_int_equal(t.rows[1].sums.value[TOP_EXITS], 1);
	assert_int_equal(t.total.value[TOP_EXITS], 2);
	top_table_clear(&t);
	assert_int_equal(top_model_lost_amends(m), 0);
	r.pid = 77;
	top_model_take(m, &r, BEGIN, true);
	assert_int_equal(top_model_lost_amends(m), 1);
	top_model_free(m);
}

/* One that ends all the time leaves the exits of the others where they are; texts are copies. */
static void latest_exits(void **state)
{
	struct top_model *m = model(0);
	struct exeunt_record r = exit_of("rare", 1, 10);
	char path[] = "/bin/rare";
	struct exeunt_bytes args[2] = { { path, 9 }, { "x", 1 } };
	const struct top_exit *e;
	int n = 0, rare = 0;

	(void)state;
	r.exe_path = args[0];
	r.args = args;
	r.n_args = 2;
	field_set(&r, EXEUNT_F_EXE_PATH);
	field_set(&r, EXEUNT_F_ARGS);
	top_model_take(m, &r, BEGIN, true);
	memset(path, '?', sizeof(path) - 1);
	for (int i = 0; i < 10000; i++)
		take(m, "often", 100 + i, 1, BEGIN);
	for (e = top_model_latest(m); e; e = e->older) {
		n++;
		if (strcmp(e->record.comm, "rare"))
			continue;
		rare++;
		assert_memory_equal(e->record.exe_path.data, "/bin/rare", 9);
		assert_memory_equal(e->record.args[1].data, "x", 1);
	}
	assert_int_equal(n, TOP_EXITS_OF_GROUP + 1);
	assert_int_equal(rare, 1);
	assert_int_equal(top_model_latest(m)->record.pid, 10099);
	top_model_hold(m, true);
	take(m, "often", 7, 1, BEGIN);
	assert_int_equal(top_model_latest(m)->record.pid, 10099);
	top_model_free(m);
}

static void filtered_by_what_is_grouped(void **state)
{
	struct top_model *m = model(0);
	struct top_choice c = { .by = TOP_BY_COMM, .window = TOP_START, .sort = TOP_COLUMN_CPU };
	struct top_table t = { 0 };
	struct exeunt_record r = exit_of("sh", 5, 5);
	struct filter *f;
	char error[FILTER_ERROR_SIZE];

	(void)state;
	take(m, "sh", 1, 1, BEGIN);
	take(m, "make", 2, 1, BEGIN);
	record_set_status(&r, 0x100);
	top_model_take(m, &r, BEGIN, true);
	assert_int_equal(filter_new(&f, "comm == 'sh' and code != 0", error, sizeof(error)), 0);
	c.filter = f;
	assert_int_equal(top_table_make(&t, m, &c), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.rows[0].sums.value[TOP_EXITS], 1);
	assert_int_equal(t.rows[0].sums.value[TOP_CPU], 5);
	top_table_clear(&t);
	filter_free(f);
	top_model_free(m);
}

static void losses(void **state)
{
	struct top_model *m = model(0);
	struct exeunt_loss l = { .source = EXEUNT_SOURCE_TASKSTATS, .count = 5, .exact = true };
	struct exeunt_record r = { .type = EXEUNT_TYPE_LOSS, .loss = &l };
	bool exact;

	(void)state;
	assert_int_equal(top_model_lost(m, &exact), 0);
	assert_true(exact);
	top_model_take(m, &r, BEGIN, true);
	l.backfilled = 2;
	top_model_take(m, &r, BEGIN, true);
	assert_int_equal(top_model_lost(m, &exact), 8);
	assert_true(exact);
	l.exact = false;
	l.cause = EXEUNT_LOSS_BACKLOG;
	top_model_take(m, &r, BEGIN, true);
	assert_int_equal(top_model_lost(m, &exact), 11);
	assert_false(exact);
	top_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_grouping_after_another),
		cmocka_unit_test(windows_fade),
		cmocka_unit_test(rates_agree),
		cmocka_unit_test(longest_goes_with_its_window),
		cmocka_unit_test(bounded),
		cmocka_unit_test(amends_count_once),
		cmocka_unit_test(latest_exits),
		cmocka_unit_test(filtered_by_what_is_grouped),
		cmocka_unit_test(losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
