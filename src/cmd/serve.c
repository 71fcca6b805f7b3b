/* SPDX-License-Identifier: MIT */
/* See serve.h. */
#include "cmd/serve.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/listen.h"
#include "record/fields.h"
#include "sink/text.h"

#define FINISH_NS (5 * NS_PER_SEC) /* at the end, for sinks that are behind */
#define CHECKPOINT_NS NS_PER_SEC

void serve_message(int level, const char *text, void *userdata)
{
	const struct serving *s = userdata;

	if (level <= 4 || !s->options->quiet)
		cmd_say(level, "%s", text);
}

static void describe(enum exeunt_type type, struct exeunt_record *ret, void *userdata)
{
	struct serving *s = userdata;

	s->about.sources = exeunt_sources(s->x, &s->about.n_sources);
	exeunt_balance(s->x, &s->about.balance);
	*ret = (struct exeunt_record){ .size = sizeof(*ret),
				       .version = EXEUNT_RECORD_VERSION,
				       .type = (uint16_t)type,
				       .time_ns = real_now(),
				       .status = &s->about };
}

static struct sink *const *all_sinks(size_t *n, void *userdata)
{
	const struct serving *s = userdata;

	*n = s->n_sinks;
	return s->sinks;
}

/* "json", "json2" ... where no name was given. */
static int name_sink(struct serving *s, size_t i, const struct sink_ops *ops)
{
	const char *given = s->options->to[i].name;
	unsigned int nth = 1;

	snprintf(s->names[i], sizeof(s->names[i]), "%s", given ? given : ops->word);
	for (size_t j = 0; j < i; j++) {
		if (strcmp(s->names[j], s->names[i]) != 0)
			continue;
		if (given)
			return cmd_usage_error("run ", "two sinks have the name '%s'", given);
		snprintf(s->names[i], sizeof(s->names[i]), "%s%u", ops->word, ++nth);
		j = (size_t)-1; /* look again from the first */
	}
	return -1;
}

static int check_filter(struct serving *s, size_t i, const char *expr)
{
	char error[FILTER_ERROR_SIZE];
	int r = filter_new(&s->filters[i], expr, error, sizeof(error));

	if (r == -EINVAL) {
		fprintf(stderr, "exeunt: sink %s: %s\n", s->names[i], error);
		return CMD_USAGE;
	}
	return r < 0 ? cmd_usage_error("run ", "filter: %s", strerror(-r)) : -1;
}

static int check_sink(struct serving *s, size_t i)
{
	const struct sink_choice *c = &s->options->to[i];
	const char *filter = c->filter ? c->filter : s->options->filter;
	const struct sink_ops *ops;
	const char *target, *bad;
	char error[512];
	size_t len;
	int status;

	if (sink_parse(c->spec, &ops, &target, error, sizeof(error)) < 0)
		return cmd_usage_error("run ", "%s", error);
	status = name_sink(s, i, ops);
	if (status < 0 && filter)
		status = check_filter(s, i, filter);
	if (status < 0 && c->fields && field_parse_list(c->fields, s->fields[i], &bad, &len) < 0)
		status = cmd_usage_error(
			"run ",
			"fields: '%.*s' is no field, or the end of several; see exeunt-record(5)",
			(int)len, bad);
	return status;
}

int serve_check(struct serving *s, const struct options *o)
{
	int status = -1;

	*s = (struct serving){ .options = o,
			       .host = { .say = serve_message,
					 .describe = describe,
					 .sinks = all_sinks,
					 .userdata = s },
			       .notify = { .fd = -1 } };
	if (!o->n_to)
		return cmd_usage_error("run ", "nowhere to go: --to=SINK, such as --to=json:-");
	for (size_t i = 0; i < o->n_to && status < 0; i++)
		status = check_sink(s, i);
	return status;
}

static int open_sink(struct serving *s, size_t i)
{
	const struct sink_choice *c = &s->options->to[i];
	struct sink_options o = { .host = &s->host,
				  .name = s->names[i],
				  .filter = s->filters[i],
				  .fields = c->fields ? s->fields[i] : NULL,
				  .buffer = c->buffer ? c->buffer : s->options->buffer,
				  .rate = c->rate,
				  .interval_ns = c->interval_ns ? c->interval_ns
								: s->options->interval_ns };
	const struct sink_ops *ops;
	char error[512];

	sink_parse(c->spec, &ops, &o.target, error, sizeof(error));
	if (ops->new (&s->sinks[i], &o, error, sizeof(error)) < 0) {
		cmd_error("sink %s: %s", o.name, error);
		return CMD_FAILED;
	}
	s->n_sinks = i + 1;
	return -1;
}

int serve_open(struct serving *s)
{
	int status = -1;

	s->host.name = exeunt_host_name(s->x);
	s->host.boot_id = exeunt_boot_id(s->x);
	for (size_t i = 0; i < s->options->n_to && status < 0; i++)
		status = open_sink(s, i);
	return status;
}

uint64_t serve_capabilities(const struct serving *s)
{
	uint64_t keep = 0;

	for (size_t i = 0; i < s->n_sinks; i++)
		keep |= s->sinks[i]->ops->capabilities;
	return keep;
}

int serve_start(struct serving *s)
{
	char error[512];
	int r;

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

static bool take_signals(struct serving *s, int signal_fd)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
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
	return (int)MIN(MAX((at - now + NS_PER_MSEC - 1) / NS_PER_MSEC, 0), 3600 * 1000);
}

/* What is behind the position was taken by every sink, so that a crash costs nothing; a little may then come twice. */
static int64_t checkpoint(struct serving *s, int64_t now, int64_t last)
{
	struct sink_report report;

	if (!s->options->pacct_state || now - last < CHECKPOINT_NS)
		return last;
	exeunt_settle(s->x);
	flush_sinks(s, now);
	for (size_t i = 0; i < s->n_sinks; i++) {
		s->sinks[i]->ops->report(s->sinks[i], &report);
		if (report.queued_bytes && !s->sinks[i]->ops->fleeting)
			return last;
	}
	exeunt_checkpoint(s->x, "");
	return now;
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

int serve_run(struct serving *s, int signal_fd, int64_t until_ns)
{
	struct pollfd p[OPTIONS_SINKS + 2];
	int64_t now = mono_now(), saved = now;

	until_ns = until_ns ? until_ns : INT64_MAX;
	flush_sinks(s, now);
	while (has_source(s->x) && now < until_ns) {
		int64_t alive_at = notify_alive(&s->notify, now);
		int64_t at = MIN(next_deadline(s), until_ns);
		int n = fill_poll(s, p), r;

		p[n] = (struct pollfd){ .fd = exeunt_fd(s->x), .events = POLLIN };
		p[n + 1] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
		r = poll(p, (nfds_t)n + 2, ms_until(MIN(at, alive_at), now));
		if (r < 0 && errno != EINTR)
			return -errno;
		now = mono_now();
		if (r > 0 && p[n + 1].revents && take_signals(s, signal_fd))
			return 0;
		if (r >= 0)
			dispatch_sinks(s, p, now);
		if (r > 0 && p[n].revents) {
			r = exeunt_dispatch(s->x);
			if (r < 0)
				return r;
			flush_sinks(s, now);
		}
		saved = checkpoint(s, now, saved);
	}
	return 0;
}

/* Sinks that are behind get their time, all of them together. */
static int finish_sinks(struct serving *s)
{
	bool done[OPTIONS_SINKS] = { false };
	int64_t now = mono_now(), until = now + FINISH_NS;
	struct pollfd p[OPTIONS_SINKS];
	size_t n_done = 0;

	for (;;) {
		for (size_t i = 0; i < s->n_sinks; i++) {
			struct sink *sink = s->sinks[i];

			if (done[i])
				continue;
			done[i] = !sink->ops->finish || sink->ops->finish(sink, now);
			n_done += done[i];
		}
		if (n_done == s->n_sinks)
			return CMD_DONE;
		if (now >= until)
			break;
		notify_alive(&s->notify, now);
		fill_poll(s, p);
		for (size_t i = 0; i < s->n_sinks; i++)
			if (done[i])
				p[i].fd = -1;
		/* not only by fd and deadline: what a sink waits for may be another process */
		poll(p, (nfds_t)s->n_sinks, ms_until(MIN(until, now + NS_PER_SEC / 50), now));
		now = mono_now();
	}
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
		exeunt_checkpoint(s->x, "");
	return r < 0 ? CMD_FAILED : status;
}

void serve_close(struct serving *s)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		s->sinks[i]->ops->free(s->sinks[i]);
	for (size_t i = 0; i < ARRAY_SIZE(s->filters); i++)
		filter_free(s->filters[i]);
	notify_close(&s->notify);
}
