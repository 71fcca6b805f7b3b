/* SPDX-License-Identifier: MIT */
/* The field table: no holes, no double names, and names that people type find their field. */
#include "unit/test.h"

#include "record/fields.h"

#include <errno.h>
#include <string.h>

static int find(const char *name)
{
	return field_find(name, strlen(name));
}

static void table_has_no_hole_and_no_double(void **state)
{
	(void)state;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		assert_non_null(field_table[i].path);
		assert_true(field_table[i].offset > 0);
		assert_int_equal(find(field_table[i].path), i);
		if (field_table[i].alias)
			assert_int_equal(find(field_table[i].alias), i);
	}
}

static void names_that_people_type(void **state)
{
	(void)state;
	assert_int_equal(find("exit.code"), EXEUNT_F_EXIT_CODE);
	assert_int_equal(find("signal"), EXEUNT_F_EXIT_SIGNAL);
	assert_int_equal(find("user"), EXEUNT_F_USER);
	assert_int_equal(find("user.id"), -ENOTUNIQ == find("id") ? EXEUNT_F_UID : -1);
	assert_int_equal(find("elapsed"), EXEUNT_F_ELAPSED);
	assert_int_equal(find("no.such"), -ENOENT);
	assert_int_equal(find(""), -ENOENT);
}

static void presence_bits_are_per_field(void **state)
{
	struct exeunt_record r = { 0 };

	(void)state;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		assert_false(exeunt_has(&r, i));
		field_set(&r, i);
		assert_true(exeunt_has(&r, i));
	}
	field_clear(&r, EXEUNT_F_EXIT_CODE);
	assert_false(exeunt_has(&r, EXEUNT_F_EXIT_CODE));
	assert_true(exeunt_has(&r, EXEUNT_F_EXIT_SIGNAL));
}

static uint64_t mask[EXEUNT_PRESENT_WORDS];
static const char *bad;
static size_t bad_len;

static int parse_list(const char *list)
{
	return field_parse_list(list, mask, &bad, &bad_len);
}

static unsigned int n_fields(void)
{
	unsigned int n = 0;

	for (int i = 0; i < EXEUNT_PRESENT_WORDS; i++)
		n += (unsigned int)__builtin_popcountll(mask[i]);
	return n;
}

static bool in_list(int field)
{
	return mask[field / 64] >> (field % 64) & 1;
}

static void lists_of_names(void **state)
{
	(void)state;
	assert_int_equal(parse_list("pid"), 0);
	assert_int_equal(n_fields(), 1);
	assert_true(in_list(EXEUNT_F_PID));
	assert_int_equal(parse_list(" ,pid,, process.exit.code\telapsed , "), 0);
	assert_int_equal(n_fields(), 3);
	assert_true(in_list(EXEUNT_F_EXIT_CODE) && in_list(EXEUNT_F_ELAPSED));
	assert_int_equal(parse_list("pid,pid"), 0);
	assert_int_equal(n_fields(), 1);
}

/* A group is all fields below it and no others, named in full or without its first word. */
static void lists_of_groups(void **state)
{
	unsigned int n;

	(void)state;
	assert_int_equal(parse_list("process.exit"), 0);
	n = n_fields();
	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		assert_int_equal(in_list(i), !strncmp(field_table[i].path, "process.exit.", 13));
	assert_int_equal(parse_list("exit"), 0);
	assert_int_equal(n_fields(), n);
	assert_true(n > 3);
	assert_int_equal(parse_list("usage.cpu"), 0);
	assert_true(n_fields() > 1);
	assert_int_equal(parse_list("audit,usage"), 0);
	assert_true(in_list(EXEUNT_F_SESSION) && in_list(EXEUNT_F_ELAPSED));
}

static void lists_that_are_none(void **state)
{
	(void)state;
	assert_int_equal(parse_list("pid, nonsense,comm"), -EINVAL);
	assert_int_equal(bad_len, 8);
	assert_memory_equal(bad, "nonsense", bad_len);
	assert_int_equal(parse_list("exit."), -EINVAL);
	assert_int_equal(parse_list("."), -EINVAL);
	assert_int_equal(parse_list("exi"), -EINVAL);
	/* no field at all would be records that tell nothing */
	assert_int_equal(parse_list(""), -EINVAL);
	assert_int_equal(bad_len, 0);
	assert_int_equal(parse_list(" , ,"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_no_hole_and_no_double),
		cmocka_unit_test(names_that_people_type),
		cmocka_unit_test(presence_bits_are_per_field),
		cmocka_unit_test(lists_of_names),
		cmocka_unit_test(lists_of_groups),
		cmocka_unit_test(lists_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
