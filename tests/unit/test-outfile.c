/* SPDX-License-Identifier: MIT */
/* Files that lines are added to, and the move from one to the next. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "sink/outfile.h"
#include "sink/output.h"

static char dir[] = "/tmp/exeunt-outfile.XXXXXX", path[64], second[64];

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_file(const char *name, const char *want)
{
	char text[8192];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, want);
	close(fd);
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(second);
	return 0;
}

/* Opens, writes a line, closes. */
static void add_line(const char *name, enum outfile_how how)
{
	int fd = outfile_open(name, how);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "new\n", 4), 4);
	close(fd);
}

static void what_was_there(void **state)
{
	struct stat st;

	(void)state;
	umask(022);
	add_line(path, OUTFILE_ADD);
	assert_file(path, "new\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	add_line(path, OUTFILE_ADD);
	assert_file(path, "new\nnew\n");
	add_line(path, OUTFILE_KEEP);
	assert_file(path, "new\nnew\nnew\n");
	add_line(path, OUTFILE_REPLACE);
	assert_file(path, "new\n");
}

static void half_a_line(void **state)
{
	(void)state;
	write_file(path, "whole\nhal");
	add_line(path, OUTFILE_ADD);
	assert_file(path, "whole\nhal\nnew\n");
	write_file(path, "hal");
	add_line(path, OUTFILE_KEEP);
	assert_file(path, "halnew\n");
	write_file(path, "");
	add_line(path, OUTFILE_ADD);
	assert_file(path, "new\n");
}

static void fifo_without_reader(void **state)
{
	char text[16] = "";
	int fd, reader;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = outfile_open(path, OUTFILE_ADD);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "early\n", 6), 6);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(read(reader, text, sizeof(text)), 6);
	assert_string_equal(text, "early\n");
	close(reader);
	/* the next reader finds what came while there was none */
	assert_int_equal(write(fd, "later\n", 6), 6);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(read(reader, text, sizeof(text)), 6);
	assert_string_equal(text, "later\n");
	close(reader);
	close(fd);
}

static void links_and_what_is_no_file(void **state)
{
	char missing[80];

	(void)state;
	assert_int_equal(symlink(second, path), 0);
	add_line(path, OUTFILE_ADD);
	assert_file(second, "new\n");
	assert_int_equal(outfile_open(dir, OUTFILE_ADD), -EISDIR);
	snprintf(missing, sizeof(missing), "%s/no/such", dir);
	assert_int_equal(outfile_open(missing, OUTFILE_ADD), -ENOENT);
	snprintf(missing, sizeof(missing), "%s/below", second);
	assert_int_equal(outfile_open(missing, OUTFILE_ADD), -ENOTDIR);
}

static void put(struct output *o, const char *line)
{
	char *p = output_reserve(o, strlen(line));

	assert_non_null(p);
	memcpy(p, line, strlen(line));
	output_commit(o, strlen(line));
}

static void limit_files(rlim_t size)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = MIN(size, l.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* A full disk took half a line; the other file gets all of it, and the first ends with a whole one. */
static void move_of_half_a_line(void **state)
{
	int old = outfile_open(path, OUTFILE_ADD), new = outfile_open(second, OUTFILE_ADD);
	struct output *o;

	(void)state;
	assert_true(old >= 0 && new >= 0);
	assert_int_equal(output_new(&o, old, 65536), 0);
	put(o, "one\n");
	put(o, "second\n");
	put(o, "third\n");
	limit_files(7);
	assert_int_equal(output_flush(o), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_file(path, "one\nsec");
	assert_int_equal(output_written(o), 7);
	assert_int_equal(output_pending(o), 10);
	assert_int_equal(output_move(o, new), 0);
	assert_file(path, "one\n");
	assert_int_equal(output_written(o), 4);
	assert_int_equal(output_pending(o), 13);
	assert_int_equal(output_error(o), 0);
	assert_int_equal(output_flush(o), 0);
	assert_file(second, "second\nthird\n");
	assert_int_equal(output_written(o), 17);
	assert_int_equal(output_pending(o), 0);
	output_free(o);
	close(old);
	close(new);
}

/* Somebody else's line is behind our half one: neither is touched. */
static void move_behind_somebody(void **state)
{
	int old = outfile_open(path, OUTFILE_ADD), new = outfile_open(second, OUTFILE_ADD);
	struct output *o;

	(void)state;
	assert_int_equal(output_new(&o, old, 65536), 0);
	put(o, "first\n");
	limit_files(3);
	assert_int_equal(output_flush(o), -EFBIG);
	limit_files(RLIM_INFINITY);
	add_line(path, OUTFILE_KEEP);
	assert_int_equal(output_move(o, new), 0);
	assert_int_equal(output_flush(o), 0);
	assert_file(path, "firnew\n");
	assert_file(second, "first\n");
	output_free(o);
	close(old);
	close(new);
}

/* What a pipe took cannot be taken back. */
static void move_from_a_pipe(void **state)
{
	char line[70000], text[70000];
	size_t got = 0;
	int fds[2], new = outfile_open(path, OUTFILE_ADD);
	struct output *o;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(output_new(&o, fds[1], 1 << 20), 0);
	memset(line, 'x', sizeof(line));
	strcpy(line + sizeof(line) - 2, "\n");
	put(o, line);
	put(o, "second\n");
	assert_int_equal(output_flush(o), 1);
	assert_int_equal(output_move(o, new), 0);
	assert_int_equal(output_flush(o), 0);
	while ((n = read(fds[0], text + got, sizeof(text) - got)) > 0)
		got += (size_t)n;
	assert_true(got > 0 && got < strlen(line));
	assert_int_equal(lseek(new, 0, SEEK_END), strlen(line) + 7);
	assert_int_equal(output_written(o), strlen(line) + 7);
	output_free(o);
	close(fds[0]);
	close(fds[1]);
	close(new);
}

static void move_to_what_cannot_be_written(void **state)
{
	int old = outfile_open(path, OUTFILE_ADD), reader = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct output *o;

	(void)state;
	assert_int_equal(output_new(&o, old, 65536), 0);
	put(o, "first\n");
	assert_int_equal(output_move(o, reader), -EBADF);
	assert_int_equal(output_flush(o), 0);
	assert_file(path, "first\n");
	output_free(o);
	close(reader);
	close(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_was_there, teardown),
		cmocka_unit_test_teardown(half_a_line, teardown),
		cmocka_unit_test_teardown(fifo_without_reader, teardown),
		cmocka_unit_test_teardown(links_and_what_is_no_file, teardown),
		cmocka_unit_test_teardown(move_of_half_a_line, teardown),
		cmocka_unit_test_teardown(move_behind_somebody, teardown),
		cmocka_unit_test_teardown(move_from_a_pipe, teardown),
		cmocka_unit_test_teardown(move_to_what_cannot_be_written, teardown),
	};
	int failed;

	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/first", dir);
	snprintf(second, sizeof(second), "%s/second", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
