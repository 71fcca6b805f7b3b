/* SPDX-License-Identifier: MIT */
/* Which descriptors a forked process goes on with. */
#include "unit/test.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "base/descriptors.h"
#include "base/util.h"

/* In a child, as it changes what this process has. */
static int in_child(int (*run)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool is_null(int fd)
{
	char path[32], target[32] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "/dev/null");
}

/* Two pipes, each kept end where the other one shall go. */
static int crossed(void)
{
	int a[2], b[2];
	char c = 0;

	descriptors_close_from(3);
	if (pipe(a) || pipe(b) || a[0] != 3 || a[1] != 4)
		return 1;
	if (write(b[1], "b", 1) != 1 || write(a[1], "a", 1) != 1)
		return 2;
	if (descriptors_keep((const int[]){ b[0], a[0] }, 2))
		return 3;
	if (read(3, &c, 1) != 1 || c != 'b' || read(4, &c, 1) != 1 || c != 'a')
		return 4;
	if (!is_null(0) || !is_null(1) || !is_null(2))
		return 5;
	for (int fd = 5; fd < 64; fd++)
		if (is_open(fd))
			return 6;
	return !(fcntl(3, F_GETFD) & FD_CLOEXEC) || !(fcntl(4, F_GETFD) & FD_CLOEXEC);
}

/* Where 0 to 2 were closed, what is kept may lie there. */
static int low(void)
{
	int p[2];
	char c = 0;

	descriptors_close_from(0);
	if (pipe(p) || p[0] != 0 || write(p[1], "x", 1) != 1)
		return 1;
	if (descriptors_keep(p, 1))
		return 2;
	if (read(3, &c, 1) != 1 || c != 'x')
		return 3;
	return !is_null(0) || !is_null(1) || !is_null(2) || is_open(4);
}

static int refuses(void)
{
	if (descriptors_keep((const int[]){ 63 }, 1) != -EBADF)
		return 1;
	return descriptors_keep((const int[9]){ 0 }, 9) != -EINVAL;
}

static void keeps_what_it_shall(void **state)
{
	(void)state;
	assert_int_equal(in_child(crossed), 0);
	assert_int_equal(in_child(low), 0);
	assert_int_equal(in_child(refuses), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(keeps_what_it_shall) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
