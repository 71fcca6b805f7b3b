/* SPDX-License-Identifier: MIT */
/* The filter of system calls: what is needed works, what is dangerous kills, all else is refused. Each in a child. */
#include "unit/test.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/util.h"
#include "cmd/confine.h"

/* The wait status of a child that is confined and then does it. */
static int confined(int (*what)(void), uint64_t capabilities)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(confine(capabilities) ? 99 : what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* 0, or the errno. */
static int error_of(long r)
{
	return r < 0 ? errno : 0;
}

static int use_files(void)
{
	char path[] = "/tmp/exeunt-confine.XXXXXX", to[64];
	int fd = mkstemp(path);

	snprintf(to, sizeof(to), "%s.1", path);
	if (fd < 0 || write(fd, "x", 1) != 1 || fchmod(fd, 0640) || rename(path, to) || unlink(to))
		return 1;
	return close(open("/proc/self/stat", O_RDONLY)) || close(fd);
}

static int look_up(void)
{
	errno = 0;
	if (!getpwuid(0) && errno)
		return 1;
	getpwuid(4321);
	getgrgid(4321);
	return !getpwnam("root");
}

static int use_sockets(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || send(fds[0], "x", 1, 0) != 1 ||
	       socket(AF_NETLINK, SOCK_RAW, 0) < 0;
}

static int fork_a_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(7);
	return pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7 ||
	       kill(getpid(), 0);
}

static void *nothing(void *arg)
{
	return arg;
}

static int begin_a_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL);
}

static int use_memory(void)
{
	void *large = malloc(64u << 20);
	int fd = open("/proc/self/exe", O_RDONLY);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	free(large);
	return !large || code == MAP_FAILED;
}

/* prctl() itself is not needed any more. */
static int no_new_privileges(void)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[MAX(n, 0)] = '\0';
	close(fd);
	return !strstr(text, "NoNewPrivs:\t1\n") || !strstr(text, "Seccomp:\t2\n");
}

static void what_is_needed_works(void **state)
{
	static int (*const needed[])(void) = { use_files,	 look_up,	 use_sockets,
					       fork_a_child,	 begin_a_thread, use_memory,
					       no_new_privileges };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (confined(needed[i], 0))
			fail_msg("number %zu is in the way", i);
}

static int inet(void)
{
	return error_of(socket(AF_INET, SOCK_DGRAM, 0));
}

static int signal_another(void)
{
	return error_of(kill(getppid(), SIGUSR1));
}

static int become_another(void)
{
	return error_of(syscall(SYS_setuid, 1));
}

static int map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 99 : error_of(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int new_space(void)
{
	return error_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
}

static int undump(void)
{
	return error_of(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int link_to(void)
{
	return error_of(symlink("/etc/passwd", "/tmp/exeunt-confine.link"));
}

static int from_the_future(void)
{
	return error_of(syscall(2000));
}

static int switch_accounting(void)
{
	return error_of(acct(""));
}

static void all_else_is_refused(void **state)
{
	static int (*const refused[])(void) = {
		inet,	   signal_another, become_another, map_code,	    make_code,
		new_space, undump,	   link_to,	   from_the_future, switch_accounting
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int status = confined(refused[i], 0);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != ENOSYS)
			fail_msg("number %zu: wait status %#x", i, (unsigned int)status);
	}
}

static void accounting_goes_with_its_capability(void **state)
{
	int status = confined(switch_accounting, UINT64_C(1) << CAP_SYS_PACCT);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == ENOENT || WEXITSTATUS(status) == EPERM);
}

static int run_a_program(void)
{
	execl("/bin/true", "true", NULL);
	return 1;
}

static int trace(void)
{
	ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
	return 1;
}

static int mount_something(void)
{
	mount("none", "/nowhere", "tmpfs", 0, NULL);
	return 1;
}

static int leave_space(void)
{
	unshare(CLONE_NEWNS);
	return 1;
}

static int load_module(void)
{
	syscall(SYS_finit_module, -1, "", 0);
	return 1;
}

static int load_bpf(void)
{
	syscall(SYS_bpf, 0, NULL, 0);
	return 1;
}

static int read_memory(void)
{
	syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
	return 1;
}

static int change_root(void)
{
	return chroot("/nowhere") ? 1 : 2;
}

static void danger_kills(void **state)
{
	static int (*const deadly[])(void) = { run_a_program, trace,	   mount_something,
					       leave_space,   load_module, load_bpf,
					       read_memory,   change_root };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		int status = confined(deadly[i], ~UINT64_C(0));

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("number %zu: wait status %#x", i, (unsigned int)status);
	}
}

static int go[2];

static void *wait_and_try(void *arg)
{
	char byte;

	(void)arg;
	return (void *)(intptr_t)(read(go[0], &byte, 1) == 1 ? inet() : 98);
}

/* Threads that were there before are confined as well. */
static void threads_too(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		pthread_t t;
		void *error;

		if (pthread_create(&t, NULL, wait_and_try, NULL) || confine(0) ||
		    write(go[1], "x", 1) != 1 || pthread_join(t, &error))
			_exit(97);
		_exit((int)(intptr_t)error);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENOSYS);
	close(go[0]);
	close(go[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_needed_works),
		cmocka_unit_test(all_else_is_refused),
		cmocka_unit_test(accounting_goes_with_its_capability),
		cmocka_unit_test(danger_kills),
		cmocka_unit_test(threads_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
