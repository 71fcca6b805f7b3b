/* SPDX-License-Identifier: MIT */
/*
 * When the engine is to look at the accounting files. The kernel's writes can be waited for
 * (inotify), but being woken for each exit costs more than reading it; so while records come one
 * upon another a timer of 10 ms wakes us instead. A slow timer stays for what nobody tells of:
 * rotation, and accounting that stands still.
 */
#include "source/pacct_internal.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/util.h"

#define BUSY_NS (10 * NS_PER_MSEC)
#define IDLE_NS (250 * NS_PER_MSEC)
#define OFTEN_NS (20 * NS_PER_MSEC) /* two changes within that: busy */

static void set_timer(const struct pacct_wake *w, int64_t ns)
{
	const struct timespec t = { .tv_nsec = ns };
	const struct itimerspec spec = { .it_interval = t, .it_value = t };

	timerfd_settime(w->timer_fd, 0, &spec, NULL);
}

static int watch_changes(const struct pacct_wake *w, int op, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN : 0, .data.fd = w->inotify_fd };

	return epoll_ctl(w->epoll_fd, op, w->inotify_fd, &event) ? -errno : 0;
}

int pacct_wake_init(struct pacct_source *s)
{
	struct pacct_wake *w = &s->wake;
	struct epoll_event event = { .events = EPOLLIN };

	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	w->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->epoll_fd < 0 || w->timer_fd < 0)
		return -errno;
	event.data.fd = w->timer_fd;
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->timer_fd, &event))
		return -errno;
	/*
	 * The number of inotify instances of a user is bounded; without one the timer has to do,
	 * always fast.
	 */
	if (w->inotify_fd < 0)
		w->busy = true;
	else
		watch_changes(w, EPOLL_CTL_ADD, true);
	set_timer(w, w->busy ? BUSY_NS : IDLE_NS);
	return 0;
}

void pacct_wake_done(struct pacct_source *s)
{
	close_fd(s->wake.inotify_fd);
	close_fd(s->wake.timer_fd);
	close_fd(s->wake.epoll_fd);
}

static bool take_changes(const struct pacct_wake *w)
{
	char buf[4096] __attribute__((aligned(8)));
	bool any = false;

	while (read(w->inotify_fd, buf, sizeof(buf)) > 0)
		any = true;
	return any;
}

static void become_busy(struct pacct_wake *w)
{
	w->busy = w->came = true;
	watch_changes(w, EPOLL_CTL_MOD, false);
	set_timer(w, BUSY_NS);
}

/* What changes from here on wakes us again; what is there already is read after this. */
static void become_idle(struct pacct_wake *w)
{
	if (w->inotify_fd < 0)
		return;
	w->busy = false;
	take_changes(w);
	watch_changes(w, EPOLL_CTL_MOD, true);
	set_timer(w, IDLE_NS);
}

static void changed(struct pacct_wake *w, int64_t now)
{
	if (!take_changes(w) || w->busy)
		return;
	if (now - w->woken_ns < OFTEN_NS)
		become_busy(w);
	w->woken_ns = now;
}

void pacct_wake_woken(struct pacct_source *s, int64_t now)
{
	struct pacct_wake *w = &s->wake;
	struct epoll_event events[2];
	int n = epoll_wait(w->epoll_fd, events, ARRAY_SIZE(events), 0);
	uint64_t ticks;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd != w->timer_fd) {
			changed(w, now);
		} else if (read(w->timer_fd, &ticks, sizeof(ticks)) > 0) {
			if (w->busy && !w->came)
				become_idle(w);
			w->came = false;
		}
	}
}

/* By descriptor, for the name may already be that of another file. */
static void watch_files(struct pacct_source *s)
{
	struct pacct_wake *w = &s->wake;
	int fds[ARRAY_SIZE(w->watches)];
	unsigned int n = pacct_follow_fds(s->follow, fds, ARRAY_SIZE(fds));
	char link[32];

	for (unsigned int i = 0; i < w->n_watches; i++)
		inotify_rm_watch(w->inotify_fd, w->watches[i]);
	w->n_watches = 0;
	for (unsigned int i = 0; i < n; i++) {
		int wd;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fds[i]);
		wd = inotify_add_watch(w->inotify_fd, link, IN_MODIFY | IN_MOVE_SELF | IN_ATTRIB);
		if (wd >= 0)
			w->watches[w->n_watches++] = wd;
	}
}

void pacct_wake_read(struct pacct_source *s)
{
	struct pacct_wake *w = &s->wake;

	if (w->inotify_fd < 0 || w->watched == pacct_follow_changes(s->follow) + 1)
		return;
	w->watched = pacct_follow_changes(s->follow) + 1;
	watch_files(s);
}
