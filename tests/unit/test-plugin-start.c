/* SPDX-License-Identifier: MIT */
/* What may be run as a plugin, and that it runs. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/procfile.h"
#include "sink/plugin-keeper-internal.h"
#include "sink/plugin-keeper.h"

static char path[] = "/tmp/exeunt-plugin.XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0 || write(fd, "text\n", 5) != 5)
		return -1;
	return close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void words_are_split(void **state)
{
	char *words, **argv;

	(void)state;
	assert_int_equal(plugin_split("  /bin/x\ta 'b  c' ", &words, &argv), 0);
	assert_string_equal(argv[0], "/bin/x");
	assert_string_equal(argv[1], "a");
	assert_string_equal(argv[2], "'b");
	assert_string_equal(argv[3], "c'");
	assert_null(argv[4]);
	free(words);
	free(argv);
	assert_int_equal(plugin_split(" \t", &words, &argv), -EINVAL);
	free(words);
	free(argv);
}

static void refused(const char *name, int error, const char *reason)
{
	char why[128] = "";

	assert_int_equal(plugin_check(name, why, sizeof(why)), error);
	if (reason)
		assert_non_null(strstr(why, reason));
}

/* auditd 3 wants more bits, auditd 4.2 fewer: what all of them take is taken. */
static void modes(void **state)
{
	static const struct {
		mode_t mode;
		const char *why;
	} cases[] = {
		{ 0750, NULL },	  { 0755, NULL },    { 0550, NULL },	     { 0555, NULL },
		{ 04755, NULL },  { 0700, "ug+rx" }, { 0640, "ug+rx" },	     { 0050, "ug+rx" },
		{ 0770, "go-w" }, { 0775, "go-w" },  { 0757, "chmod go-w" }, { 0777, "go-w" },
	};

	(void)state;
	refused("", -EINVAL, "absolute");
	refused("bin/sh", -EINVAL, "absolute");
	refused("/nonexistent/x", -ENOENT, "No such file");
	refused("/dev/null", -EPERM, "regular");
	refused("/bin/sh", 0, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(chmod(path, cases[i].mode), 0);
		if (getuid())
			refused(path, -EPERM, "must belong to root");
		else
			refused(path, cases[i].why ? -EPERM : 0, cases[i].why);
	}
	if (!getuid() && !chown(path, 65534, 0))
		refused(path, -EPERM, "user 65534");
}

static void cannot_be_executed(void **state)
{
	char *text[] = { path, NULL }, *nothing[] = { (char[]){ "/nonexistent" }, NULL };

	(void)state;
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(plugin_start(text, STDIN_FILENO), -ENOEXEC);
	assert_int_equal(plugin_start(nothing, STDIN_FILENO), -ENOENT);
	/* and nobody is left to be waited for */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* What the one before did to its input is undone; the end of the input is an end. */
static void runs(void **state)
{
	char *cat[] = { (char[]){ "/bin/cat" }, NULL };
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	pid = plugin_start(cat, fds[1]);
	assert_true(pid > 0);
	assert_false(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(getpgid(pid), pid);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fds[1]);
}

/* Who protects exeunt from a lack of memory has not meant its plugins. */
static void is_not_protected(void **state)
{
	char *cat[] = { (char[]){ "/bin/cat" }, NULL };
	const char *own = "/proc/self/oom_score_adj";
	int fd = open(own, O_WRONLY), fds[2];
	char name[48], line[16];
	pid_t pid;

	(void)state;
	if (fd < 0 || write(fd, "-1", 2) != 2)
		skip(); /* takes CAP_SYS_RESOURCE */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	pid = plugin_start(cat, fds[1]);
	assert_true(pid > 0);
	snprintf(name, sizeof(name), "/proc/%d/oom_score_adj", (int)pid);
	assert_int_equal(procfile_line(name, line, sizeof(line)), 1);
	assert_string_equal(line, "0");
	assert_int_equal(write(fd, "0", 1), 1);
	close(fd);
	close(fds[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_split),    cmocka_unit_test(modes),
		cmocka_unit_test(cannot_be_executed), cmocka_unit_test(runs),
		cmocka_unit_test(is_not_protected),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
