/* SPDX-License-Identifier: MIT */
/* Keys of `exeunt top`, and choices as text. */
#include "unit/test.h"

#include "view/top-view.h"

static enum top_action press(struct top_view *v, int key)
{
	static const struct top_table none;

	return top_view_press(v, key, &none, NULL);
}

static void type(struct top_view *v, const char *text)
{
	for (; *text; text++)
		press(v, *text);
}

static void groups_windows_columns(void **state)
{
	struct top_view v;

	(void)state;
	top_view_init(&v);
	assert_int_equal(press(&v, '3'), TOP_ACTION_TABLE);
	assert_int_equal(v.by, TOP_BY_USER);
	press(&v, 'G');
	press(&v, 'G');
	assert_int_equal(v.by, TOP_BY_COMM);
	press(&v, 'G');
	assert_int_equal(v.by, TOP_BY_STATUS);
	press(&v, '\t');
	assert_int_equal(v.by, TOP_BY_COMM);
	assert_int_equal(press(&v, '9'), TOP_ACTION_NONE);
	assert_int_equal(press(&v, '>'), TOP_ACTION_SORT);
	assert_int_equal(v.sort, TOP_COLUMN_SHARE);
	press(&v, 'E');
	press(&v, TOP_PRESS_LEFT);
	assert_int_equal(v.sort, TOP_COLUMN_NAME);
	press(&v, 'R');
	assert_true(v.reverse);
	assert_int_equal(press(&v, 'w'), TOP_ACTION_TABLE);
	assert_int_equal(v.window, TOP_5M);
	assert_int_equal(press(&v, 'q'), TOP_ACTION_QUIT);
}

static void filter_as_typed(void **state)
{
	struct top_view v;

	(void)state;
	top_view_init(&v);
	press(&v, '/');
	assert_int_equal(press(&v, 'q'), TOP_ACTION_FILTER);
	assert_string_equal(v.input_text, "q");
	press(&v, 0xe9);
	assert_string_equal(v.input_text, "q\xc3\xa9");
	press(&v, TOP_PRESS_BACKSPACE);
	assert_string_equal(v.input_text, "q");
	assert_string_equal(v.filter, "");
	assert_int_equal(press(&v, TOP_PRESS_ENTER), TOP_ACTION_FILTER);
	assert_string_equal(v.filter, "q");
	press(&v, 'f');
	type(&v, "x");
	press(&v, TOP_PRESS_ESCAPE);
	assert_string_equal(v.filter, "q");
	press(&v, '/');
	for (int i = 0; i < 2 * TOP_TEXT_MOST; i++)
		press(&v, 0x20ac);
	assert_true(strlen(v.input_text) < TOP_TEXT_MOST);
	assert_int_equal(v.input, TOP_INPUT_FILTER);
}

static void delay_is_checked(void **state)
{
	struct top_view v;

	(void)state;
	top_view_init(&v);
	press(&v, 'd');
	type(&v, "2.5");
	press(&v, TOP_PRESS_ENTER);
	assert_int_equal(v.delay_ns, 2500 * NS_PER_MSEC);
	press(&v, 'd');
	type(&v, "nan");
	press(&v, TOP_PRESS_ENTER);
	assert_int_equal(v.delay_ns, 2500 * NS_PER_MSEC);
	assert_string_not_equal(v.note, "");
}

static void into_a_group_and_back(void **state)
{
	static uint8_t key[] = { 1, 0, 'a', 0xff, 0xff };
	struct top_row rows[2] = {
		{ .known = true, .part = { (const char *)key + 2, 1 }, .key = key, .key_len = 5 },
		{ .others = true },
	};
	const struct top_table t = { .rows = rows, .n = 2 };
	const uint64_t ids[] = { 7, 5 };
	struct top_view v;

	(void)state;
	top_view_init(&v);
	v.page_rows = 10;
	top_view_press(&v, TOP_PRESS_DOWN, &t, NULL);
	top_view_press(&v, TOP_PRESS_DOWN, &t, NULL);
	assert_int_equal(v.cursor, 1);
	top_view_press(&v, TOP_PRESS_ENTER, &t, NULL);
	assert_int_equal(v.page, TOP_PAGE_TABLE); /* the others are no group */
	top_view_press(&v, TOP_PRESS_HOME, &t, NULL);
	top_view_press(&v, TOP_PRESS_ENTER, &t, NULL);
	assert_int_equal(v.page, TOP_PAGE_GROUP);
	assert_memory_equal(v.part, "a", 1);
	v.inner_n = 2; /* drawn */
	top_view_press(&v, TOP_PRESS_END, &t, ids);
	assert_false(top_view_holds(&v));
	top_view_press(&v, TOP_PRESS_ENTER, &t, ids);
	assert_int_equal(v.page, TOP_PAGE_EXIT);
	assert_int_equal(v.exit_id, 5);
	assert_true(top_view_holds(&v));
	press(&v, '?');
	assert_int_equal(v.page, TOP_PAGE_HELP);
	assert_true(top_view_holds(&v));
	press(&v, 'x');
	assert_int_equal(v.page, TOP_PAGE_EXIT);
	press(&v, TOP_PRESS_ESCAPE);
	press(&v, TOP_PRESS_ESCAPE);
	assert_int_equal(v.page, TOP_PAGE_TABLE);
	press(&v, ' ');
	assert_true(top_view_holds(&v));
	assert_int_equal(press(&v, ' '), TOP_ACTION_TABLE);
}

static void written_and_read(void **state)
{
	struct top_view v, w;
	char text[4096];

	(void)state;
	top_view_init(&v);
	v.by = TOP_BY_UNIT;
	v.sort = TOP_COLUMN_LONGEST;
	v.window = TOP_START;
	v.reverse = true;
	v.latest = false;
	v.delay_ns = 500 * NS_PER_MSEC;
	strcpy(v.filter, "comm == 'a=b'");
	assert_true(top_view_write(&v, text, sizeof(text)) < (int)sizeof(text));
	top_view_init(&w);
	assert_int_equal(top_view_read(&w, text), 0);
	assert_memory_equal(&v, &w, sizeof(v));
	strcpy(text, "\n# x\nby = nothing\n");
	assert_int_equal(top_view_read(&w, text), 3);
	strcpy(text, "by");
	assert_int_equal(top_view_read(&w, text), 1);
	for (int i = 0; i < TOP_BYS; i++)
		assert_int_equal(top_view_set(&w, "by", top_by_word(i)), 0);
	for (int i = 0; i < TOP_COLUMNS; i++)
		assert_int_equal(top_view_set(&w, "sort", top_column_word(i)), 0);
	for (int i = 0; i < TOP_WINDOWS; i++)
		assert_int_equal(top_view_set(&w, "window", top_window_word(i)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_windows_columns), cmocka_unit_test(filter_as_typed),
		cmocka_unit_test(delay_is_checked),	  cmocka_unit_test(into_a_group_and_back),
		cmocka_unit_test(written_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
