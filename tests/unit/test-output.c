/* SPDX-License-Identifier: MIT */
/* The bounded output and its readers: slow and closed ones of every kind; whole records in order; memory bounded. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>

#include "unit/records.h"

/* A reader that is slower than the writer; nothing taken may be lost, and what is refused is counted. */
static void slow_reader(int write_fd, int read_fd)
{
	struct writer w = { 0 };
	struct reader r = { .fd = read_fd };
	int ret;

	assert_int_equal(fcntl(read_fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(output_new(&w.o, write_fd, BOUND), 0);
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 100; i++)
			put(&w);
		ret = output_flush(w.o);
		assert_true(ret == 0 || ret == 1);
		assert_true(output_pending(w.o) <= BOUND);
		take(&r, 9999);
	}
	assert_true(w.refused > 1000);
	assert_int_equal(output_refused(w.o), w.refused);
	while ((ret = output_flush(w.o)) == 1)
		assert_true(take(&r, SIZE_MAX) > 0);
	assert_int_equal(ret, 0);
	assert_int_equal(output_pending(w.o), 0);
	while (r.next < w.next)
		assert_true(take(&r, SIZE_MAX) > 0);
	assert_int_equal(r.len, 0);
	output_free(w.o);
	assert_int_equal(fcntl(write_fd, F_GETFL) & O_NONBLOCK, 0);
	close(write_fd);
	assert_int_equal(read(read_fd, r.line, 1), 0);
	close(read_fd);
}

static void slow_pipe(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	slow_reader(fd[1], fd[0]);
}

static void slow_socket(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	slow_reader(fd[1], fd[0]);
}

/* Lets no further descriptor be opened, as where /proc is missing. */
static rlim_t forbid_open(int highest)
{
	struct rlimit l;
	rlim_t before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	before = l.rlim_cur;
	l.rlim_cur = (rlim_t)highest + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
	return before;
}

static void allow_open(rlim_t before)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	l.rlim_cur = before;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
}

static void slow_pipe_that_cannot_be_opened_again(void **state)
{
	int fd[2];
	rlim_t before;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	before = forbid_open(MAX(fd[0], fd[1]));
	slow_reader(fd[1], fd[0]);
	allow_open(before);
}

static void slow_terminal(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct termios raw;
	char name[64];
	int slave;

	(void)state;
	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	assert_int_equal(ptsname_r(master, name, sizeof(name)), 0);
	slave = open(name, O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	{
		struct writer w = { 0 };
		struct reader r = { .fd = master };

		assert_int_equal(output_new(&w.o, slave, BOUND), 0);
		while (put(&w))
			;
		assert_int_equal(output_flush(w.o), 1);
		while (output_flush(w.o) == 1)
			assert_true(take(&r, SIZE_MAX) > 0);
		while (r.next < w.next)
			assert_true(take(&r, SIZE_MAX) > 0);
		/* A terminal that hung up is a reader that went away. */
		close(master);
		assert_true(put(&w));
		assert_int_equal(output_flush(w.o), -EPIPE);
		output_free(w.o);
	}
	close(slave);
}

static void closed_pipe(void **state)
{
	struct writer w = { 0 };
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(output_new(&w.o, fd[1], 0), 0);
	assert_true(put(&w));
	assert_int_equal(output_flush(w.o), 0);
	close(fd[0]);
	assert_true(put(&w));
	assert_int_equal(output_flush(w.o), -EPIPE);
	assert_int_equal(output_error(w.o), EPIPE);
	assert_int_equal(output_drain(w.o, -1), -EPIPE);
	while (put(&w))
		;
	output_free(w.o);
	close(fd[1]);
}

static void closed_socket(void **state)
{
	struct writer w = { 0 };
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(output_new(&w.o, fd[1], 0), 0);
	close(fd[0]);
	assert_true(put(&w));
	assert_int_equal(output_flush(w.o), -EPIPE);
	output_free(w.o);
	close(fd[1]);
}

static void drain_ends_in_time(void **state)
{
	struct writer w = { 0 };
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(output_new(&w.o, fd[1], 1u << 20), 0);
	while (put(&w))
		;
	assert_int_equal(output_drain(w.o, 0), -ETIME);
	assert_int_equal(output_drain(w.o, 20), -ETIME);
	assert_true(output_pending(w.o) > 0);
	output_free(w.o);
	close(fd[0]);
	close(fd[1]);
}

/* What it promises of room holds, and there is room again as soon as a part is out. */
static void room_is_told(void **state)
{
	struct writer w = { 0 };
	struct reader r = { 0 };
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	r.fd = fd[0];
	assert_int_equal(output_new(&w.o, fd[1], BOUND), 0);
	assert_true(output_has_room(w.o, 512));
	assert_false(output_has_room(w.o, BOUND + 1));
	while (output_has_room(w.o, 512))
		assert_true(put(&w));
	while (put(&w))
		;
	assert_int_equal(output_flush(w.o), 1);
	while (!output_has_room(w.o, 512)) {
		assert_true(take(&r, 4096) > 0);
		output_flush(w.o);
	}
	assert_true(output_pending(w.o) > 0);
	assert_true(put(&w));
	output_free(w.o);
	close(fd[0]);
	close(fd[1]);
}

static void only_what_can_be_written(void **state)
{
	struct output *o = NULL;
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(output_new(&o, fd, 0), -EBADF);
	close(fd);
	assert_int_equal(output_new(&o, fd, 0), -EBADF);
	assert_null(o);
	output_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_pipe),
		cmocka_unit_test(slow_socket),
		cmocka_unit_test(slow_pipe_that_cannot_be_opened_again),
		cmocka_unit_test(slow_terminal),
		cmocka_unit_test(closed_pipe),
		cmocka_unit_test(closed_socket),
		cmocka_unit_test(drain_ends_in_time),
		cmocka_unit_test(room_is_told),
		cmocka_unit_test(only_what_can_be_written),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
