/* SPDX-License-Identifier: MIT */
/*
 * base/procfs.h: hostile names in stat and status, and the real /proc of this process and of a dead
 * one.
 */
#include "unit/test.h"

#include <fcntl.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/procfs.h"
#include "base/util.h"

#define STAT_TAIL                                                                                \
	" S 4100 4242 4242 34816 4242 4194560 100 2 3 4 5 6 7 8 20 0 3 0 987654321 3133440 362 " \
	"18446744073709551615 1 2 3 4 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static int parse(const char *text, struct procfs_stat *s)
{
	memset(s, 0xee, sizeof(*s));
	return procfs_parse_stat(text, strlen(text), s);
}

/* C066: the name holds whatever a hostile program likes. */
static void test_stat_names(void **state)
{
	static const struct {
		const char *text, *comm;
	} rows[] = {
		{ "4242 (demo)" STAT_TAIL, "demo" },
		{ "4242 (a) R 1 ()" STAT_TAIL, "a) R 1 (" },
		{ "4242 (sleep (2) .sh)" STAT_TAIL, "sleep (2) .sh" },
		{ "4242 ())" STAT_TAIL, ")" },
		{ "4242 ()" STAT_TAIL, "" },
		{ "4242 (a\\nb\\\\n)" STAT_TAIL, "a\nb\\n" },
		{ "4242 (back\\)" STAT_TAIL, "back\\" },
		{ "4242 (kworker/u8:2-events_unbound)" STAT_TAIL, "kworker/u8:2-ev" },
		{ "4242 (\xff\x01 9 9 9 9)" STAT_TAIL, "\xff\x01 9 9 9 9" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct procfs_stat s;

		assert_int_equal(parse(rows[i].text, &s), 0);
		assert_string_equal(s.comm, rows[i].comm);
		assert_int_equal(s.state, 'S');
		assert_int_equal(s.ppid, 4100);
		assert_int_equal(s.flags, 4194560);
		assert_int_equal(s.threads, 3);
		assert_int_equal(s.start_ticks, 987654321);
	}
}

static void test_stat_broken(void **state)
{
	static const char *const rows[] = {
		"",
		"4242",
		"4242 (demo",
		"4242 demo) S 1",
		"4242 )(" STAT_TAIL,
		"4242 (demo)",
		"4242 (demo) S",
		"4242 (demo) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
		"4242 (demo)S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
		"4242 (demo) S x 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
	};
	struct procfs_stat s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(parse(rows[i], &s), -EBADMSG);
	/* a terminal's foreground group is -1 where there is none */
	assert_int_equal(parse("4 (a) S 1 4 4 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 55", &s), 0);
	assert_int_equal(s.start_ticks, 55);
	assert_int_equal(s.flags, 64);
}

static void test_ids(void **state)
{
	static const char text[] = "Name:\tUid:\t9\t9\t9\nUmask:\t0022\nPid:\t1\n"
				   "Uid:\t1000\t1001\t1002\t1003\nGid:\t2000\t2001\t2002\t2003\n";
	struct procfs_ids ids;

	(void)state;
	assert_int_equal(procfs_parse_ids(text, strlen(text), &ids), 0);
	assert_int_equal(ids.uid, 1000);
	assert_int_equal(ids.euid, 1001);
	assert_int_equal(ids.suid, 1002);
	assert_int_equal(ids.gid, 2000);
	assert_int_equal(ids.egid, 2001);
	assert_int_equal(ids.sgid, 2002);
	for (size_t len = 0; len < strlen(text) - 10; len++)
		assert_int_equal(procfs_parse_ids(text, len, &ids), -EBADMSG);
}

static void test_self(void **state)
{
	_cleanup_fd_
	int proc = procfs_open(NULL);
	_cleanup_fd_
	int self = procfs_open_pid(proc, getpid());
	char buf[4096], link[4096];
	struct procfs_stat s;
	struct procfs_ids ids;
	ssize_t n;

	(void)state;
	assert_true(self >= 0);
	assert_int_equal(prctl(PR_SET_NAME, "a) R 1 (\n\\"), 0);
	assert_int_equal(procfs_read_stat(self, &s), 0);
	assert_string_equal(s.comm, "a) R 1 (\n\\");
	assert_int_equal(s.ppid, getppid());
	assert_int_equal(s.threads, 1);
	assert_int_equal(s.flags & (PROCFS_EXITING | PROCFS_KTHREAD), 0);
	assert_true(s.start_ticks > 0);
	assert_int_equal(procfs_read_ids(self, &ids), 0);
	assert_int_equal(ids.uid, getuid());
	assert_int_equal(ids.egid, getegid());
	n = procfs_readlink(self, "exe", buf, sizeof(buf));
	assert_true(n > 0);
	assert_int_equal(n, readlink("/proc/self/exe", link, sizeof(link)));
	assert_memory_equal(buf, link, (size_t)n);
	assert_int_equal(procfs_readlink(self, "exe", buf, (size_t)n), -ENAMETOOLONG);
	n = procfs_read(self, "cmdline", buf, sizeof(buf));
	assert_true(n > 1 && !buf[n - 1]);
	assert_int_equal(procfs_read(self, "cmdline", buf, 2), 2);
	assert_int_equal(procfs_read(self, "no such file", buf, sizeof(buf)), -ENOENT);
}

static void test_login_of_self(void **state)
{
	_cleanup_fd_
	int proc = procfs_open(NULL);
	_cleanup_fd_
	int self = procfs_open_pid(proc, getpid());
	_cleanup_file_
	FILE *f = fopen("/proc/self/loginuid", "r");
	unsigned int expected;
	uint32_t login, session;

	(void)state;
	if (!f) /* a kernel without audit has no such file */
		skip();
	assert_int_equal(fscanf(f, "%u", &expected), 1);
	assert_int_equal(procfs_read_loginuid(self, &login), 0);
	assert_int_equal(login, expected);
	assert_int_equal(procfs_read_sessionid(self, &session), 0);
	if (login == UINT32_MAX)
		assert_int_equal(session, UINT32_MAX);
}

/* The directory stays that of the dead child, whoever gets the pid next. */
static void test_gone(void **state)
{
	_cleanup_fd_
	int proc = procfs_open(NULL);
	_cleanup_fd_
	int dir = -1;
	struct procfs_stat s;
	char buf[64];
	pid_t child = fork();
	int r;

	(void)state;
	if (!child)
		pause();
	assert_true(child > 0);
	dir = procfs_open_pid(proc, child);
	assert_true(dir >= 0);
	assert_int_equal(procfs_read_stat(dir, &s), 0);
	assert_int_equal(s.ppid, getpid());
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	r = procfs_read_stat(dir, &s);
	assert_true(r == -ENOENT || r == -ESRCH);
	r = (int)procfs_readlink(dir, "exe", buf, sizeof(buf));
	assert_true(r == -ENOENT || r == -ESRCH);
	assert_int_equal(procfs_open_pid(proc, 0), -ENOENT);
	assert_int_equal(procfs_open_pid(proc, -1), -ENOENT);
}

static void test_iterate(void **state)
{
	_cleanup_fd_
	int proc = procfs_open(NULL);
	bool self, parent;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct procfs_iter it;
		pid_t pid;

		self = parent = false;
		assert_int_equal(procfs_iter_init(&it, proc), 0);
		while ((pid = procfs_iter_next(&it)) > 0) {
			self |= pid == getpid();
			parent |= pid == getppid();
		}
		assert_int_equal(pid, 0);
		assert_true(self && parent);
	}
	assert_int_equal(procfs_open("/proc/no/such/place"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat_names),    cmocka_unit_test(test_stat_broken),
		cmocka_unit_test(test_ids),	      cmocka_unit_test(test_self),
		cmocka_unit_test(test_login_of_self), cmocka_unit_test(test_gone),
		cmocka_unit_test(test_iterate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
