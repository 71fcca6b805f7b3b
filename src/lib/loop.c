/* SPDX-License-Identifier: MIT */
/*
 * When the sources are read. Being woken for each exit costs several times what reading it in a batch costs, and
 * waiting costs latency; so on a quiet host every event is read at once, and as soon as WAKES of them come within
 * NAP_NS the sources are left alone for NAP_NS at a time, for as long as each nap brings that many.
 */
#include "lib/engine.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/util.h"

#define NAP_NS (5 * NS_PER_MSEC)
#define WAKES 4
#define CHECK_NS (250 * NS_PER_MSEC)

static int add(int epoll_fd, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int loop_init(struct exeunt *x)
{
	struct engine_loop *l = &x->loop;

	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (l->epoll_fd < 0 || l->timer_fd < 0)
		return -errno;
	return add(l->epoll_fd, l->timer_fd, NULL);
}

void loop_done(struct exeunt *x)
{
	close_fd(x->loop.timer_fd);
	close_fd(x->loop.epoll_fd);
}

int loop_watch(struct exeunt *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++) {
		struct source *s = x->sources[i];
		int r = s ? add(x->loop.epoll_fd, s->ops->fd(s), s) : 0;

		if (r < 0)
			return r;
	}
	x->loop.sleeping = false;
	return 0;
}

static void unwatch(struct exeunt *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++)
		if (x->sources[i])
			epoll_ctl(x->loop.epoll_fd, EPOLL_CTL_DEL,
				  x->sources[i]->ops->fd(x->sources[i]), NULL);
}

static void set_timer(struct engine_loop *l, int64_t at_ns)
{
	struct itimerspec spec = { .it_value = { at_ns / NS_PER_SEC, at_ns % NS_PER_SEC } };

	if (l->timer_at_ns == at_ns)
		return;
	l->timer_at_ns = at_ns;
	timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* The earliest of what has to be done at a time; 0: nothing, and we sleep until an exit wakes us. */
static int64_t next_time(const struct exeunt *x, int64_t now)
{
	int64_t at = INT64_MAX, deadline = join_deadline(x->joiner);

	if (x->loop.sleeping)
		return now + NAP_NS;
	if (x->loop.check_at_ns)
		at = x->loop.check_at_ns;
	if (x->loop.status_at_ns)
		at = MIN(at, x->loop.status_at_ns);
	at = MIN(at, deadline);
	return at == INT64_MAX ? 0 : MAX(at, now + 1);
}

/* Four wakes within a nap's time: naps are cheaper. */
static bool woken_often(struct engine_loop *l, int64_t now)
{
	int64_t fourth = l->wakes[l->next_wake];

	l->wakes[l->next_wake] = now;
	l->next_wake = (l->next_wake + 1) % WAKES;
	return fourth && now - fourth < NAP_NS;
}

static int drain(struct exeunt *x, bool woken, bool *more)
{
	int total = 0;

	*more = false;
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++) {
		struct source *s = x->sources[i];
		bool again = false;
		int r = s ? s->ops->drain(s, woken, engine_frame, x, &again) : 0;

		if (r < 0)
			return engine_fail(x, r, "reading from %s failed: %s",
					   exeunt_source_name(s->ops->id), strerror(-r));
		total += r;
		*more |= again;
	}
	return total;
}

static bool is_alive(int32_t tgid)
{
	return !kill(tgid, 0) || errno != ESRCH;
}

static int check(struct exeunt *x)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(x->sources) && r >= 0; i++)
		if (x->sources[i])
			r = x->sources[i]->ops->check(x->sources[i], engine_frame, x);
	intake_settle(&x->intake);
	return r;
}

/* What was lost may have been the end of a process of which threads are kept. */
static void sweep(struct exeunt *x, int64_t now)
{
	struct frame f = { .mono_ns = now, .since_ns = now, .real_ns = real_now() };

	if (x->intake.lost_since_sweep)
		x->intake.lost_since_sweep = join_sweep(x->joiner, is_alive, &f);
}

static int do_timed(struct exeunt *x, int64_t now, bool more)
{
	struct engine_loop *l = &x->loop;

	if (l->check_at_ns && now >= l->check_at_ns && !more) {
		int r = check(x);

		if (r < 0)
			return r;
		sweep(x, now);
		l->check_at_ns = x->intake.lost_since_sweep ? now + CHECK_NS : 0;
	}
	if (l->status_at_ns && now >= l->status_at_ns) {
		l->status_at_ns = now + x->options.status_seconds * NS_PER_SEC;
		engine_emit_status(x, EXEUNT_TYPE_STATUS);
	}
	return 0;
}

int loop_dispatch(struct exeunt *x)
{
	struct engine_loop *l = &x->loop;
	struct epoll_event events[EXEUNT_SOURCE_COUNT + 1];
	int n = epoll_wait(l->epoll_fd, events, ARRAY_SIZE(events), 0), total, r;
	bool woken = false, more;
	int64_t now;
	uint64_t ticks;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			woken = true;
		else if (read(l->timer_fd, &ticks, sizeof(ticks)) > 0)
			l->timer_at_ns = 0;
	}
	total = drain(x, woken && !l->sleeping, &more);
	if (total < 0)
		return total;
	now = mono_now();
	if (total && !l->check_at_ns)
		l->check_at_ns = now + CHECK_NS;
	if (l->sleeping && total < WAKES && !more) {
		memset(l->wakes, 0, sizeof(l->wakes));
		r = loop_watch(x);
		if (r < 0)
			return r;
	} else if (!l->sleeping && woken && total && woken_often(l, now)) {
		unwatch(x);
		l->sleeping = true;
	}
	r = do_timed(x, now, more);
	if (r < 0)
		return r;
	set_timer(l, more ? now + 1 : next_time(x, now));
	return 0;
}

int loop_drain_all(struct exeunt *x)
{
	bool more;
	int r;

	do {
		r = drain(x, false, &more);
		if (r < 0)
			return r;
	} while (more);
	return check(x);
}
