/* SPDX-License-Identifier: MIT */
/* See listen.h. */
#include "cmd/listen.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/privileges.h"
#include "cmd/cmd.h"
#include "cmd/stream.h"

int listen_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		cmd_error("cannot wait for signals: %s", strerror(errno));
	else
		sigprocmask(SIG_BLOCK, &set, NULL); /* else Ctrl-C would do nothing */
	return fd;
}

#define STATUS_SECONDS_JSON 60

/* A socket for each CPU is more than the usual 1,024 on large hosts; what may be had without asking is taken. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_handle(struct exeunt **ret, const struct exeunt_options *options)
{
	int r;

	raise_file_limit();
	r = exeunt_new(ret, options);
	if (r < 0) {
		cmd_error("cannot begin: %s", strerror(-r));
		return CMD_FAILED;
	}
	r = exeunt_open(*ret);
	if (r >= 0)
		return -1;
	if (r != -EPERM) {
		cmd_error("%s", exeunt_error(*ret));
		return CMD_FAILED;
	}
	listen_explain(*ret);
	return CMD_NOT_PERMITTED;
}

int listen_open_sources(struct exeunt **ret, const struct options *o, exeunt_record_fn on_record,
			exeunt_message_fn on_message, void *userdata, int capture_fd)
{
	struct exeunt_options options = {
		.size = sizeof(options),
		.sources = o->sources,
		.sources_required = o->source_given,
		.sources_needed = o->needed,
		.threads = o->threads,
		.numeric = o->numeric,
		.receive_buffer = o->receive_buffer,
		.audit = o->audit,
		.audit_rules = o->audit_rules,
		.pacct = o->pacct,
		.pacct_state = o->pacct_state,
		.pacct_force = o->force,
		.no_args = o->no_args,
		.redact = o->redact,
		.n_redact = o->n_redact,
		.status_seconds = o->status_given ? o->status_seconds
				  : o->json	  ? STATUS_SECONDS_JSON
						  : 0,
		.capture = capture_fd >= 0,
		.capture_fd = capture_fd,
		.on_record = on_record,
		.on_message = on_message,
		.userdata = userdata,
	};

	return open_handle(ret, &options);
}

int listen_drop(const struct exeunt *x, const struct options *o, uint64_t keep)
{
	char error[256];
	size_t n;
	int r;

	if (exeunt_sources(x, &n)[EXEUNT_SOURCE_PROCEVENTS].state == EXEUNT_STATE_OPEN)
		privileges_run_promptly();
	r = privileges_drop(o->user, exeunt_capabilities(x) | keep, error, sizeof(error));
	if (r >= 0)
		return -1;
	cmd_error("%s", error);
	return r == -ENOENT ? CMD_USAGE : CMD_FAILED;
}

int listen_open(struct exeunt **ret, const struct options *o, exeunt_record_fn on_record,
		exeunt_message_fn on_message, void *userdata, int capture_fd)
{
	int status = listen_open_sources(ret, o, on_record, on_message, userdata, capture_fd);

	return status < 0 ? listen_drop(*ret, o, 0) : status;
}

void listen_explain(const struct exeunt *x)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);
	bool told = false;

	for (size_t i = 0; i < n; i++) {
		if (s[i].state != EXEUNT_STATE_REFUSED && s[i].state != EXEUNT_STATE_FAILED)
			continue;
		told = true;
		if (s[i].remedy)
			cmd_error("%s. What mends it: %s", s[i].reason, s[i].remedy);
		else
			cmd_error("%s", s[i].reason);
	}
	if (!told)
		cmd_error("%s", exeunt_error(x));
}

static bool is_open(const struct exeunt *x, uint32_t mask)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);

	for (size_t i = 0; i < n; i++)
		if ((mask & EXEUNT_SOURCE_BIT(i)) && s[i].state == EXEUNT_STATE_OPEN)
			return true;
	return false;
}

static bool take_signals(const struct listening *l)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(l->signal_fd, &info, sizeof(info)) == sizeof(info))
		end |= l->take_signal(&info, l->stream);
	return end;
}

static int timeout_ms(const struct listening *l)
{
	int64_t left = l->until_ns ? MAX(l->until_ns - mono_now(), 0) / NS_PER_MSEC + 1 : -1;

	if (l->stream->waiting)
		return STREAM_WAIT_MS;
	if (l->stream->error && (left < 0 || left > 1000))
		left = 1000; /* a full disk is tried again every second */
	return (int)MIN(left, 3600 * 1000);
}

int listen_run(const struct listening *l)
{
	struct stream *s = l->stream;
	struct pollfd p[3] = {
		{ .fd = exeunt_fd(s->x), .events = POLLIN },
		{ .fd = l->signal_fd, .events = POLLIN },
		{ .fd = output_poll_fd(s->output) },
	};
	int behind = stream_flush(s);

	for (;;) {
		int r;

		if (behind == -EPIPE)
			return behind;
		if (stream_is_done(s) || (l->until_ns && mono_now() >= l->until_ns) ||
		    !is_open(s->x, l->while_open))
			return 0;
		/* even with nothing to write, POLLERR tells of a reader that left */
		p[2].events = behind && !s->error ? POLLOUT : 0;
		r = poll(p, ARRAY_SIZE(p), timeout_ms(l));
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && p[1].revents && take_signals(l))
			return 0;
		if (r > 0 && p[2].revents & (POLLERR | POLLHUP | POLLNVAL) &&
		    !output_pending(s->output))
			return -EPIPE;
		if (r > 0 && p[0].revents) {
			r = exeunt_dispatch(s->x);
			if (r < 0)
				return r;
		}
		behind = stream_flush(s);
	}
}

void listen_names(const struct exeunt *x, char *buf, size_t size)
{
	size_t n, len = 0;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);

	*buf = '\0';
	for (size_t i = 0; i < n && len < size; i++) {
		if (s[i].state != EXEUNT_STATE_OPEN)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					exeunt_source_name(s[i].source));
		if (s[i].source == EXEUNT_SOURCE_TASKSTATS && len < size)
			len += (size_t)snprintf(buf + len, size - len, " on %u CPU%s", s[i].sockets,
						s[i].sockets == 1 ? "" : "s");
	}
}

void listen_announce(const struct exeunt *x, const struct options *o)
{
	char names[256];

	listen_names(x, names, sizeof(names));
	cmd_note("listening to %s; tested, and every process that ends%s is shown. Ctrl-C ends.",
		 names, o->filter ? " and passes the filter" : "");
}
