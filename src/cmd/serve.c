/* SPDX-License-Identifier: MIT */
/* See serve.h. */
#include "cmd/serve.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/listen.h"
#include "sink/text.h"

#define FINISH_NS (5 * NS_PER_SEC) /* at the end, for sinks that are behind */
#define CHECKPOINT_NS NS_PER_SEC
#define CHECKPOINT_RETRY_NS (NS_PER_SEC / 10)
#define MARK_NS (10 * NS_PER_SEC) /* more than any process waits that accounting has told of */

/* What cannot be saved is told once, and saved as soon as that works again. */
static void tell_saved(struct serving *s, int r)
{
	if (r == -ENOTSUP && r != s->save_error)
		cmd_error(
			"--pacct-state=%s: accounting is not listened to, so nothing is remembered",
			s->options->pacct_state);
	else if (r < 0 && r != s->save_error)
		cmd_error(
			"the state in '%s' cannot be written: %s; after a crash exits may come twice",
			s->options->pacct_state, strerror(-r));
	s->save_error = r;
}

static void save(struct serving *s)
{
	tell_saved(s, exeunt_checkpoint(s->x, ""));
	s->marked_ns = 0;
}

/* A crash before the first time shall have a place to go on from: nothing was read yet. */
static void save_first(struct serving *s)
{
	if (s->options->pacct_state && access(s->options->pacct_state, F_OK))
		save(s);
}

int serve_start(struct serving *s)
{
	char error[512];
	int r;

	save_first(s);
	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct sink_ops *ops = s->sinks[i]->ops;

		if (ops->start && ops->start(s->sinks[i], error, sizeof(error)) < 0) {
			cmd_error("sink %s: %s", s->names[i], error);
			return CMD_FAILED;
		}
	}
	r = exeunt_start(s->x);
	if (r >= 0)
		return -1;
	listen_explain(s->x);
	return r == -ETIME || r == -EPERM ? CMD_NOT_PERMITTED : CMD_FAILED;
}

int serve_record(const struct exeunt_record *r, void *userdata)
{
	struct serving *s = userdata;

	if (r->status) {
		s->about = *r->status;
		text_summary(r, s->summary, sizeof(s->summary));
		if (r->type == EXEUNT_TYPE_STATUS)
			notify_send(&s->notify, "STATUS=%s", s->summary);
	}
	for (size_t i = 0; i < s->n_sinks; i++)
		s->sinks[i]->ops->record(s->sinks[i], r);
	return 0;
}

static void flush_sinks(struct serving *s, int64_t now)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		s->sinks[i]->ops->flush(s->sinks[i], now);
}

static int fill_poll(const struct serving *s, struct pollfd *p)
{
	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct sink *sink = s->sinks[i];

		p[i] = (struct pollfd){ .fd = sink->ops->fd ? sink->ops->fd(sink) : -1,
					.events = POLLIN };
	}
	return (int)s->n_sinks;
}

static int64_t next_deadline(const struct serving *s)
{
	int64_t at = INT64_MAX;

	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct sink *sink = s->sinks[i];

		if (sink->ops->deadline)
			at = MIN(at, sink->ops->deadline(sink));
	}
	return at;
}

static void dispatch_sinks(struct serving *s, const struct pollfd *p, int64_t now)
{
	for (size_t i = 0; i < s->n_sinks; i++) {
		struct sink *sink = s->sinks[i];

		if (p[i].revents || (sink->ops->deadline && now >= sink->ops->deadline(sink)))
			sink->ops->dispatch(sink, now);
	}
}

static void reload(struct serving *s)
{
	notify_send(&s->notify, "RELOADING=1\nMONOTONIC_USEC=%lld",
		    (long long)(mono_now() / NS_PER_USEC));
	for (size_t i = 0; i < s->n_sinks; i++)
		if (s->sinks[i]->ops->reload)
			s->sinks[i]->ops->reload(s->sinks[i]);
	notify_send(&s->notify, "READY=1");
}

static bool take_signals(struct serving *s)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(s);
		else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			end = true;
	}
	return end;
}

/* Rounded up: a millisecond early would be a turn of the loop for nothing. */
static int ms_until(int64_t at, int64_t now)
{
	if (at == INT64_MAX)
		return -1;
	at = MAX((at - now + NS_PER_MSEC - 1) / NS_PER_MSEC, 0);
	return (int)MIN(at, 3600 * 1000);
}

static bool all_taken(const struct serving *s)
{
	struct sink_report report;

	for (size_t i = 0; i < s->n_sinks; i++) {
		s->sinks[i]->ops->report(s->sinks[i], &report);
		if (report.queued_bytes && !s->sinks[i]->ops->fleeting)
			return false;
	}
	return true;
}

/* Where some process waits at all times: how far it had come a while ago, of which none waits any more. */
static void save_mark(struct serving *s, int64_t now)
{
	if (s->marked_ns && now - s->marked_ns < MARK_NS)
		return;
	if (s->marked_ns && !all_taken(s))
		return;
	if (s->marked_ns)
		tell_saved(s, exeunt_checkpoint_mark(s->x));
	exeunt_mark(s->x);
	s->marked_ns = now;
}

/*
 * What is in front of the position was handed over, and taken by every sink that lasts, so that a crash costs none of it; what
 * came behind it comes twice then. So it is saved in a moment in which no process waits for what another source has to tell.
 */
static void checkpoint(struct serving *s, int64_t now)
{
	struct exeunt_balance b;

	if (!s->options->pacct_state || now < s->checkpoint_ns)
		return;
	exeunt_settle(s->x);
	flush_sinks(s, now);
	exeunt_balance(s->x, &b);
	s->checkpoint_ns = now + (b.pending ? CHECKPOINT_RETRY_NS : CHECKPOINT_NS);
	if (b.pending)
		save_mark(s, now);
	else if (all_taken(s))
		save(s);
}

static bool has_source(const struct exeunt *x)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].state == EXEUNT_STATE_OPEN)
			return true;
	return false;
}

/* A pipe's end, as of `exeunt run --to=json:- | head`, is the end of all when nothing else is written. */
static bool has_reader(const struct serving *s)
{
	struct sink_report report;

	for (size_t i = 0; i < s->n_sinks; i++) {
		s->sinks[i]->ops->report(s->sinks[i], &report);
		if (!report.ended)
			return true;
	}
	return false;
}

/* Until something is to be done; poll(2)'s result, or -errno. */
static int wait_for(struct serving *s, struct pollfd *p, int64_t at, int64_t now)
{
	int n = fill_poll(s, p), r;

	p[n] = (struct pollfd){ .fd = exeunt_fd(s->x), .events = POLLIN };
	p[n + 1] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	r = poll(p, (nfds_t)n + 2, ms_until(at, now));
	if (r >= 0 || errno != EINTR)
		return r < 0 ? -errno : r;
	for (int i = 0; i < n + 2; i++)
		p[i].revents = 0;
	return 0;
}

int serve_run(struct serving *s, int64_t until_ns)
{
	struct pollfd p[OPTIONS_SINKS + 2];
	int64_t now = mono_now();

	until_ns = until_ns ? until_ns : INT64_MAX;
	flush_sinks(s, now);
	while (now < until_ns && has_reader(s)) {
		int64_t alive_at = notify_alive(&s->notify, now);
		int64_t at = MIN(next_deadline(s), until_ns);
		size_t n = s->n_sinks;
		int r;

		if (!has_source(s->x))
			return -ENOLINK;
		r = wait_for(s, p, MIN(at, alive_at), now);
		if (r < 0)
			return r;
		now = mono_now();
		if (p[n + 1].revents && take_signals(s))
			return 0;
		dispatch_sinks(s, p, now);
		if (p[n].revents) {
			r = exeunt_dispatch(s->x);
			if (r < 0)
				return r;
			flush_sinks(s, now);
		}
		checkpoint(s, now);
	}
	return 0;
}

/* Returns how many of them are done. */
static size_t finish_each(struct serving *s, bool *done, int64_t now)
{
	size_t n_done = 0;

	for (size_t i = 0; i < s->n_sinks; i++) {
		struct sink *sink = s->sinks[i];

		done[i] = done[i] || !sink->ops->finish || sink->ops->finish(sink, now);
		n_done += done[i];
	}
	return n_done;
}

/*
 * Not only by fd and deadline: what a sink waits for may be another process. False: told a second time to end, now it is to be
 * at once.
 */
static bool wait_for_sinks(struct serving *s, const bool *done, int64_t until, int64_t now)
{
	struct pollfd p[OPTIONS_SINKS + 1];
	int n = fill_poll(s, p);

	for (int i = 0; i < n; i++)
		if (done[i])
			p[i].fd = -1;
	p[n] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	if (poll(p, (nfds_t)n + 1, ms_until(MIN(until, now + NS_PER_SEC / 50), now)) <= 0)
		return true;
	return !p[n].revents || !take_signals(s);
}

/* Sinks that are behind get their time, all of them together. */
static int finish_sinks(struct serving *s)
{
	bool done[OPTIONS_SINKS] = { false };
	int64_t now = mono_now(), until = now + FINISH_NS;

	while (finish_each(s, done, now) < s->n_sinks) {
		if (now >= until || !wait_for_sinks(s, done, until, now))
			break;
		notify_alive(&s->notify, now);
		now = mono_now();
	}
	if (finish_each(s, done, now) == s->n_sinks)
		return CMD_DONE;
	for (size_t i = 0; i < s->n_sinks; i++)
		if (!done[i])
			cmd_error("sink %s did not take all in time; the rest is lost",
				  s->names[i]);
	return CMD_FAILED;
}

int serve_stop(struct serving *s)
{
	int r, status;

	notify_send(&s->notify, "STOPPING=1");
	r = exeunt_stop(s->x);
	flush_sinks(s, mono_now());
	status = finish_sinks(s);
	if (status == CMD_DONE && s->options->pacct_state)
		save(s);
	return r < 0 ? CMD_FAILED : status;
}

void serve_close(struct serving *s)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		s->sinks[i]->ops->free(s->sinks[i]);
	s->n_sinks = 0;
	for (size_t i = 0; i < ARRAY_SIZE(s->filters); i++)
		filter_free(s->filters[i]);
	notify_close(&s->notify);
}
