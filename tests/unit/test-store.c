/* SPDX-License-Identifier: MIT */
/* A store: what is put in comes out as it was; segments, retention, gaps, damage, and who may write. */
#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "any-record.h"
#include "base/util.h"
#include "sink/json.h"
#include "store/directory.h"
#include "store/reader.h"
#include "store/writer.h"

#define SECOND NS_PER_SEC

static char dir[] = "/tmp/test-store.XXXXXX";
static struct json *json;
static char said[1024];

static void hear(int level, const char *text, void *userdata)
{
	(void)level;
	(void)userdata;
	snprintf(said, sizeof(said), "%s", text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int fresh(void **state)
{
	(void)state;
	*said = '\0';
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct store_writer *open_writer(const struct store_options *more, int64_t now)
{
	struct store_options o = *more;
	struct store_writer *w;
	char error[512];

	o.host_name = "host";
	o.boot_id = "boot";
	o.say = hear;
	if (store_writer_open(&w, dir, &o, now, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	return w;
}

static void add(struct store_writer *w, const struct exeunt_record *r, int64_t now)
{
	const struct store_item item = { .record = r,
					 .json = r->type == EXEUNT_TYPE_STOP ? "{}" : NULL,
					 .json_len = 2 };

	assert_int_equal(store_writer_add(w, &item, 1, now), 0);
}

static void add_exit(struct store_writer *w, int32_t pid, int64_t now)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .type = EXEUNT_TYPE_EXIT,
				   .pid = pid,
				   .time_ns = now,
				   .exit_time_ns = now };

	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_EXIT_TIME);
	add(w, &r, now);
}

static void add_stop(struct store_writer *w, int64_t now)
{
	static const struct exeunt_status status;
	struct exeunt_record r = {
		.size = sizeof(r), .type = EXEUNT_TYPE_STOP, .time_ns = now, .status = &status
	};

	add(w, &r, now);
}

/* Calls fn for each row of all segments; returns how many. */
static int each(const struct store_query *q, void (*fn)(const struct store_row *row, int n))
{
	struct store_names names;
	int n = 0;

	assert_int_equal(store_list(&names, dir), 0);
	for (size_t i = 0; i < names.n; i++) {
		struct store_reader *r;
		const struct store_row *row;
		char error[512];
		int e;

		if (store_reader_new(&r, names.paths[q->newest_first ? names.n - 1 - i : i], q,
				     error, sizeof(error)) < 0)
			fail_msg("%s", error);
		while ((e = store_reader_next(r, &row)) > 0)
			fn(row, n++);
		assert_int_equal(e, 0);
		store_reader_free(r);
	}
	store_names_done(&names);
	return n;
}

static size_t count_segments(void)
{
	struct store_names names;
	size_t n;

	assert_int_equal(store_list(&names, dir), 0);
	n = names.n;
	store_names_done(&names);
	return n;
}

#define MANY 1000
static char lines[MANY][16384];

static void line_of(const struct exeunt_record *r, char *buf)
{
	ssize_t n = json_format(json, r, buf, sizeof(lines[0]));

	assert_true(n > 0);
	buf[n] = '\0';
}

static void expect_line(const struct store_row *row, int n)
{
	static char line[sizeof(lines[0])];

	line_of(&row->record, line);
	for (const char *a = line, *b = lines[n]; *a || *b; a++, b++) /* cmocka cuts long texts */
		if (*a != *b)
			fail_msg("record %d: '%.60s', and not '%.60s'", n, a, b);
	assert_int_equal(row->id, n + 1);
	assert_string_equal(row->host_name, "host");
	assert_string_equal(row->boot_id, "boot");
}

static void expect_line_from_the_end(const struct store_row *row, int n)
{
	expect_line(row, MANY - 1 - n);
}

static void what_goes_in_comes_out(void **state)
{
	static struct any_record many[MANY];
	static struct store_item items[MANY];
	struct store_writer *w = open_writer(&(struct store_options){ 0 }, SECOND);

	(void)state;
	for (int i = 0; i < MANY; i++) {
		any_record(&many[i]);
		many[i].r.seq = (uint64_t)i + 1;
		line_of(&many[i].r, lines[i]);
		items[i].record = &many[i].r;
	}
	assert_int_equal(store_writer_add(w, items, MANY, SECOND), 0);
	store_writer_free(w);
	assert_int_equal(each(&(struct store_query){ 0 }, expect_line), MANY);
	assert_int_equal(
		each(&(struct store_query){ .newest_first = true }, expect_line_from_the_end),
		MANY);
}

static void expect_pid_alone(const struct store_row *row, int n)
{
	assert_int_equal(row->record.pid, 100 + n);
	assert_true(exeunt_has(&row->record, EXEUNT_F_PID));
	assert_false(exeunt_has(&row->record, EXEUNT_F_EXIT_TIME));
}

static void some_fields_and_some_times(void **state)
{
	uint64_t fields[EXEUNT_PRESENT_WORDS] = { UINT64_C(1) << EXEUNT_F_PID };
	struct store_writer *w = open_writer(&(struct store_options){ 0 }, SECOND);

	(void)state;
	for (int i = 0; i < 10; i++)
		add_exit(w, 97 + i, (i + 1) * SECOND);
	store_writer_free(w);
	assert_int_equal(each(&(struct store_query){ .fields = fields,
						     .since_ns = 4 * SECOND,
						     .until_ns = 8 * SECOND },
			      expect_pid_alone),
			 4);
	assert_int_equal(
		each(&(struct store_query){ .fields = fields, .after_id = 3 }, expect_pid_alone),
		7);
}

static struct exeunt_loss losses[8];
static int n_losses, n_exits;

static void collect(const struct store_row *row, int n)
{
	(void)n;
	n_exits += row->record.type == EXEUNT_TYPE_EXIT;
	if (row->record.loss)
		losses[n_losses++] = *row->record.loss;
}

static void collect_all(void)
{
	n_losses = n_exits = 0;
	each(&(struct store_query){ 0 }, collect);
}

static void segments_end_by_time(void **state)
{
	struct store_writer *w =
		open_writer(&(struct store_options){ .segment_ns = 10 * SECOND }, SECOND);

	(void)state;
	for (int i = 0; i < 50; i++) {
		add_exit(w, i + 1, (i + 1) * SECOND);
		store_writer_tidy(w, (i + 1) * SECOND);
	}
	add_stop(w, 51 * SECOND);
	store_writer_free(w);
	assert_in_range(count_segments(), 4, 6);
	collect_all();
	assert_int_equal(n_exits, 50);
	assert_int_equal(n_losses, 0);
}

static void what_is_too_old_goes_and_is_told(void **state)
{
	const struct store_options o = { .segment_ns = 10 * SECOND, .keep_ns = 25 * SECOND };
	struct store_writer *w = open_writer(&o, SECOND);
	uint64_t told = 0;

	(void)state;
	for (int i = 0; i < 60; i++) {
		add_exit(w, i + 1, (i + 1) * SECOND);
		store_writer_tidy(w, (i + 1) * SECOND);
	}
	store_writer_free(w);
	collect_all();
	assert_in_range(n_exits, 25, 40);
	assert_in_range(n_losses, 1, 5);
	for (int i = 0; i < n_losses; i++) {
		assert_int_equal(losses[i].cause, EXEUNT_LOSS_RETENTION);
		assert_int_equal(losses[i].source, EXEUNT_SOURCE_OUTPUT);
		assert_true(losses[i].exact);
		assert_true(losses[i].window_start_ns <= losses[i].window_end_ns);
		told += losses[i].count;
	}
	assert_int_equal((uint64_t)n_exits + told, 60);
}

static void what_is_too_much_goes(void **state)
{
	const struct store_options o = { .segment_bytes = 64 << 10, .keep_bytes = 1 << 20 };
	struct store_writer *w = open_writer(&o, SECOND);
	static struct any_record a;
	size_t segments;

	(void)state;
	for (int i = 0; i < 8000; i++) {
		any_record(&a);
		add(w, &a.r, SECOND);
		if (i % 50 == 0)
			store_writer_tidy(w, SECOND);
	}
	store_writer_tidy(w, SECOND);
	assert_true(store_writer_bytes(w, &segments) <= o.keep_bytes);
	assert_int_equal(segments, count_segments());
	assert_true(segments > 2);
	store_writer_free(w);
}

static void a_second_writer_is_refused(void **state)
{
	struct store_writer *w = open_writer(&(struct store_options){ 0 }, SECOND), *second;
	const struct store_options o = { .say = hear };
	char error[512];

	(void)state;
	assert_int_equal(store_writer_open(&second, dir, &o, SECOND, error, sizeof(error)), -EBUSY);
	assert_non_null(strstr(error, dir));
	store_writer_free(w);
}

static void a_run_without_an_end_is_a_gap(void **state)
{
	struct store_writer *w = open_writer(&(struct store_options){ 0 }, SECOND);

	(void)state;
	add_exit(w, 1, 5 * SECOND);
	store_writer_free(w);
	w = open_writer(&(struct store_options){ 0 }, 60 * SECOND);
	add_exit(w, 2, 61 * SECOND);
	add_stop(w, 62 * SECOND);
	store_writer_free(w);
	w = open_writer(&(struct store_options){ 0 }, 100 * SECOND);
	add_exit(w, 3, 101 * SECOND);
	store_writer_free(w);
	collect_all();
	assert_int_equal(n_exits, 3);
	assert_int_equal(n_losses, 1);
	assert_int_equal(losses[0].cause, EXEUNT_LOSS_NOT_RUNNING);
	assert_int_equal(losses[0].window_start_ns, 5 * SECOND);
	assert_int_equal(losses[0].window_end_ns, 60 * SECOND);
	assert_false(losses[0].exact);
	assert_int_equal(count_segments(), 1);
}

static int64_t last_id;

static void ids_grow(const struct store_row *row, int n)
{
	if (n)
		assert_true(row->id > last_id);
	last_id = row->id;
}

/* Noise over a segment, in its middle or from its beginning. */
static void damage(const char *path, off_t at)
{
	_cleanup_fd_
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	char noise[8192];

	assert_true(fd >= 0);
	memset(noise, 0xa5, sizeof(noise));
	for (int i = 0; i < 4; i++)
		assert_int_equal(pwrite(fd, noise, sizeof(noise), at + i * (off_t)sizeof(noise)),
				 sizeof(noise));
}

static void a_damaged_last_segment_is_set_aside(void **state)
{
	struct store_writer *w = open_writer(&(struct store_options){ 0 }, SECOND);
	struct store_names names;
	char aside[STORE_PATH_SIZE + 16];

	(void)state;
	for (int i = 0; i < 200; i++)
		add_exit(w, i + 1, 5 * SECOND);
	store_writer_free(w);
	assert_int_equal(store_list(&names, dir), 0);
	assert_int_equal(names.n, 1);
	damage(names.paths[0], 0);
	w = open_writer(&(struct store_options){ 0 }, 60 * SECOND);
	assert_non_null(strstr(said, "set aside"));
	add_exit(w, 1000, 61 * SECOND);
	store_writer_free(w);
	snprintf(aside, sizeof(aside), "%s.damaged", names.paths[0]);
	assert_int_equal(access(aside, F_OK), 0);
	store_names_done(&names);
	collect_all();
	assert_int_equal(n_exits, 1);
	each(&(struct store_query){ 0 }, ids_grow);
	assert_true(last_id > 200);
}

static void a_segment_is_no_longer_read_by_all(void **state)
{
	struct store_writer *w = open_writer(&(struct store_options){ 0 }, SECOND);
	struct store_names names;
	struct stat st;

	(void)state;
	add_exit(w, 1, SECOND);
	store_writer_free(w);
	assert_int_equal(store_list(&names, dir), 0);
	assert_int_equal(stat(names.paths[0], &st), 0);
	assert_int_equal(st.st_mode & 07, 0); /* it may hold secrets */
	store_names_done(&names);
}

static void names_of_segments(void **state)
{
	char path[STORE_PATH_SIZE], *far = calloc(1, STORE_PATH_SIZE);

	(void)state;
	assert_int_equal(store_segment_path(path, "/d", 42, 1700000000 * SECOND), 0);
	assert_string_equal(path, "/d/exeunt-000000000042-20231114T221320Z.db");
	assert_int_equal(store_first_id(path), 42);
	assert_int_equal(store_first_id("exeunt-000000000042-20231114T221320Z.db-wal"), -EINVAL);
	assert_int_equal(store_first_id("exeunt-000000000042-20231114T221320Z.db.damaged"),
			 -EINVAL);
	assert_int_equal(store_first_id("exeunt--1-x.db"), -EINVAL);
	assert_int_equal(store_first_id("other.db"), -EINVAL);
	memset(far, 'd', STORE_PATH_SIZE - 1);
	assert_int_equal(store_segment_path(path, far, 1, SECOND), -ENAMETOOLONG);
	free(far);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_goes_in_comes_out),
		TEST(some_fields_and_some_times),
		TEST(segments_end_by_time),
		TEST(what_is_too_old_goes_and_is_told),
		TEST(what_is_too_much_goes),
		TEST(a_second_writer_is_refused),
		TEST(a_run_without_an_end_is_a_gap),
		TEST(a_damaged_last_segment_is_set_aside),
		TEST(a_segment_is_no_longer_read_by_all),
		cmocka_unit_test(names_of_segments),
	};
	int failed;

	if (json_new(&json, "host", NULL) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_free(json);
	return failed;
}
