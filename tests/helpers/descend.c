/* SPDX-License-Identifier: MIT */
/*
 * descend: a family that exeunt has to know. Takes a login uid and a control group, and then has
 * short-lived descendants at a steady pace; tells of each what should be known of it.
 *
 *	descend COUNT RATE LOGINUID GROUP-PROCS PROGRAM
 *
 * Of ten rounds seven are children that run PROGRAM --n NUMBER token=secretNUMBER, two children
 * that only fork, and one a child that has a child that runs PROGRAM. LOGINUID and GROUP-PROCS (a
 * file "cgroup.procs") may be "-".
 *
 * Prints a JSON line for each descendant, and one for itself: what it is, the pace it kept, and how
 * often it woke late, which tells whether the machine had time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

#define LATE_NS (200 * NS_PER_USEC)

static const char *program;
static pid_t *grandchild; /* shared */

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "descend: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Returns 0, or the error. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), error = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		error = errno;
	close_fd(fd);
	return error;
}

static unsigned long get(const char *path)
{
	char text[32] = { 0 };
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close_fd(fd);
	return n > 0 ? strtoul(text, NULL, 10) : UINT32_MAX;
}

static void run(const char *number, const char *token)
{
	execl(program, "true", "--n", number, token, (char *)NULL);
	_exit(127);
}

static void tell(const char *kind, pid_t pid, pid_t parent, unsigned long n)
{
	printf("{\"case\":\"%s\",\"role\":\"descendant\",\"pid\":%d,\"parent_pid\":%d,\"n\":%lu,"
	       "\"real_after_ns\":%" PRId64 "}\n",
	       kind, pid, parent, n, real_now());
}

static void have_child(unsigned long n)
{
	char number[24], token[32];
	bool has_child = n % 10 == 9, only_forks = n % 10 == 3 || n % 10 == 6;
	pid_t pid, parent = getpid();
	int status;

	snprintf(number, sizeof(number), "%lu", n);
	snprintf(token, sizeof(token), "token=secret%lu", n);
	pid = only_forks || has_child ? fork() : vfork();
	must(pid >= 0, "fork");
	if (!pid) {
		if (only_forks)
			_exit(0);
		if (!has_child)
			run(number, token);
		pid = vfork();
		if (!pid)
			run(number, token);
		*grandchild = pid;
		_exit(waitpid(pid, &status, 0) != pid || status);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "a child failed");
	tell(only_forks ? "fork" : has_child ? "parent" : "exec", pid, parent, n);
	if (has_child)
		tell("exec", *grandchild, pid, n);
}

/* Returns whether it woke late. */
static bool sleep_until(int64_t at_ns)
{
	struct timespec at = { at_ns / NS_PER_SEC, at_ns % NS_PER_SEC };

	if (mono_now() >= at_ns)
		return false;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
	return mono_now() - at_ns > LATE_NS;
}

int main(int argc, char **argv)
{
	unsigned long count, rate, late = 0;
	int64_t begin;
	int login = 0;

	must(argc == 6, "usage: COUNT RATE LOGINUID GROUP-PROCS PROGRAM");
	count = strtoul(argv[1], NULL, 10);
	rate = strtoul(argv[2], NULL, 10);
	program = argv[5];
	must(rate > 0, "RATE");
	grandchild = mmap(NULL, sizeof(*grandchild), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(grandchild != MAP_FAILED, "mmap");
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	if (strcmp(argv[3], "-"))
		login = put("/proc/self/loginuid", argv[3]);
	if (strcmp(argv[4], "-"))
		must(!put(argv[4], "0"), argv[4]);
	begin = mono_now();
	for (unsigned long n = 0; n < count; n++) {
		late += sleep_until(begin + (int64_t)(n * (uint64_t)NS_PER_SEC / rate));
		have_child(n);
		/* a forked child must find nothing to write again */
		if (n % 1000 == 999)
			fflush(stdout);
	}
	printf("{\"case\":\"self\",\"pid\":%d,\"login_error\":%d,\"login_uid\":%lu,\"session\":%lu,"
	       "\"seconds\":%.3f,\"late\":%lu}\n",
	       getpid(), login, get("/proc/self/loginuid"), get("/proc/self/sessionid"),
	       (double)(mono_now() - begin) / (double)NS_PER_SEC, late);
	return 0;
}
