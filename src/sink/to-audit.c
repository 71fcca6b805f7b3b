/* SPDX-License-Identifier: MIT */
/*
 * audit: each record as an audit record of type TRUSTED_APP, by way of the kernel, for the auditd that runs and so for every
 * plugin that it has, and for its log. How it looks: audit-line.h. Who sends it, and when it is not sent: audit-courier.h.
 *
 * Each record costs auditd and all its plugins, so there is a rate. What waits because audit cannot take it is kept as far as
 * the buffer goes. The kernel does not tell whether a record arrived: where audit was switched off, or its owner died, all that
 * was sent since the last time that all was seen to have been read counts as lost, and that loss is not exact.
 */
#include <sys/epoll.h>

#include <poll.h>

#include "base/clock.h"
#include "sink/audit-courier.h"
#include "sink/audit-line.h"
#include "sink/feed.h"
#include "sink/output.h"
#include "sink/rate.h"
#include "sink/sink.h"
#include "sink/table.h"

#define RATE 200
#define BUFFER (1024 * 1024)
#define START_MS 2000
#define TELL_BACKLOG_NS \
	(60 * NS_PER_SEC) /* a reader that is slow now and then is told of no more often */

struct audit_sink {
	struct sink sink;
	struct feed feed;
	struct rate rate;
	struct output *output;
	struct courier courier;
	struct courier_report report;
	int epoll_fd;
	bool behind, ending, gone, told;
	uint32_t state; /* as last told */
	int64_t backlog_told_ns;
};

static struct audit_sink *of(struct sink *s)
{
	return (struct audit_sink *)s;
}

static void audit_sink_free(struct sink *s)
{
	struct audit_sink *a = of(s);

	courier_stop(&a->courier);
	output_free(a->output);
	close_fd(a->epoll_fd);
	free(a);
}

static int write_text(void *format, const struct exeunt_record *r, struct output *o)
{
	size_t bound = audit_text_bound(r), len;
	char *p = output_reserve(o, bound + 1);

	(void)format;
	if (!p)
		return 1;
	len = audit_text(r, p, bound);
	p[len++] = '\n';
	output_commit(o, len);
	return 0;
}

/* Until its first word, so that what can never work is an error now. */
static int hear(struct audit_sink *a, char *error, size_t size)
{
	struct pollfd p = { .fd = a->courier.fd, .events = POLLIN };
	char buf[160];
	int r;

	poll(&p, 1, START_MS);
	r = courier_take(&a->courier, &a->report);
	if (r >= 0 && a->report.state != COURIER_REFUSED)
		return 0;
	snprintf(error, size, "cannot send to audit: %s",
		 r < 0 ? "its process ended" : courier_trouble(&a->report, buf, sizeof(buf)));
	return r < 0 ? r : a->report.error;
}

static int open_all(struct audit_sink *a, char *error, size_t size)
{
	struct epoll_event event = { .events = EPOLLIN };
	const struct sink_options *o = &a->sink.options;
	int r = courier_start(&a->courier);

	if (r >= 0)
		r = output_new(&a->output, a->courier.fd, o->buffer ? o->buffer : BUFFER);
	if (r >= 0 && epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, a->courier.fd, &event))
		r = -errno;
	if (r < 0)
		snprintf(error, size, "cannot send to audit: %s", strerror(-r));
	return r < 0 ? r : hear(a, error, size);
}

static int audit_sink_new(struct sink **ret, const struct sink_options *o, char *error, size_t size)
{
	struct audit_sink *a = calloc(1, sizeof(*a));
	int r;

	snprintf(error, size, "not enough memory");
	if (!a)
		return -ENOMEM;
	*a = (struct audit_sink){ .sink = { &sink_audit, *o },
				  .courier = { .fd = -1 },
				  .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	r = open_all(a, error, size);
	if (r < 0) {
		audit_sink_free(&a->sink);
		return r;
	}
	feed_init(&a->feed, o, write_text, NULL, a->output);
	rate_init(&a->rate, o->rate ? o->rate : RATE, mono_now());
	a->feed.rate = &a->rate;
	*ret = &a->sink;
	return 0;
}

static void audit_sink_record(struct sink *s, const struct exeunt_record *r)
{
	feed_record(&of(s)->feed, r);
}

static void tell_state(struct audit_sink *a)
{
	char buf[160];
	const char *trouble = courier_trouble(&a->report, buf, sizeof(buf));

	if (a->report.state == a->state)
		return;
	if (a->report.state == COURIER_BACKLOG) {
		if (a->backlog_told_ns && mono_now() - a->backlog_told_ns < TELL_BACKLOG_NS)
			return;
		a->backlog_told_ns = mono_now();
	}
	if (trouble)
		sink_say(&a->sink, 4, "records for audit are kept, as far as the buffer goes: %s",
			 trouble);
	else if (a->state > COURIER_WORKS)
		sink_say(&a->sink, 6, "audit takes records again");
	a->state = a->report.state;
}

static void take_losses(struct audit_sink *a, const struct courier_report *before)
{
	const struct courier_report *now = &a->report;
	int64_t real_ns = real_now();

	feed_lost(&a->feed, now->refused - before->refused, true, real_ns, real_ns);
	feed_lost(&a->feed, now->suspect - before->suspect, false, now->from_ns, now->to_ns);
	if (now->suspect != before->suspect)
		sink_say(&a->sink, 4,
			 "of the last %llu records for audit some may not have arrived",
			 (unsigned long long)(now->suspect - before->suspect));
}

/* Never while it works: its end is answered to our own, or it was killed. */
static void part(struct audit_sink *a)
{
	struct epoll_event none = { 0 };

	a->gone = true;
	epoll_ctl(a->epoll_fd, EPOLL_CTL_DEL, a->courier.fd, &none);
	if (!a->ending)
		sink_say(
			&a->sink, 3,
			"the process that sends to audit was killed; nothing more is sent until a restart");
}

static void take_reports(struct audit_sink *a)
{
	struct courier_report before = a->report;
	int r = a->gone ? 0 : courier_take(&a->courier, &a->report);

	if (r > 0)
		take_losses(a, &before);
	tell_state(a);
	if (r < 0)
		part(a);
}

static void watch(struct audit_sink *a, bool behind)
{
	struct epoll_event event = { .events = behind ? EPOLLIN | EPOLLOUT : EPOLLIN };

	if (behind == a->behind || a->gone)
		return;
	a->behind = behind;
	epoll_ctl(a->epoll_fd, EPOLL_CTL_MOD, a->courier.fd, &event);
}

static void audit_sink_flush(struct sink *s, int64_t now)
{
	struct audit_sink *a = of(s);

	(void)now;
	take_reports(a);
	watch(a, feed_flush(&a->feed) == 1);
}

static int audit_sink_fd(const struct sink *s)
{
	return ((const struct audit_sink *)s)->epoll_fd;
}

/* What was put out and not yet taken by the courier. */
static uint64_t untaken(const struct audit_sink *a)
{
	return a->feed.records - a->report.taken;
}

static bool audit_sink_finish(struct sink *s, int64_t now)
{
	struct audit_sink *a = of(s);
	char buf[160];
	const char *trouble;

	audit_sink_flush(s, now);
	trouble = courier_trouble(&a->report, buf, sizeof(buf));
	if (!a->ending && (!untaken(a) || (trouble && a->report.state != COURIER_BACKLOG))) {
		a->ending = true;
		courier_end(&a->courier);
		take_reports(a);
	}
	if (a->gone && untaken(a) && !a->told) {
		sink_say(s, 3, "the last %llu records were not sent to audit%s%s",
			 (unsigned long long)untaken(a), trouble ? ": " : "",
			 trouble ? trouble : "");
		a->told = true;
	}
	return a->gone;
}

static void audit_sink_report(const struct sink *s, struct sink_report *ret)
{
	const struct audit_sink *a = (const struct audit_sink *)s;

	*ret = (struct sink_report){ .readers = a->report.state == COURIER_WORKS && !a->gone };
	if (a->gone)
		ret->error = EPIPE;
	else if (a->report.state > COURIER_WORKS)
		ret->error = a->report.error ? -a->report.error : ENOTCONN;
	feed_report(&a->feed, ret);
}

const struct sink_ops sink_audit = {
	.word = "audit",
	.help = "messages to the auditd that runs, and so to its plugins and its log",
	.new = audit_sink_new,
	.free = audit_sink_free,
	.record = audit_sink_record,
	.flush = audit_sink_flush,
	.fd = audit_sink_fd,
	.dispatch = audit_sink_flush,
	.finish = audit_sink_finish,
	.report = audit_sink_report,
};
