/* SPDX-License-Identifier: MIT */
/* The bounded output on files: a disk that is full, and one that has room again; records of every size. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "unit/records.h"

static void full_device_keeps_all_and_tries_again(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct writer w = { 0 };
	size_t kept;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(output_new(&w.o, fd, BOUND), 0);
	while (put(&w))
		;
	kept = output_pending(w.o);
	assert_true(kept > BOUND / 2 && kept <= BOUND);
	assert_int_equal(output_flush(w.o), -ENOSPC);
	assert_int_equal(output_error(w.o), ENOSPC);
	assert_int_equal(output_pending(w.o), kept);
	assert_false(put(&w));
	assert_int_equal(output_drain(w.o, -1), -ENOSPC);
	output_free(w.o);
	close(fd);
}

static int temp_file(void)
{
	FILE *f = tmpfile();
	int fd = dup(fileno(f));

	fclose(f);
	assert_true(fd >= 0);
	return fd;
}

static void limit_files(rlim_t size)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = MIN(size, l.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* The disk refuses in the middle of a record, and later takes the rest. */
static void full_disk_then_room(void **state)
{
	struct reader r = { .fd = temp_file() };
	struct writer w = { 0 };

	(void)state;
	assert_int_equal(output_new(&w.o, r.fd, BOUND), 0);
	for (int i = 0; i < 100; i++)
		assert_true(put(&w));
	limit_files(5000);
	assert_int_equal(output_flush(w.o), -EFBIG);
	assert_int_equal(output_error(w.o), EFBIG);
	assert_true(put(&w));
	assert_int_equal(output_flush(w.o), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(output_flush(w.o), 0);
	assert_int_equal(output_error(w.o), 0);
	output_free(w.o);
	lseek(r.fd, 0, SEEK_SET);
	while (take(&r, SIZE_MAX) > 0)
		;
	assert_int_equal(r.next, 101);
	assert_int_equal(r.len, 0);
	close(r.fd);
}

/* The same, but the end comes first: the file must not end in half a record. */
static void full_disk_until_the_end(void **state)
{
	struct reader r = { .fd = temp_file() };
	struct writer w = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(output_new(&w.o, r.fd, BOUND), 0);
	for (int i = 0; i < 100; i++)
		assert_true(put(&w));
	limit_files(5000);
	assert_int_equal(output_drain(w.o, -1), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(fstat(r.fd, &st), 0);
	assert_int_equal(st.st_size, 5000);
	output_free(w.o);
	lseek(r.fd, 0, SEEK_SET);
	while (take(&r, SIZE_MAX) > 0)
		;
	assert_in_range(r.next, 20, 99);
	assert_int_equal(r.len, 0);
	close(r.fd);
}

static void file_gets_everything(void **state)
{
	struct reader r = { .fd = temp_file() };
	struct writer w = { 0 };

	(void)state;
	assert_int_equal(output_new(&w.o, r.fd, 0), 0);
	/* More than the bound, never flushed by the caller: a full queue writes by itself. */
	while (w.next < 100000)
		assert_true(put(&w));
	assert_int_equal(output_drain(w.o, 0), 0);
	assert_int_equal(output_written(w.o), lseek(r.fd, 0, SEEK_CUR));
	output_free(w.o);
	lseek(r.fd, 0, SEEK_SET);
	while (take(&r, SIZE_MAX) > 0)
		;
	assert_int_equal(r.next, 100000);
	close(r.fd);
}

static void large_records_within_the_bound(void **state)
{
	struct output *o;
	int fd = temp_file();
	char *p;

	(void)state;
	assert_int_equal(output_new(&o, fd, 1u << 20), 0);
	assert_null(output_reserve(o, (1u << 20) + 1));
	for (int i = 0; i < 5; i++) {
		p = output_reserve(o, 1u << 19);
		assert_non_null(p);
		memset(p, 'x', 1u << 19);
		output_commit(o, 1u << 19);
		assert_true(output_pending(o) <= 1u << 20);
	}
	p = output_reserve(o, 100);
	assert_non_null(p);
	output_commit(o, 0);
	assert_int_equal(output_drain(o, 0), 0);
	assert_int_equal(output_written(o), 5u << 19);
	output_free(o);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_device_keeps_all_and_tries_again),
		cmocka_unit_test(full_disk_then_room),
		cmocka_unit_test(full_disk_until_the_end),
		cmocka_unit_test(file_gets_everything),
		cmocka_unit_test(large_records_within_the_bound),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
