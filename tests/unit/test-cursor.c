/* SPDX-License-Identifier: MIT */
/* How far a store was read: remembered whole, or not at all. */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/util.h"
#include "store/cursor.h"

static char dir[] = "/tmp/test-cursor.XXXXXX";

static void put(const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cursor-a", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void what_is_written_is_read(void **state)
{
	int64_t id = 7;

	(void)state;
	assert_int_equal(store_cursor_read(dir, "a", &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(store_cursor_write(dir, "a", 1), 0);
	assert_int_equal(store_cursor_write(dir, "a", INT64_MAX), 0);
	assert_int_equal(store_cursor_write(dir, "b", 2), 0);
	assert_int_equal(store_cursor_read(dir, "a", &id), 0);
	assert_true(id == INT64_MAX);
	assert_int_equal(store_cursor_read(dir, "b", &id), 0);
	assert_int_equal(id, 2);
}

static void what_is_damaged_is_told(void **state)
{
	static const char *const wrong[] = { "",     "\n",   "12",
					     "x\n",  "-5\n", "99999999999999999999\n",
					     "12 \n" };
	int64_t id;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		put(wrong[i]);
		assert_int_equal(store_cursor_read(dir, "a", &id), -EBADMSG);
	}
	put("12\n");
	assert_int_equal(store_cursor_read(dir, "a", &id), 0);
	assert_int_equal(id, 12);
}

static void what_cannot_be_written_leaves_the_old_one(void **state)
{
	char begun[64];
	int64_t id;

	(void)state;
	put("12\n");
	snprintf(begun, sizeof(begun), "%s/cursor-a.new", dir);
	assert_int_equal(mkdir(begun, 0700), 0); /* in the way, also of root */
	assert_true(store_cursor_write(dir, "a", 13) < 0);
	assert_int_equal(rmdir(begun), 0);
	assert_int_equal(store_cursor_read(dir, "a", &id), 0);
	assert_int_equal(id, 12);
	assert_true(store_cursor_write("/nowhere/at/all", "a", 13) < 0);
}

static void names(void **state)
{
	static const char *const wrong[] = {
		"",	    ".",
		".a",	    "a/b",
		"a b",	    "a\n",
		"\xc3\xa9", "0123456789012345678901234567890123456789012345678901234567890123456789"
	};

	(void)state;
	assert_true(store_cursor_is_name("report"));
	assert_true(store_cursor_is_name("a.b-c_9"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(store_cursor_is_name(wrong[i]));
}

static int clean(void **state)
{
	static const char *const files[] = { "cursor-a", "cursor-b" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static int make(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_damaged_is_told),
		cmocka_unit_test(what_cannot_be_written_leaves_the_old_one),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
