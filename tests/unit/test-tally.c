/* SPDX-License-Identifier: MIT */
/* Exits grouped and summed: what is one group, and what an amend changes. */
#include "unit/test.h"

#include "unit/tally.h"

static void sums_of_a_group(void **state)
{
	struct tally *t = by(EXEUNT_F_COMM);
	struct exeunt_record r = exit_with_cpu("make", 1, 100);
	struct tally_rows rows;

	(void)state;
	r.elapsed_us = 7;
	r.rss_peak_bytes = 4096;
	r.exit_time_ns = 20 * SECOND;
	field_set(&r, EXEUNT_F_ELAPSED);
	field_set(&r, EXEUNT_F_RSS_PEAK);
	field_set(&r, EXEUNT_F_EXIT_TIME);
	record_set_status(&r, 0x200);
	tally_take(t, &r, true);
	r.elapsed_us = 3;
	r.rss_peak_bytes = 1024;
	r.exit_time_ns = 10 * SECOND;
	record_set_status(&r, 0x8b);
	r.exit_certain = false;
	field_set(&r, EXEUNT_F_EXIT_CERTAIN);
	tally_take(t, &r, true);
	r = exit_of("make", 2); /* tells nothing */
	tally_take(t, &r, true);
	rows = rows_of(t, TALLY_BY_CPU, 0);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.groups, 1);
	assert_comm(t, &rows.rows[0], "make");
	assert_memory_equal(rows.rows[0].sums, &rows.total, sizeof(rows.total));
	assert_int_equal(rows.total.exits, 3);
	assert_int_equal(rows.total.failed, 1);
	assert_int_equal(rows.total.killed, 1);
	assert_int_equal(rows.total.core_dumped, 1);
	assert_int_equal(rows.total.uncertain, 1);
	assert_int_equal(rows.total.unknown_status, 1);
	assert_int_equal(rows.total.value[TALLY_CPU_USER], 200);
	assert_int_equal(rows.total.unknown[TALLY_CPU_USER], 1);
	assert_int_equal(rows.total.unknown[TALLY_READ_BYTES], 3);
	assert_int_equal(rows.total.value[TALLY_ELAPSED], 10);
	assert_int_equal(rows.total.elapsed_max_us, 7);
	assert_int_equal(rows.total.value[TALLY_RSS_PEAK], 4096);
	assert_int_equal(rows.total.first_ns, 10 * SECOND);
	assert_int_equal(rows.total.last_ns, 20 * SECOND);
	assert_int_equal(rows.total.timed, 2);
	tally_free(t);
}

/* Only ends of processes count. */
static void other_types_do_not_count(void **state)
{
	struct tally *t = by(EXEUNT_F_COMM);
	struct exeunt_record r = exit_of("make", 1);

	(void)state;
	for (int type = EXEUNT_TYPE_EXIT + 1; type <= EXEUNT_TYPE_INTERIM; type++) {
		r.type = (uint16_t)type;
		if (type != EXEUNT_TYPE_AMEND)
			tally_take(t, &r, true);
	}
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).n, 0);
	tally_free(t);
}

/* "ab", "c" is not "a", "bc"; absent is not empty; what is behind the NUL of a name does not count. */
static void what_is_one_group(void **state)
{
	static const struct {
		const char *comm;
		struct exeunt_bytes exe;
		bool has_exe;
	} exits[] = {
		{ "ab", TEXT("c"), true },
		{ "a", TEXT("bc"), true },
		{ "abc", TEXT(""), true },
		{ "abc", TEXT(""), false },
	};
	struct tally *t = new_tally(&(struct tally_options){
		.fields = { EXEUNT_F_COMM, EXEUNT_F_EXE_PATH }, .n_fields = 2 });
	struct exeunt_record r;

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(exits); i++) {
		r = exit_of(exits[i / 2].comm, 1);
		r.comm[18] = (char)i;
		r.exe_path = exits[i / 2].exe;
		if (exits[i / 2].has_exe)
			field_set(&r, EXEUNT_F_EXE_PATH);
		tally_take(t, &r, true);
	}
	assert_int_equal(rows_of(t, TALLY_BY_NAME, 0).n, ARRAY_SIZE(exits));
	tally_free(t);
}

/* Every field that can be grouped by comes back as it was; those that are summed cannot. */
static void every_field(void **state)
{
	static const struct exeunt_bytes args[] = { { "make", 4 }, { "", 0 }, { "-j", 2 } };

	(void)state;
	for (unsigned int field = 0; field < EXEUNT_F_COUNT; field++) {
		struct exeunt_record r, back;
		struct tally *t = NULL;
		struct tally_options o = { .fields = { (uint8_t)field }, .n_fields = 1 };
		struct tally_rows rows;
		const struct exeunt_bytes *b;

		if (!tally_can_group(field)) {
			assert_int_equal(tally_new(&t, &o), -EINVAL);
			continue;
		}
		memset(&r, 1, sizeof(r));
		memset(r.present, 0, sizeof(r.present));
		memset(r.comm, 0, sizeof(r.comm));
		memset(r.thread_name, 0, sizeof(r.thread_name));
		strcpy(r.comm, "a name");
		strcpy(r.thread_name, "b");
		if (field_table[field].kind == FIELD_BYTES)
			memcpy((char *)&r + field_table[field].offset, args, sizeof(*args));
		r.args = args;
		r.n_args = 3;
		r.type = EXEUNT_TYPE_EXIT;
		field_set(&r, field);
		t = new_tally(&o);
		tally_take(t, &r, true);
		rows = rows_of(t, TALLY_BY_NAME, 0);
		assert_int_equal(rows.n, 1);
		tally_group_record(t, rows.rows[0].group, &back);
		assert_memory_equal(back.present, r.present, sizeof(r.present));
		b = field_ptr(&back, field);
		if (field_table[field].kind == FIELD_BYTES) {
			assert_int_equal(b->len, 4);
			assert_memory_equal(b->data, "make", 4);
		} else if (field == EXEUNT_F_ARGS) {
			assert_int_equal(back.n_args, 3);
			for (int i = 0; i < 3; i++) {
				assert_int_equal(back.args[i].len, args[i].len);
				assert_memory_equal(back.args[i].data, args[i].data, args[i].len);
			}
		} else if (field_table[field].kind == FIELD_COMM) {
			assert_string_equal((const char *)b, field_ptr(&r, field));
		} else if (field_table[field].kind == FIELD_BOOL) {
			assert_memory_equal(b, field_ptr(&r, field), 1);
		} else {
			assert_memory_equal(b, field_ptr(&r, field), 4);
		}
		tally_free(t);
	}
}

/* The exit is counted once, with what was known in the end. */
static void amended(void **state)
{
	struct tally *t = by(EXEUNT_F_COMM);
	struct exeunt_record r = exit_with_cpu("thread", 7, 100);
	struct tally_rows rows;

	(void)state;
	record_set_status(&r, 0x100);
	tally_take(t, &r, true);
	r = exit_with_cpu("leader", 7, 150);
	record_set_status(&r, 9);
	r.type = EXEUNT_TYPE_AMEND;
	tally_take(t, &r, true);
	rows = rows_of(t, TALLY_BY_CPU, 0);
	assert_int_equal(rows.n, 1);
	assert_comm(t, &rows.rows[0], "leader");
	assert_int_equal(rows.total.exits, 1);
	assert_int_equal(rows.total.failed, 0);
	assert_int_equal(rows.total.killed, 1);
	assert_int_equal(rows.total.value[TALLY_CPU_USER], 150);
	assert_int_equal(rows.lost_amends, 0);
	tally_free(t);
}

/* A filter may judge an amend otherwise than its exit. */
static void amended_beside_a_filter(void **state)
{
	struct tally *t = by(EXEUNT_F_COMM);
	struct exeunt_record r = exit_of("a", 1);

	(void)state;
	tally_take(t, &r, true);
	r = exit_of("b", 2);
	tally_take(t, &r, false);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).total.exits, 1);
	r.type = EXEUNT_TYPE_AMEND;
	tally_take(t, &r, true);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).total.exits, 2);
	r = exit_of("a", 1);
	r.type = EXEUNT_TYPE_AMEND;
	tally_take(t, &r, false);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).total.exits, 1);
	assert_comm(t, &rows_of(t, TALLY_BY_CPU, 0).rows[0], "b");
	tally_free(t);
}

/* What is not remembered any more is told. */
static void amended_too_late(void **state)
{
	struct tally *t = by(EXEUNT_F_COMM);
	struct exeunt_record first = exit_of("a", 5);

	(void)state;
	tally_take(t, &first, true);
	for (int32_t pid = 6; pid < 100000; pid++) {
		struct exeunt_record r = exit_of("b", pid);

		tally_take(t, &r, true);
	}
	first.type = EXEUNT_TYPE_AMEND;
	tally_take(t, &first, true);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).lost_amends, 1);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).total.exits, 99995);
	/* the same pid, another process */
	first = exit_of("c", 99999);
	first.entity_start_ns++;
	first.type = EXEUNT_TYPE_AMEND;
	tally_take(t, &first, true);
	assert_int_equal(rows_of(t, TALLY_BY_CPU, 0).lost_amends, 2);
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_a_group),   cmocka_unit_test(other_types_do_not_count),
		cmocka_unit_test(what_is_one_group), cmocka_unit_test(every_field),
		cmocka_unit_test(amended),	     cmocka_unit_test(amended_beside_a_filter),
		cmocka_unit_test(amended_too_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
