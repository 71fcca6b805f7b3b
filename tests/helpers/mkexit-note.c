/* SPDX-License-Identifier: MIT */
/*
 * What a child of mkexit says about itself, and the ways in which it takes its leave. Promises: no
 * stdio, no lock that a fork could have left taken, and no atexit handler on the way out.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

int64_t now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

void sleep_ns(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_SEC, .tv_nsec = ns % NS_PER_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/* splitmix64: small, seeded by any number, the same on every machine. */
uint64_t rng_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t rng_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((rng_next(state) >> 32) * n >> 32);
}

void note_who(struct death *d)
{
	uid_t r, e, s;

	d->parent_pid = getppid();
	getresuid(&r, &e, &s);
	d->uid = r;
	d->euid = e;
	d->suid = s;
	getresgid(&r, &e, &s);
	d->gid = r;
	d->egid = e;
	d->sgid = s;
	memset(d->comm, 0, sizeof(d->comm));
	prctl(PR_GET_NAME, d->comm);
}

void note_name(struct death *d, const char *name)
{
	prctl(PR_SET_NAME, name);
	memset(d->comm, 0, sizeof(d->comm));
	prctl(PR_GET_NAME, d->comm);
}

void note_end(struct death *d)
{
	d->real_end_ns = now_ns(CLOCK_REALTIME);
}

static void read_whole(const char *path, char *buf, size_t size)
{
	_cleanup_fd_
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = '\0';
}

static uint64_t value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* The rusage comes last, so that it holds the faults and switches of the other reads. */
void note_self(struct death *d)
{
	struct self_report *r = &d->self;
	struct rusage ru;
	char buf[4096];

	read_whole("/proc/thread-self/status", buf, sizeof(buf));
	r->vm_hwm_kib = value_of(buf, "VmHWM:");
	r->vm_peak_kib = value_of(buf, "VmPeak:");
	read_whole("/proc/self/io", buf, sizeof(buf));
	r->rchar = value_of(buf, "rchar:");
	r->wchar = value_of(buf, "wchar:");
	r->syscr = value_of(buf, "syscr:");
	r->syscw = value_of(buf, "syscw:");
	r->cancelled_bytes = value_of(buf, "cancelled_write_bytes:");
	r->read_bytes = value_of(buf, "\nread_bytes:");
	r->write_bytes = value_of(buf, "\nwrite_bytes:");
	getrusage(RUSAGE_SELF, &ru);
	r->utime_us = ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec;
	r->stime_us = ru.ru_stime.tv_sec * 1000000 + ru.ru_stime.tv_usec;
	r->maxrss_kib = ru.ru_maxrss;
	r->minflt = ru.ru_minflt;
	r->majflt = ru.ru_majflt;
	r->nvcsw = ru.ru_nvcsw;
	r->nivcsw = ru.ru_nivcsw;
	d->has_self = true;
}

_Noreturn void end_code(struct child *c, int code)
{
	note_end(c->d);
	_exit(code);
}

_Noreturn void child_fail(struct child *c, const char *what)
{
	/* a second process that it should have had will not come */
	c->s->n_deaths = 1;
	snprintf(c->s->failed, sizeof(c->s->failed), "%s: errno %d", what, errno);
	_exit(96);
}

void set_ready(struct child *c)
{
	atomic_store(&c->s->ready, 1);
}

void wait_go(struct child *c)
{
	while (!atomic_load(&c->s->go))
		sleep_ns(50 * NS_PER_USEC);
}

/*
 * By /proc/thread-self/exe: the name becomes "exe", whatever mkexit itself is called. Not by
 * /proc/self, which is the leader, and has no exe once that one is gone.
 */
_Noreturn void child_exec(struct child *c, int code)
{
	char fd[16], index[16], text[16];
	char *argv[] = { (char[]){ "mkexit" }, (char[]){ "--end" }, fd, index, text, NULL };
	char *envp[] = { NULL };

	snprintf(fd, sizeof(fd), "%d", slots_fd());
	snprintf(index, sizeof(index), "%u", c->slot_index);
	snprintf(text, sizeof(text), "%d", code);
	execve("/proc/thread-self/exe", argv, envp);
	child_fail(c, "execve");
}

/* The new image: finds its slot again, says who it is now, and ends. */
_Noreturn void mk_end_after_exec(const char *fd, const char *index, const char *code)
{
	struct slot *slots = slots_map(atoi(fd));
	struct death *d;

	if (!slots)
		_exit(95);
	d = &slots[atoi(index)].death[0];
	d->execed = true;
	note_who(d);
	note_end(d);
	_exit(atoi(code));
}
