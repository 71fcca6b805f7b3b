/* SPDX-License-Identifier: MIT */
/*
 * exeunt live: opens the sources, gives up all privileges, then puts out a line for each process that ends, until a
 * signal, --count, --duration, or the reader's going away.
 */
#include "cmd/cmd.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "cmd/listen.h"
#include "cmd/stream.h"

static const char usage[] =
	"Usage: exeunt live [OPTION]...\n"
	"Show each process as it ends: when, who, how, and what it cost.\n"
	"Needs root to open its sources, and gives all privileges up before it reads.\n";

/* Returns true when it is time to end. */
static bool take_signals(int fd, struct stream *s)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			stream_resize(s);
		else
			end = true;
	}
	return end;
}

static int timeout_ms(int64_t until_ns, bool retry)
{
	int64_t left = until_ns ? MAX(until_ns - mono_now(), 0) / NS_PER_MSEC + 1 : -1;

	if (retry && (left < 0 || left > 1000))
		left = 1000; /* a full disk is tried again every second */
	return (int)MIN(left, 3600 * 1000);
}

/* Returns 0 at an end that was asked for, -EPIPE when the reader left, or the library's error. */
static int run(struct stream *s, int signal_fd)
{
	int64_t until = s->options->duration_ns ? mono_now() + s->options->duration_ns : 0;
	struct pollfd p[3] = {
		{ .fd = exeunt_fd(s->x), .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = output_poll_fd(s->output) },
	};
	int behind = stream_flush(s);

	for (;;) {
		int r;

		if (behind == -EPIPE)
			return behind;
		if (stream_is_done(s) || (until && mono_now() >= until))
			return 0;
		/* even with nothing to write, POLLERR tells of a reader that left */
		p[2].events = behind && !s->error ? POLLOUT : 0;
		r = poll(p, ARRAY_SIZE(p),
			 s->waiting ? STREAM_WAIT_MS : timeout_ms(until, s->error));
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && p[1].revents && take_signals(signal_fd, s))
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

static int start(struct stream *s, const struct options *o)
{
	int r = exeunt_start(s->x);

	if (r < 0) {
		listen_explain(s->x);
		return r == -ETIME || r == -EPERM ? CMD_NOT_PERMITTED : CMD_FAILED;
	}
	if (!o->quiet)
		listen_announce(s->x, o);
	return -1;
}

static int live(struct stream *s, const struct options *o, int signal_fd)
{
	int status = start(s, o), r;

	if (status >= 0)
		return status;
	r = run(s, signal_fd);
	if (r == -EPIPE)
		return CMD_DONE;
	if (r < 0)
		cmd_error("%s", exeunt_error(s->x));
	if (exeunt_stop(s->x) < 0)
		r = -1;
	stream_flush(s);
	status = stream_finish(s);
	if (!o->quiet)
		cmd_note("%s", s->summary);
	return r < 0 ? CMD_FAILED : status;
}

int cmd_live(int argc, char **argv)
{
	struct options o;
	struct stream s;
	int status = options_parse(&o, argc, argv, "live", OPTIONS_LISTEN | OPTIONS_SHOW, usage),
	    signal_fd;

	if (status >= 0)
		return status;
	if (o.first_operand < argc)
		return cmd_usage_error("live ", "unexpected operand '%s'", argv[o.first_operand]);
	status = stream_open(&s, &o, "live");
	if (status < 0) {
		signal_fd = listen_signals();
		status = stream_resume(&s);
		if (status < 0)
			status = listen_open(&s.x, &o, stream_record, stream_message, &s, -1);
		if (status < 0)
			status = live(&s, &o, signal_fd);
		exeunt_free(s.x);
		close_fd(signal_fd);
	}
	stream_close(&s);
	return status;
}
