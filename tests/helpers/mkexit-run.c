/* SPDX-License-Identifier: MIT */
/*
 * Runs the cases of mkexit: forks, keeps at most --parallel at once, waits, kills what takes too
 * long, prints. Owns the shared slots and the scratch directory. Leaves no zombie: mkexit is the
 * subreaper of all it starts.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

struct run {
	bool active;
	const struct mk_case *c;
	const char *name;
	uint64_t index;
	int pidfd; /* of the second process, if nobody can wait for it; -1 */
	struct truth truth[MK_MAX_DEATHS];
};

static struct run runs[MK_MAX_PARALLEL];
static struct slot *slots;
static int slots_memfd = -1;
static unsigned int n_active;
static bool failed;

int slots_fd(void)
{
	return slots_memfd;
}

struct slot *slots_map(int fd)
{
	void *map = mmap(NULL, sizeof(struct slot) * MK_MAX_PARALLEL, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

static void on_alarm(int sig)
{
	(void)sig;
}

int run_init(struct mk_options *opt)
{
	/* No SA_RESTART: the tick makes wait4 return, so that what is overdue is seen. */
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval tick = { { 0, 100000 }, { 0, 100000 } };

	slots_memfd = memfd_create("mkexit", 0); /* kept over exec */
	if (slots_memfd < 0 || ftruncate(slots_memfd, sizeof(struct slot) * MK_MAX_PARALLEL) < 0)
		return -errno;
	slots = slots_map(slots_memfd);
	if (!slots)
		return -errno;
	snprintf(opt->dir, sizeof(opt->dir), "/tmp/mkexit.XXXXXX");
	if (!mkdtemp(opt->dir))
		return -errno;
	/* a case may take any id, and must still write its core there */
	chmod(opt->dir, 01777);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	return 0;
}

static void child_begin(const struct mk_options *opt, const struct mk_case *c)
{
	struct rlimit core = { 0, 0 };
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	/* the backstop, should mkexit itself be killed */
	alarm(opt->timeout_s + 5);
	if (c->flags & CASE_CORE) {
		core.rlim_cur = core.rlim_max = RLIM_INFINITY;
		if (chdir(opt->dir) < 0)
			_exit(96);
	}
	setrlimit(RLIMIT_CORE, &core);
}

static _Noreturn void child_main(const struct mk_options *opt, struct run *r)
{
	unsigned int at = (unsigned int)(r - runs);
	struct child c = {
		.opt = opt,
		.s = &slots[at],
		.d = &slots[at].death[0],
		.slot_index = at,
		.index = r->index,
		.rng = opt->seed * UINT64_C(0x100000001b3) + r->index,
		.arg = r->c->arg,
		.text = r->c->text,
	};

	child_begin(opt, r->c);
	r->c->child(&c);
	child_fail(&c, "the case returned");
}

static pid_t start(const struct mk_options *opt, struct run *r)
{
	int code = r->c->arg;
	pid_t pid;

	if (r->c->flags & CASE_VFORK) {
		pid = vfork();
		if (pid == 0)
			_exit(code);
		return pid;
	}
	if (r->c->flags & CASE_NEWPID)
		pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	else
		pid = fork();
	if (pid == 0)
		child_main(opt, r);
	return pid;
}

static bool wait_ready(struct slot *s, pid_t pid, unsigned int timeout_s)
{
	int64_t end = now_ns(CLOCK_MONOTONIC) + timeout_s * NS_PER_SEC;
	siginfo_t info;

	while (!atomic_load(&s->ready) && now_ns(CLOCK_MONOTONIC) < end) {
		info.si_pid = 0;
		if (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) && info.si_pid &&
		    s->n_deaths == 1)
			return false;
		sleep_ns(50 * NS_PER_USEC);
	}
	return true;
}

/* Until the state in /proc/PID/stat is S; the name may hold anything, so the last ')' counts. */
static void wait_asleep(pid_t pid)
{
	char path[32], buf[256], *at;
	unsigned int tries;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (tries = 0; tries < 10000; tries++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);
		close_fd(fd);
		buf[n > 0 ? n : 0] = '\0';
		at = strrchr(buf, ')');
		if (!at || at[2] == 'S')
			return;
		sleep_ns(100 * NS_PER_USEC);
	}
}

static void after_start(const struct mk_options *opt, struct run *r, pid_t pid)
{
	struct slot *s = &slots[r - runs];

	if (r->c->after == AFTER_NOTHING || !wait_ready(s, pid, opt->timeout_s))
		return;
	if (r->c->after == AFTER_GO) {
		if (s->death[1].unwaited)
			r->pidfd = (int)syscall(SYS_pidfd_open, s->death[1].pid, 0);
		atomic_store(&s->go, 1);
		return;
	}
	if (r->c->after == AFTER_KILL_ASLEEP)
		wait_asleep(pid);
	s->death[0].real_end_ns = now_ns(CLOCK_REALTIME);
	kill(pid, SIGKILL);
}

/* All deaths of a run are known: print them and give the slot back. */
static void finish(struct run *r)
{
	struct slot *s = &slots[r - runs];
	unsigned int i;

	for (i = 0; i < s->n_deaths; i++) {
		print_death(r->name, r->index, s, i, &r->truth[i]);
		failed |= r->truth[i].timed_out;
	}
	failed |= s->failed[0] != '\0';
	if (s->failed[0])
		fprintf(stderr, "mkexit: %s: %s\n", r->name, s->failed);
	r->pidfd = close_fd(r->pidfd);
	r->active = false;
	n_active--;
}

static void note_after(struct truth *t)
{
	t->ended = true;
	t->real_after_ns = now_ns(CLOCK_REALTIME);
	t->mono_after_ns = now_ns(CLOCK_MONOTONIC);
}

/*
 * What nobody tells us of: its end is seen by the pidfd, or came before that of the process that we
 * waited for.
 */
static void end_unwaited(const struct mk_options *opt, struct run *r)
{
	struct slot *s = &slots[r - runs];
	struct pollfd p = { .fd = r->pidfd, .events = POLLIN };
	struct truth *t = &r->truth[1];
	int n;

	if (s->n_deaths < 2 || !s->death[1].unwaited || t->ended)
		return;
	if (p.fd >= 0) {
		do
			n = poll(&p, 1, (int)opt->timeout_s * 1000);
		while (n < 0 && errno == EINTR);
		t->timed_out = n != 1;
	}
	t->status = s->death[1].status;
	note_after(t);
}

static void on_dead(const struct mk_options *opt, pid_t pid, int status, const struct rusage *ru)
{
	unsigned int i, k, left;

	for (i = 0; i < MK_MAX_PARALLEL; i++) {
		for (k = 0; runs[i].active && k < slots[i].n_deaths; k++) {
			struct truth *t = &runs[i].truth[k];

			if (slots[i].death[k].pid != pid || t->ended)
				continue;
			t->status = status;
			t->usage = *ru;
			note_after(t);
			end_unwaited(opt, &runs[i]);
			for (left = 0, k = 0; k < slots[i].n_deaths; k++)
				left += !runs[i].truth[k].ended;
			if (!left)
				finish(&runs[i]);
			return;
		}
	}
}

static void kill_overdue(const struct mk_options *opt)
{
	int64_t limit = now_ns(CLOCK_MONOTONIC) - opt->timeout_s * NS_PER_SEC;
	unsigned int i, k;

	for (i = 0; i < MK_MAX_PARALLEL; i++) {
		for (k = 0; runs[i].active && k < slots[i].n_deaths; k++) {
			struct truth *t = &runs[i].truth[k];

			if (t->ended || t->mono_before_ns > limit || slots[i].death[k].unwaited)
				continue;
			t->timed_out = true;
			if (slots[i].death[k].pid > 0)
				kill(slots[i].death[k].pid, SIGKILL);
		}
	}
}

/*
 * Nothing is left to wait for, and yet a run is not done: a second process that never came to be.
 */
static void lost_children(void)
{
	unsigned int i;

	failed = true;
	for (i = 0; i < MK_MAX_PARALLEL; i++)
		if (runs[i].active)
			finish(&runs[i]);
}

static void reap_one(const struct mk_options *opt)
{
	struct rusage ru;
	int status;
	pid_t pid = wait4(-1, &status, 0, &ru);

	if (pid > 0)
		on_dead(opt, pid, status, &ru);
	else if (errno == ECHILD)
		lost_children();
	kill_overdue(opt);
}

static void reap_until(const struct mk_options *opt, unsigned int max_active)
{
	while (n_active > max_active)
		reap_one(opt);
}

static int spawn(const struct mk_options *opt, const struct mk_case *c, const char *name,
		 uint64_t index)
{
	struct run *r = runs;
	struct slot *s;
	struct death *d;
	pid_t pid;

	while (r->active)
		r++;
	s = &slots[r - runs];
	*r = (struct run){ .active = true, .c = c, .name = name, .index = index, .pidfd = -1 };
	memset(s, 0, sizeof(*s));
	s->n_deaths = 1;
	d = &s->death[0];
	note_who(d);
	d->parent_pid = getpid();
	d->threads = 1;
	fflush(stdout);
	n_active++;
	r->truth[0].real_before_ns = now_ns(CLOCK_REALTIME);
	r->truth[0].mono_before_ns = now_ns(CLOCK_MONOTONIC);
	r->truth[1] = r->truth[0];
	pid = start(opt, r);
	if (pid < 0) {
		r->active = false;
		n_active--;
		return -errno;
	}
	atomic_store(&d->pid, pid);
	after_start(opt, r, pid);
	return 0;
}

int run_case(const struct mk_options *opt, const struct mk_case *c, const char *name)
{
	bool alone = c->flags & CASE_ALONE;
	uint64_t i;
	int r;

	for (i = 0; i < opt->count; i++) {
		reap_until(opt, alone ? 0 : opt->parallel - 1);
		prctl(PR_SET_CHILD_SUBREAPER, !alone);
		r = spawn(opt, c, name, i);
		if (r < 0)
			return r;
		if (alone)
			reap_until(opt, 0);
	}
	return 0;
}

static void remove_dir(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

int run_finish(struct mk_options *opt)
{
	reap_until(opt, 0);
	fflush(stdout);
	remove_dir(opt->dir);
	return failed;
}
