/* SPDX-License-Identifier: MIT */
/*
 * exeunt live: attaches to a running daemon, or opens the sources itself; gives up all privileges, then puts out a line for
 * each process that ends, until a signal, --count, --duration, or the reader's going away.
 */
#include "cmd/cmd.h"

#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "cmd/attach.h"
#include "cmd/listen.h"
#include "cmd/stream.h"

static const char usage[] =
	"Usage: exeunt live [OPTION]...\n"
	"Show each process as it ends: when, who, how, and what it cost.\n"
	"Shows what a running daemon collects, if one lets it. Else it needs root to open its\n"
	"sources, and gives all privileges up before it reads.\n";

static bool take_signal(const struct signalfd_siginfo *info, struct stream *s)
{
	if (info->ssi_signo != SIGWINCH)
		return true;
	stream_resize(s);
	return false;
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
	struct listening l = {
		.stream = s, .signal_fd = signal_fd, .take_signal = take_signal, .while_open = ~0u
	};
	int status = start(s, o), r;

	if (status >= 0)
		return status;
	if (o->duration_ns)
		l.until_ns = mono_now() + o->duration_ns;
	r = listen_run(&l);
	if (r == -EPIPE)
		return CMD_DONE;
	if (r < 0)
		cmd_error("%s", exeunt_error(s->x));
	if (stream_stop(s) < 0)
		r = -1;
	status = stream_finish(s);
	if (!o->quiet)
		cmd_note("%s", s->summary);
	return r < 0 ? CMD_FAILED : status;
}

static int listen_and_show(struct stream *s, const struct options *o, int signal_fd)
{
	int status = stream_resume(s);

	if (status < 0)
		status = listen_open(&s->x, o, stream_record, stream_message, s, -1);
	if (status < 0)
		status = live(s, o, signal_fd);
	exeunt_free(s->x);
	return status;
}

static int show(struct stream *s, const struct options *o)
{
	int status = CMD_FAILED, fd = attach_connect(o, &status);
	int signal_fd = fd < -1 ? -1 : listen_signals();

	if (signal_fd >= 0)
		status = fd < 0 ? listen_and_show(s, o, signal_fd) : attach_show(s, fd, signal_fd);
	close_fd(fd);
	close_fd(signal_fd);
	return status;
}

int cmd_live(int argc, char **argv)
{
	struct options o;
	struct stream s;
	int status = options_parse(&o, argc, argv, "live",
				   OPTIONS_LISTEN | OPTIONS_SHOW | OPTIONS_ATTACH, usage);

	if (status >= 0)
		return status;
	if (o.first_operand < argc)
		return cmd_usage_error("live ", "unexpected operand '%s'", argv[o.first_operand]);
	status = stream_open(&s, &o, "live");
	if (status < 0)
		status = show(&s, &o);
	stream_close(&s);
	return status;
}
