/* SPDX-License-Identifier: MIT */
/* Screens of `exeunt top` as text: what is on them, that they fit, and that names stay names. */
#include "unit/test.h"

#include <locale.h>

#include "record/fields.h"
#include "record/status.h"
#include "view/top-screen.h"

#define SECOND NS_PER_SEC
#define BEGIN (1700000000 * SECOND)

struct fixture {
	struct top_model *model;
	struct top_view view;
	struct top_table table;
	struct top_screen *screen;
	struct top_about about;
};

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	assert_non_null(f);
	assert_int_equal(top_model_new(&f->model, 64), 0);
	assert_int_equal(top_screen_new(&f->screen), 0);
	assert_int_equal(top_screen_size(f->screen, 80, 24, true), 0);
	top_view_init(&f->view);
	f->view.window = TOP_START;
	f->about = (struct top_about){ .host = "host", .utc = true, .real_ns = BEGIN, .cores = 2 };
	top_model_advance(f->model, BEGIN);
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	top_table_clear(&f->table);
	top_screen_free(f->screen);
	top_model_free(f->model);
	free(f);
	return 0;
}

static void take(struct fixture *f, const char *comm, int32_t pid, uint32_t status)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_EXIT,
				   .pid = pid,
				   .entity_start_ns = 1,
				   .cpu_user_us = 250000,
				   .elapsed_us = 1500000,
				   .exit_time_ns = BEGIN + SECOND };

	memcpy(r.comm, comm, strnlen(comm, 15));
	field_set(&r, EXEUNT_F_COMM);
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_ENTITY_ID);
	field_set(&r, EXEUNT_F_CPU_USER);
	field_set(&r, EXEUNT_F_ELAPSED);
	field_set(&r, EXEUNT_F_EXIT_TIME);
	record_set_status(&r, status);
	top_model_take(f->model, &r, BEGIN + SECOND, true);
}

static void draw(struct fixture *f)
{
	const struct top_choice c = { .by = f->view.by,
				      .window = f->view.window,
				      .sort = f->view.sort,
				      .reverse = f->view.reverse };

	assert_int_equal(top_table_make(&f->table, f->model, &c), 0);
	top_screen_draw(f->screen, &f->view, &f->table, f->model, &f->about, NULL);
}

static const char *line(struct fixture *f, int i)
{
	static char text[4096];
	const struct top_line *l = &f->screen->lines[i];

	assert_true(i < f->screen->n);
	snprintf(text, sizeof(text), "%.*s", (int)l->text.len, l->text.len ? l->text.data : "");
	return text;
}

static bool is_anywhere(struct fixture *f, const char *text)
{
	for (int i = 0; i < f->screen->n; i++)
		if (strstr(line(f, i), text))
			return true;
	return false;
}

static void table_and_head(void **state)
{
	struct fixture *f = *state;

	take(f, "make", 1, 0);
	take(f, "make", 2, 0x100);
	take(f, "sh", 3, 9);
	draw(f);
	assert_int_equal(f->screen->n, 24);
	assert_string_equal(line(f, 0),
			    "exeunt top  host  2023-11-14 22:13:20  watched 1 s  since start");
	assert_string_equal(line(f, 1),
			    "exits 3 3.0/s  failed 1 1.0/s  killed 1 1.0/s  CPU 37.5% of 2 cores");
	assert_string_equal(line(f, 2), "lost 0  sources none");
	assert_string_equal(
		line(f, 4),
		"   EXITS  RATE/S  FAILED  KILLED      *CPU  CPU%     MEAN    RSS COMMAND        ");
	assert_string_equal(
		line(f, 5),
		"       2     2.0       1       0     0.500  66.7    1.500      - make           ");
	assert_string_equal(line(f, 6),
			    "       1     1.0       0       1     0.250  33.3    1.500      - sh");
	assert_true(is_anywhere(f, "SIGKILL"));
	f->view.sort = TOP_COLUMN_DELAY; /* is seen now */
	f->view.by = TOP_BY_STATUS;
	draw(f);
	assert_non_null(strstr(line(f, 4), "*DELAY"));
	assert_non_null(strstr(line(f, 4), "STATUS"));
	assert_true(is_anywhere(f, " SIGKILL"));
}

static void loss_is_red(void **state)
{
	struct fixture *f = *state;
	const struct exeunt_loss l = { .count = 5, .exact = true };
	const struct exeunt_record r = { .type = EXEUNT_TYPE_LOSS, .loss = &l };

	top_model_take(f->model, &r, BEGIN, true);
	draw(f);
	assert_string_equal(line(f, 2), "LOST 5, taskstats socket_overflow 5  sources none");
	assert_int_equal(f->screen->lines[2].spans[0].style, TOP_STYLE_BAD);
	assert_int_equal(f->screen->lines[2].spans[0].from, 0);
	f->view.page = TOP_PAGE_HELP;
	draw(f);
	assert_true(is_anywhere(f, "LOST 5"));
}

static void names_stay_names(void **state)
{
	struct fixture *f = *state;

	take(f, "\x1b[2J\x07\n", 1, 0);
	take(f,
	     "\xc2\x9b"
	     "31m",
	     2, 0);
	take(f,
	     "\xe2\x80\xae"
	     "abc",
	     3, 0);
	for (int page = 0; page < 4; page++) {
		f->view.page = (enum top_page)page;
		f->view.part_known = true;
		f->view.part_len = 6;
		memcpy(f->view.part, "\x1b[2J\x07\n", 6);
		f->view.exit_id = 1;
		draw(f);
		for (int i = 0; i < f->screen->n; i++)
			for (const char *p = line(f, i); *p; p++)
				assert_false((unsigned char)*p < ' ' || *p == 0x7f ||
					     (unsigned char)*p == 0x9b);
		assert_true(page == TOP_PAGE_HELP || is_anywhere(f, "\\x1b[2J"));
	}
}

/* Whatever the size. */
static void fits(void **state)
{
	struct fixture *f = *state;
	static const int sizes[][2] = { { 80, 24 }, { 200, 60 }, { 40, 10 }, { 20, 5 }, { 1, 1 } };
	char name[16];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "name-%d-xxxx", i);
		take(f, name, i, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		top_screen_size(f->screen, sizes[i][0], sizes[i][1], true);
		for (int page = 0; page < 4; page++) {
			f->view.page = (enum top_page)page;
			f->view.cursor = 1000;
			draw(f);
			assert_int_equal(f->screen->n, sizes[i][1]);
			for (int k = 0; k < f->screen->n && sizes[i][0] >= 40; k++)
				assert_true(strlen(line(f, k)) <= (size_t)sizes[i][0]);
		}
	}
	assert_true(f->table.given_up > 0);
	top_screen_size(f->screen, 100, 0, true);
	f->view.page = TOP_PAGE_TABLE;
	draw(f);
	assert_true(is_anywhere(f, "small groups had no room"));
	assert_true(is_anywhere(f, "(others: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(table_and_head, begin, end),
		cmocka_unit_test_setup_teardown(loss_is_red, begin, end),
		cmocka_unit_test_setup_teardown(names_stay_names, begin, end),
		cmocka_unit_test_setup_teardown(fits, begin, end),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
