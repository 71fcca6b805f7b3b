/* SPDX-License-Identifier: MIT */
/*
 * The proof that records arrive: a child ends on each CPU, and its record is awaited before the start record is put
 * out. What comes in meanwhile is held back and passed on behind it. When waitpid(2) returns, the kernel has already
 * queued the child's record (kernel/exit.c: do_exit()).
 */
#include "lib/engine.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/util.h"

#define SELFTEST_SECONDS 2
#define CHILD_MS 200

static int move_to(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int r;

	if (!set)
		return -1;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	r = sched_setaffinity(0, size, set);
	CPU_FREE(set);
	return r;
}

/*
 * A program of real-time priority may keep a CPU for itself for ever, and a child that moved there would never end. After
 * a while it is called back to where it can.
 */
static void call_back(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	cpu_set_t all[8]; /* 8,192 CPUs */

	if (p.fd < 0)
		return; /* before Linux 5.3 */
	memset(all, 0xff, sizeof(all));
	if (!poll(&p, 1, CHILD_MS))
		sched_setaffinity(pid, sizeof(all), all);
	close(p.fd);
}

/*
 * Returns the pid. A cpuset, or a CPU that is off, may keep it from moving; it then ends where it is. Where SIGCHLD is
 * ignored there is no status to be had, and ECHILD tells of the end.
 */
static int32_t selftest_child(int cpu)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(move_to(cpu));
	call_back(pid);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno == ECHILD ? pid : -errno;
	return pid;
}

/* Frames read while the self-test runs; they are passed on behind the start record. */
struct held {
	struct exeunt *x;
	unsigned char *data;
	size_t len, size;
	int32_t *children, *waiting; /* pids; of the second, those whose record has come are 0 */
	int n_children;
};

static int hold_bytes(struct held *h, const void *data, size_t len)
{
	if (h->len + len > h->size) {
		size_t size = MAX(h->size * 2, h->len + len + 65536);
		unsigned char *grown = realloc(h->data, size);

		if (!grown)
			return -ENOMEM;
		h->data = grown;
		h->size = size;
	}
	if (len)
		memcpy(h->data + h->len, data, len);
	h->len += len;
	return 0;
}

static int hold_frame(const struct frame *f, void *userdata)
{
	struct held *h = userdata;
	struct task_exit task;
	size_t used;
	int r = hold_bytes(h, f, sizeof(*f));

	if (r >= 0)
		r = hold_bytes(h, f->data, f->len);
	if (r < 0)
		return r;
	if (f->kind != FRAME_DATA || taskstats_decode(f->data, f->len, false, &task, &used) <= 0)
		return 0;
	h->x->intake.versions[EXEUNT_SOURCE_TASKSTATS] = task.version;
	for (int i = 0; i < h->n_children; i++)
		if (h->waiting[i] == task.pid)
			h->waiting[i] = 0;
	return 0;
}

static int release_held(struct held *h)
{
	size_t at = 0;
	int r = 0;

	while (at < h->len && r >= 0) {
		struct frame f;

		memcpy(&f, h->data + at, sizeof(f));
		at += sizeof(f);
		f.data = h->data + at;
		at += f.len;
		r = engine_frame(&f, h->x);
	}
	return r;
}

static int announce_child(struct exeunt *x, int32_t pid)
{
	struct frame f = {
		.source = EXEUNT_SOURCE_TASKSTATS,
		.kind = FRAME_SELFTEST,
		.channel = -1,
		.mono_ns = mono_now(),
		.real_ns = real_now(),
		.data = &pid,
		.len = sizeof(pid),
	};

	f.since_ns = f.mono_ns;
	return engine_frame(&f, x);
}

/* Just before their records are passed on: it takes half a second until there was one on each of 1,024 CPUs. */
static int announce_children(struct held *h)
{
	int r = 0;

	for (int i = 0; i < h->n_children && r >= 0; i++)
		r = announce_child(h->x, h->children[i]);
	return r;
}

static int fork_children(struct exeunt *x, struct held *h)
{
	int n = (int)x->status[EXEUNT_SOURCE_TASKSTATS].sockets;

	h->children = calloc((size_t)n, 2 * sizeof(*h->children));
	if (!h->children)
		return -ENOMEM;
	h->waiting = h->children + n;
	for (int cpu = 0; cpu < n; cpu++) {
		int32_t pid = selftest_child(cpu);

		if (pid < 0)
			return engine_fail(x, pid, "the self-test cannot fork a child: %s",
					   strerror(-pid));
		h->children[cpu] = h->waiting[cpu] = pid;
		h->n_children++;
	}
	return 0;
}

static int count_waiting(const struct held *h)
{
	int n = 0;

	for (int i = 0; i < h->n_children; i++)
		n += h->waiting[i] != 0;
	return n;
}

/* The records are queued when the children have been reaped; the time allowed is for a kernel that is not as we know. */
static int await_children(struct exeunt *x, struct held *h)
{
	struct source *s = x->sources[EXEUNT_SOURCE_TASKSTATS];
	int64_t until = mono_now() + SELFTEST_SECONDS * NS_PER_SEC;
	struct pollfd p = { .fd = s->ops->fd(s), .events = POLLIN };

	for (;;) {
		bool more = false;
		int r = s->ops->drain(s, false, hold_frame, h, &more);
		int64_t left = (until - mono_now()) / NS_PER_MSEC;

		if (r < 0 || !count_waiting(h))
			return r;
		if (left <= 0)
			return -ETIME;
		poll(&p, 1, (int)left);
	}
}

static int selftest_failed(struct exeunt *x, const struct held *h, int error)
{
	struct exeunt_source_status *st = &x->status[EXEUNT_SOURCE_TASKSTATS];

	if (error != -ETIME)
		return error;
	st->state = EXEUNT_STATE_FAILED;
	st->error = ETIME;
	st->reason =
		"taskstats took the registration, but the exit of a test process never arrived";
	st->remedy = "run exeunt in the host's own network namespace";
	return engine_fail(x, -ETIME, "%s (%d of %d CPUs)", st->reason, count_waiting(h),
			   h->n_children);
}

static int start_taskstats(struct exeunt *x, struct held *h)
{
	int r;

	if (!x->sources[EXEUNT_SOURCE_TASKSTATS] || x->options.selftest_off)
		return 0;
	r = fork_children(x, h);
	if (r >= 0)
		r = await_children(x, h);
	x->status[EXEUNT_SOURCE_TASKSTATS].tested = r >= 0;
	return r < 0 ? selftest_failed(x, h, r) : 0;
}

int selftest_run(struct exeunt *x, int (*announce)(struct exeunt *x))
{
	struct held h = { .x = x };
	int r = start_taskstats(x, &h);

	if (r >= 0)
		r = announce_children(&h);
	if (r >= 0)
		r = announce(x);
	if (r >= 0)
		r = release_held(&h);
	free(h.data);
	free(h.children);
	return r;
}
