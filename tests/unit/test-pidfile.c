/* SPDX-License-Identifier: MIT */
/* One daemon at a time. */
#include "unit/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/util.h"
#include "cmd/pidfile.h"
#include "unit/stderr.h"

static char dir[] = "/tmp/exeunt-pidfile.XXXXXX", path[64];

static void read_file(char *buf, size_t size)
{
	_cleanup_fd_
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, buf, size - 1);
	buf[MAX(n, 0)] = '\0';
}

static void says_who(void **state)
{
	char text[64], want[64];
	struct stat st;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/run/pid", dir); /* the directory is missing */
	fd = pidfile_open(path);
	assert_true(fd >= 0);
	read_file(text, sizeof(text));
	snprintf(want, sizeof(want), "%d\n", (int)getpid());
	assert_string_equal(text, want);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	pidfile_close(fd);
	read_file(text, sizeof(text));
	assert_string_equal(text, "");
}

static void second_one_is_refused(void **state)
{
	char want[64];
	int fd = pidfile_open(path);

	(void)state;
	assert_true(fd >= 0);
	catch_stderr();
	assert_int_equal(pidfile_open(path), -EEXIST);
	end_catch();
	snprintf(want, sizeof(want), "as process %d.", (int)getpid());
	assert_non_null(strstr(said, want));
	read_file(want, sizeof(want));
	assert_int_equal(atoi(want), getpid());
	pidfile_close(fd);
	fd = pidfile_open(path);
	assert_true(fd >= 0);
	pidfile_close(fd);
}

/* Left by one that was killed: the lock went with it, whatever the file says. */
static void stale(void **state)
{
	char text[64];
	int fd, status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		if (pidfile_open(path) < 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	read_file(text, sizeof(text));
	assert_int_equal(atoi(text), child);
	fd = pidfile_open(path);
	assert_true(fd >= 0);
	read_file(text, sizeof(text));
	assert_int_equal(atoi(text), getpid());
	pidfile_close(fd);
}

/* Nobody else can take the lock of a file that was readable before. */
static void mode_is_mended(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(chmod(path, 0644), 0);
	fd = pidfile_open(path);
	assert_true(fd >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	pidfile_close(fd);
}

static void not_a_file(void **state)
{
	char link[80];

	(void)state;
	catch_stderr();
	assert_int_equal(pidfile_open("/dev/null"), -EINVAL);
	assert_int_equal(pidfile_open(dir), -EISDIR);
	assert_int_equal(pidfile_open("/proc/no/such/pid"), -ENOENT);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(pidfile_open(link), -ELOOP);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(mkfifo(link, 0600), 0);
	assert_int_equal(pidfile_open(link), -EINVAL);
	assert_int_equal(unlink(link), 0);
	end_catch();
	assert_non_null(strstr(said, "'/dev/null' is no regular file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_who),   cmocka_unit_test(second_one_is_refused),
		cmocka_unit_test(stale),      cmocka_unit_test(mode_is_mended),
		cmocka_unit_test(not_a_file),
	};
	char run[64];
	int failed;

	if (!mkdtemp(dir))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	snprintf(run, sizeof(run), "%s/run", dir);
	rmdir(run);
	rmdir(dir);
	return failed;
}
