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
#include "source/audit.h"

#define NAP_NS (5 * NS_PER_MSEC)
/* auditd waits for us when 170 records are not read; it writes up to 60,000 a second. */
#define NAP_TEXT_NS NS_PER_MSEC
#define WAKES 4
#define CHECK_NS (250 * NS_PER_MSEC)
#define OVERDUE_NS NS_PER_SEC
/* After a loss living processes are looked at so often: a zombie of then lives until it is reaped. */
#define SWEEP_NS (5 * NS_PER_SEC)

/*
 * While the sources are left alone, the proc connector is still read at once, for what an EXEC says has to be looked up in
 * /proc before the program ends; but not above this many EXECs in one nap, where all that could be won is lost again.
 */
#define PROMPT_EXECS 20
#define BOOT_OFFSET_NS (5 * NS_PER_SEC)

static int add(int epoll_fd, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int loop_init(struct exeunt *x)
{
	struct engine_loop *l = &x->loop;

	l->nap_ns = NAP_NS;
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

void loop_nap_short(struct exeunt *x)
{
	x->loop.nap_ns = NAP_TEXT_NS;
}

int loop_watch(struct exeunt *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++) {
		struct source *s = source_in_use(x, (enum exeunt_source)i);
		int r = s ? add(x->loop.epoll_fd, s->ops->fd(s), s) : 0;

		if (r < 0 && r != -EEXIST)
			return r;
	}
	x->loop.sleeping = false;
	return 0;
}

void loop_unwatch(const struct exeunt *x, enum exeunt_source source)
{
	const struct source *s = x->sources[source];

	if (s)
		epoll_ctl(x->loop.epoll_fd, EPOLL_CTL_DEL, s->ops->fd(s), NULL);
}

static void begin_naps(struct exeunt *x)
{
	for (int i = 0; i < EXEUNT_SOURCE_OUTPUT; i++)
		if (i != EXEUNT_SOURCE_PROCEVENTS)
			loop_unwatch(x, (enum exeunt_source)i);
	x->loop.sleeping = x->loop.prompt = true;
	x->loop.execs = x->intake.execs;
}

/* After a nap: too many EXECs to be read one by one, or few enough again? */
static void judge_prompt(struct exeunt *x)
{
	struct source *s = source_in_use(x, EXEUNT_SOURCE_PROCEVENTS);
	bool prompt = x->intake.execs - x->loop.execs <= PROMPT_EXECS;

	x->loop.execs = x->intake.execs;
	if (!s || prompt == x->loop.prompt)
		return;
	x->loop.prompt = prompt;
	if (prompt)
		add(x->loop.epoll_fd, s->ops->fd(s), s);
	else
		loop_unwatch(x, EXEUNT_SOURCE_PROCEVENTS);
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
	const struct engine_loop *l = &x->loop;
	int64_t at = INT64_MAX, deadline = join_deadline(x->joiner);

	if (x->loop.sleeping)
		return now + l->nap_ns;
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

static bool is_alive(int32_t tgid)
{
	return !kill(tgid, 0) || errno != ESRCH;
}

static void tick_context(struct exeunt *x, int64_t now)
{
	if (!x->context)
		return;
	context_tick(x->context, now);
	if (now < x->loop.boot_offset_at_ns)
		return;
	context_set_boot_offset(x->context, clock_ns(CLOCK_BOOTTIME) - mono_now());
	x->loop.boot_offset_at_ns = now + BOOT_OFFSET_NS;
}

/* What was lost may have been the end of a process of which threads are kept. */
static void sweep(struct exeunt *x, int64_t now)
{
	struct frame f = { .mono_ns = now, .since_ns = now, .real_ns = real_now() };

	if (!x->intake.lost_since_sweep && now < x->loop.sweep_at_ns)
		return;
	x->intake.lost_since_sweep = join_sweep(x->joiner, is_alive, &f);
	x->loop.sweep_at_ns = now + SWEEP_NS;
}

/* Something waits for a later look, though nothing more may come that wakes us. */
static bool is_unsettled(const struct exeunt *x)
{
	const struct source *audit = source_in_use(x, EXEUNT_SOURCE_AUDIT);
	struct exeunt_balance b;

	exeunt_balance(x, &b);
	return x->intake.lost_since_sweep || b.pending || !intake_is_settled(&x->intake) ||
	       (audit && audit_is_unsettled(audit));
}

static int look_around(struct exeunt *x, int64_t now)
{
	int r = check_sources(x);

	if (r < 0)
		return r;
	if (ledger_balance(x->ledger)->lost)
		sweep(x, now);
	engine_judge_audit(x, now);
	tick_context(x, now);
	engine_remember(x);
	x->loop.check_at_ns = is_unsettled(x) ? now + CHECK_NS : 0;
	return 0;
}

static int do_timed(struct exeunt *x, int64_t now, bool more)
{
	struct engine_loop *l = &x->loop;

	/* best when the queues were read empty; but who cannot keep up shall learn of it */
	if (l->check_at_ns && now >= l->check_at_ns + (more ? OVERDUE_NS : 0)) {
		int r = look_around(x, now);

		if (r < 0)
			return r;
	}
	if (l->status_at_ns && now >= l->status_at_ns) {
		l->status_at_ns = now + x->options.status_seconds * NS_PER_SEC;
		engine_emit_status(x, EXEUNT_TYPE_STATUS);
	}
	return 0;
}

/* What woke us: sources, and whether a nap is over. */
struct woken {
	bool sources, proc_connector, timer;
};

static int look(struct exeunt *x, struct woken *w)
{
	struct epoll_event events[EXEUNT_SOURCE_COUNT + 1];
	int n = epoll_wait(x->loop.epoll_fd, events, ARRAY_SIZE(events), 0);
	uint64_t ticks;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		if (!events[i].data.ptr) {
			w->timer = read(x->loop.timer_fd, &ticks, sizeof(ticks)) > 0;
			x->loop.timer_at_ns = 0;
		} else if (events[i].data.ptr == x->sources[EXEUNT_SOURCE_PROCEVENTS]) {
			w->proc_connector = true;
		} else {
			w->sources = true;
		}
	}
	return 0;
}

static int change_mode(struct exeunt *x, const struct woken *w, int total, bool more, int64_t now)
{
	struct engine_loop *l = &x->loop;

	if (l->sleeping && total < WAKES && !more) {
		memset(l->wakes, 0, sizeof(l->wakes));
		return loop_watch(x);
	}
	if (l->sleeping)
		judge_prompt(x);
	else if (w->sources && total && woken_often(l, now))
		begin_naps(x);
	return 0;
}

/* An EXEC cannot wait; ends can, until they wake us or the nap is over. */
static int take_execs(struct exeunt *x)
{
	bool more = false;
	int r = drain_source(x, EXEUNT_SOURCE_PROCEVENTS, true, &more);
	int64_t now;

	if (r < 0 || x->loop.sleeping)
		return MIN(r, 0);
	now = mono_now();
	if (!x->loop.check_at_ns)
		x->loop.check_at_ns = now + CHECK_NS;
	set_timer(&x->loop, more ? now + 1 : next_time(x, now));
	return 0;
}

int loop_dispatch(struct exeunt *x)
{
	struct engine_loop *l = &x->loop;
	struct woken w = { 0 };
	bool more = false;
	int total, r = look(x, &w);
	int64_t now;

	if (r < 0)
		return r;
	if (w.proc_connector && !w.timer && (l->sleeping || !w.sources))
		return take_execs(x);
	/* first of all what cannot wait, and again behind the ends, see drain.c */
	r = w.proc_connector ? drain_source(x, EXEUNT_SOURCE_PROCEVENTS, !l->sleeping, &more) : 0;
	if (r < 0)
		return r;
	total = drain_sources(x, (w.sources || w.proc_connector) && !l->sleeping, &more);
	if (total < 0)
		return total;
	now = mono_now();
	if ((total || w.proc_connector) && !l->check_at_ns)
		l->check_at_ns = now + CHECK_NS;
	r = change_mode(x, &w, total, more, now);
	if (r >= 0)
		r = do_timed(x, now, more);
	if (r < 0)
		return r;
	set_timer(l, more ? now + 1 : next_time(x, now));
	return 0;
}
