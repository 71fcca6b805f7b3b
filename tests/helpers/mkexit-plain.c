/* SPDX-License-Identifier: MIT */
/*
 * Cases of mkexit whose process has one thread and no relatives: codes, signals, faults, names,
 * seccomp.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

void child_exit(struct child *c)
{
	end_code(c, c->arg);
}

void child_burst(struct child *c)
{
	_exit((int)(c->index & 0xff));
}

/*
 * kill(2) rather than raise(3): the signal is the process's, and 32 and 33 are not refused as
 * glibc's own.
 */
void child_signal(struct child *c)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	note_end(c->d);
	syscall(SYS_kill, getpid(), c->arg);
	for (;;)
		pause();
}

/* A true fault instead of a sent signal. */
__attribute__((no_sanitize("undefined"))) void child_fault(struct child *c)
{
	volatile char *map;
	volatile int zero = 0;
	char path[96];
	int fd;

	note_end(c->d);
	if (c->arg == SIGSEGV) {
		map = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*map = 1;
	} else if (c->arg == SIGBUS) {
		snprintf(path, sizeof(path), "%s/bus.%d", c->opt->dir, getpid());
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		unlink(path);
		map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		*map = 1;
	} else if (c->arg == SIGFPE) {
		zero = 1 / zero;
		/* some machines divide by zero without a word */
		syscall(SYS_kill, getpid(), SIGFPE);
	} else {
		__builtin_trap();
	}
	child_fail(c, "no fault");
}

/* Sleeps in read(2) on a pipe that nobody writes. */
void child_block(struct child *c)
{
	int fd[2];
	char byte;

	if (pipe2(fd, O_CLOEXEC) < 0)
		child_fail(c, "pipe2");
	set_ready(c);
	while (read(fd[0], &byte, 1) < 0)
		;
	child_fail(c, "read returned");
}

void child_spin(struct child *c)
{
	set_ready(c);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

void child_name(struct child *c)
{
	note_name(c->d, c->text);
	end_code(c, c->arg);
}

void child_pinned(struct child *c)
{
	int cpu = c->opt->cpu >= 0 ? c->opt->cpu
				   : (int)(c->index % (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		child_fail(c, "sched_setaffinity");
	end_code(c, cpu);
}

/* A filter whose verdict on getppid(2) is `action`; everything else is allowed. */
int seccomp_kill_getppid(uint32_t action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0 ? -errno : 0;
}

/* arg 1: strict mode, which kills by SIGKILL and leaves AXSIG unset; 2: a filter, SIGSYS. */
void child_seccomp(struct child *c)
{
	int r;

	note_end(c->d);
	if (c->arg == 1)
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0 ? -errno : 0;
	else
		r = seccomp_kill_getppid(SECCOMP_RET_KILL_PROCESS);
	if (r < 0)
		child_fail(c, "seccomp");
	syscall(SYS_getppid);
	child_fail(c, "seccomp did not kill");
}

void child_exec_plain(struct child *c)
{
	child_exec(c, c->arg);
}
