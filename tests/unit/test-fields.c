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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_no_hole_and_no_double),
		cmocka_unit_test(names_that_people_type),
		cmocka_unit_test(presence_bits_are_per_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
