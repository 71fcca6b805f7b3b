/* SPDX-License-Identifier: MIT */
/*
 * loader: the load of the benchmark and of the loss tests. vfork + _exit + waitpid, flat out or
 * paced.
 *
 *	loader --count N | --seconds S [--rate R] [--threads T] [--exit-codes]
 *	       [--uid-encode [--uid-base U]] [--log FILE [--no-times]]
 *
 * Prints {"pid":P,"exits":N,"seconds":S,"rate":R,"cpu_us":C}; exits are those of its children.
 * --threads: so many loops side by side; the count and the rate are shared out among them.
 * --exit-codes: the child ends with the low byte of its number, counted from 0 in each loop.
 * --uid-encode: the child takes uid U + number (U is 1,000,000 by default) first, so that its
 *   record names it even where its pid is used again.
 * --log FILE: 16 bytes a child, loop after loop in the order of their ends, host byte order: u32
 *   pid, u32 exit code, i64 CLOCK_REALTIME in ns just before its _exit. With --no-times 8 bytes:
 *   no time, which also spares the child the clock.
 * The pace is kept by absolute sleeps: after a late child the next ones come at once.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#define MAX_LOOPS 64

struct entry {
	uint32_t pid, code;
	int64_t real_ns;
};

struct loop {
	pthread_t thread;
	uint64_t count; /* 0: until the time is over */
	uint64_t rate;	/* 0: flat out */
	uint64_t first; /* number of its first child, for uids */
	uint64_t done;
	struct entry *log;
	uint64_t room; /* entries mapped */
	int error;
};

static struct {
	uint64_t count, rate;
	double seconds;
	unsigned int threads;
	bool exit_codes, uid_encode, no_times;
	uint64_t uid_base;
	const char *log;
} opt = { .threads = 1, .uid_base = 1000000 };

static int64_t end_ns;

static int64_t now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

/*
 * Runs in the child of a vfork, on the parent's memory: it may call nothing that keeps state. By
 * syscall and not by the C library's setresuid, which would tell the parent's other threads to
 * change too.
 */
static _Noreturn void child(struct entry *e, uint64_t number, int code)
{
	if (opt.uid_encode) {
		uint32_t uid = (uint32_t)(opt.uid_base + number);

		syscall(SYS_setresuid, uid, uid, uid);
	}
	if (e && !opt.no_times)
		e->real_ns = now_ns(CLOCK_REALTIME);
	_exit(code);
}

/* Of its own, so that nothing which the loop keeps in registers lives across the vfork. */
static __attribute__((noinline)) pid_t bear(struct entry *e, uint64_t number, int code)
{
	pid_t pid = vfork();

	if (pid == 0)
		child(e, number, code);
	return pid;
}

static void pace(struct loop *l, struct timespec *next)
{
	int64_t step = NS_PER_SEC / (int64_t)l->rate;

	next->tv_nsec += step % NS_PER_SEC;
	next->tv_sec += step / NS_PER_SEC + next->tv_nsec / NS_PER_SEC;
	next->tv_nsec %= NS_PER_SEC;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

/* The clock is asked for every 64th child only. */
static bool finished(const struct loop *l)
{
	if (l->count)
		return l->done >= l->count;
	return (l->rate || l->done % 64 == 0) && now_ns(CLOCK_MONOTONIC) >= end_ns;
}

static void *run(void *arg)
{
	struct loop *l = arg;
	struct timespec next;

	prctl(PR_SET_TIMERSLACK, 1);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (; !finished(l); l->done++) {
		int code = opt.exit_codes ? (int)(l->done & 0xff) : 0;
		struct entry *e = NULL;
		pid_t pid;

		if (l->log && l->done < l->room)
			e = &l->log[l->done];
		if (l->rate)
			pace(l, &next);
		pid = bear(e, l->first + l->done, code);
		if (pid < 0 || waitpid(pid, NULL, __WALL) != pid) {
			l->error = errno;
			break;
		}
		if (e) {
			e->pid = (uint32_t)pid;
			e->code = (uint32_t)code;
		}
	}
	return NULL;
}

static int map_log(struct loop *l)
{
	void *map;

	/* untouched pages cost nothing: room for 100,000 exits/s where the number is not known */
	l->room = l->count ? l->count : (uint64_t)(opt.seconds * 100000) + 1;
	map = mmap(NULL, l->room * sizeof(struct entry), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	l->log = map;
	return 0;
}

static int write_log(const struct loop *loops)
{
	_cleanup_file_
	FILE *f = fopen(opt.log, "we");
	uint64_t i, n;

	if (!f)
		return -errno;
	for (; loops->thread; loops++) {
		n = MIN(loops->done, loops->room);
		for (i = 0; i < n; i++)
			fwrite(&loops->log[i], opt.no_times ? 8 : sizeof(struct entry), 1, f);
	}
	return fflush(f) ? -errno : 0;
}

static void usage(void)
{
	fputs("usage: loader --count N | --seconds S [--rate R] [--threads T] [--exit-codes]\n"
	      "              [--uid-encode] [--uid-base U] [--log FILE] [--no-times]\n",
	      stderr);
	exit(2);
}

static uint64_t to_number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!*text || *end || *text == '-')
		usage();
	return n;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 's' },
		{ "rate", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{ "exit-codes", no_argument, NULL, 'e' },
		{ "uid-encode", no_argument, NULL, 'u' },
		{ "uid-base", required_argument, NULL, 'b' },
		{ "log", required_argument, NULL, 'l' },
		{ "no-times", no_argument, NULL, 'N' },
		{ NULL },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'n')
			opt.count = to_number(optarg);
		else if (c == 's')
			opt.seconds = strtod(optarg, NULL);
		else if (c == 'r')
			opt.rate = to_number(optarg);
		else if (c == 't')
			opt.threads = (unsigned int)to_number(optarg);
		else if (c == 'e')
			opt.exit_codes = true;
		else if (c == 'u')
			opt.uid_encode = true;
		else if (c == 'b')
			opt.uid_base = to_number(optarg);
		else if (c == 'l')
			opt.log = optarg;
		else if (c == 'N')
			opt.no_times = true;
		else
			usage();
	}
	if (optind != argc || !opt.count == !(opt.seconds > 0) || opt.threads < 1 ||
	    opt.threads >= MAX_LOOPS || (opt.count && opt.count < opt.threads))
		usage();
}

static void share_out(struct loop *loops)
{
	uint64_t first = 0;
	unsigned int i;

	for (i = 0; i < opt.threads; i++) {
		loops[i].count = opt.count / opt.threads + (i < opt.count % opt.threads);
		loops[i].rate = opt.rate / opt.threads;
		if (opt.rate && !loops[i].rate)
			loops[i].rate = 1;
		/* without a count, loops are kept a million numbers apart */
		loops[i].first = first;
		first += loops[i].count ? loops[i].count : 1000000;
	}
}

int main(int argc, char **argv)
{
	static struct loop loops[MAX_LOOPS];
	uint64_t exits = 0;
	struct rusage ru;
	int64_t start;
	double seconds;
	unsigned int i;
	int r = 0;

	parse(argc, argv);
	share_out(loops);
	for (i = 0; i < opt.threads && opt.log && !r; i++)
		r = map_log(&loops[i]);
	start = now_ns(CLOCK_MONOTONIC);
	end_ns = start + (int64_t)(opt.seconds * 1e9);
	for (i = 0; i < opt.threads && !r; i++)
		r = -pthread_create(&loops[i].thread, NULL, run, &loops[i]);
	for (i = 0; i < opt.threads && loops[i].thread; i++) {
		pthread_join(loops[i].thread, NULL);
		exits += loops[i].done;
		r = r ? r : -loops[i].error;
	}
	seconds = (double)(now_ns(CLOCK_MONOTONIC) - start) / 1e9;
	getrusage(RUSAGE_SELF, &ru);
	if (opt.log && !r)
		r = write_log(loops);
	if (r)
		fprintf(stderr, "loader: %s\n", strerror(-r));
	printf("{\"pid\":%d,\"exits\":%" PRIu64
	       ",\"seconds\":%.6f,\"rate\":%.0f,\"cpu_us\":%" PRId64 "}\n",
	       getpid(), exits, seconds, (double)exits / seconds,
	       (int64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 + ru.ru_utime.tv_usec +
		       ru.ru_stime.tv_usec);
	return r ? 1 : 0;
}
