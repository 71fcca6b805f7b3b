/* SPDX-License-Identifier: MIT */
/*
 * The usage case of mkexit: a known amount of CPU, reading, writing, page faults and switches,
 * spread evenly over the threads, so that a sum over threads is needed to find it; then the
 * process's own view of it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

static struct {
	struct child *c;
	pthread_t thread[MK_MAX_THREADS];
	_Atomic uint64_t read_bytes, write_bytes, read_calls, write_calls;
} work;

/* Alternates between its own code and the kernel's, until this thread used `ms` of CPU. */
static void burn(unsigned int ms)
{
	int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * NS_PER_MSEC;
	int64_t half = end - ms * NS_PER_MSEC / 2;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < half)
		for (unsigned int i = 0; i < 10000; i++)
			__asm__ volatile("" ::: "memory");
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (unsigned int i = 0; i < 200; i++)
			syscall(SYS_getppid);
}

static void copy(unsigned int read_kib, unsigned int write_kib)
{
	_cleanup_fd_
	int in = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	_cleanup_fd_
	int out = open(work.c->opt->dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char buf[1024];
	ssize_t n;

	memset(buf, 'x', sizeof(buf));
	for (; in >= 0 && read_kib; read_kib--) {
		n = read(in, buf, sizeof(buf));
		atomic_fetch_add(&work.read_calls, 1);
		atomic_fetch_add(&work.read_bytes, n > 0 ? (uint64_t)n : 0);
	}
	for (; out >= 0 && write_kib; write_kib--) {
		n = write(out, buf, sizeof(buf));
		atomic_fetch_add(&work.write_calls, 1);
		atomic_fetch_add(&work.write_bytes, n > 0 ? (uint64_t)n : 0);
	}
}

static void touch(unsigned int pages)
{
	size_t size = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
	char *map;

	if (!pages)
		return;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return;
	/* a huge page would be one fault */
	madvise(map, size, MADV_NOHUGEPAGE);
	memset(map, 1, size);
	munmap(map, size);
}

static void share(void)
{
	const struct mk_options *o = work.c->opt;
	unsigned int i, n = o->threads;

	burn(o->cpu_ms / n);
	copy(o->read_kib / n, o->write_kib / n);
	touch(o->fault_pages / n);
	for (i = 0; i < o->sleeps / n; i++)
		sleep_ns(100 * NS_PER_USEC);
	for (i = 0; i < o->yields / n; i++)
		sched_yield();
}

static void report(void)
{
	struct death *d = work.c->d;

	d->did_read_bytes = work.read_bytes;
	d->did_write_bytes = work.write_bytes;
	d->did_read_calls = work.read_calls;
	d->did_write_calls = work.write_calls;
	note_self(d);
}

static void *worker(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "usage-worker");
	share();
	return NULL;
}

/* The last to live, when the leader went first. */
static void *heir(void *arg)
{
	unsigned int i;

	(void)arg;
	prctl(PR_SET_NAME, "usage-heir");
	share();
	for (i = 2; i < work.c->opt->threads; i++)
		pthread_join(work.thread[i], NULL);
	pthread_join(work.thread[0], NULL);
	report();
	end_code(work.c, 5);
}

/* arg 0: the leader reports and ends the process; 1: it leaves first and a worker does. */
void child_usage(struct child *c)
{
	unsigned int i, n = c->opt->threads;
	bool leave = c->arg == 1 && n > 1;

	work.c = c;
	c->d->threads = n;
	work.thread[0] = pthread_self();
	for (i = 2; i < n; i++)
		if (pthread_create(&work.thread[i], NULL, worker, NULL))
			child_fail(c, "pthread_create");
	if (n > 1 && pthread_create(&work.thread[1], NULL, leave ? heir : worker, NULL))
		child_fail(c, "pthread_create");
	share();
	if (leave)
		pthread_exit(NULL);
	for (i = 1; i < n; i++)
		pthread_join(work.thread[i], NULL);
	report();
	end_code(c, 0);
}
