/* SPDX-License-Identifier: MIT */
/* exeunt capture FILE: what the kernel says, byte for byte and with times, into a file that exeunt replay reads. */
#include "cmd/cmd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "cmd/listen.h"

static const char usage[] =
	"Usage: exeunt capture [OPTION]... FILE\n"
	"Write the frames of all sources to FILE ('-': standard output), for exeunt replay and bug reports.\n"
	"The file holds names, ids and costs of all processes that end meanwhile; it is readable by its owner only.\n";

static int on_record(const struct exeunt_record *r, void *userdata)
{
	(void)r;
	(void)userdata;
	return 0;
}

static void on_message(int level, const char *text, void *userdata)
{
	bool *failed = userdata;

	*failed |= level <= 3;
	cmd_error("%s", text);
}

static int run(struct exeunt *x, const struct options *o, int signal_fd, const bool *failed)
{
	int64_t until = o->duration_ns ? mono_now() + o->duration_ns : INT64_MAX;
	struct pollfd p[2] = { { .fd = exeunt_fd(x), .events = POLLIN },
			       { .fd = signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;

	while (!*failed) {
		int64_t left = MIN(until - mono_now(), 3600 * NS_PER_SEC);
		int r;

		if (left <= 0)
			return 0;
		r = poll(p, ARRAY_SIZE(p), (int)(left / NS_PER_MSEC) + 1);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (p[1].revents && read(signal_fd, &info, sizeof(info)) > 0 &&
		    info.ssi_signo != SIGWINCH)
			return 0;
		r = exeunt_dispatch(x);
		if (r < 0)
			return r;
	}
	return 0;
}

static int capture(struct exeunt *x, const struct options *o, const char *path, int signal_fd,
		   const bool *failed)
{
	struct exeunt_balance b;
	int r = exeunt_start(x), stopped;

	if (r < 0) {
		listen_explain(x);
		return CMD_NOT_PERMITTED;
	}
	if (!o->quiet)
		cmd_note("capturing to '%s'. Ctrl-C ends.", path);
	r = run(x, o, signal_fd, failed);
	if (r < 0)
		cmd_error("%s", exeunt_error(x));
	stopped = exeunt_stop(x);
	if (stopped < 0 && r >= 0)
		cmd_error("%s", exeunt_error(x));
	if (stopped < 0 || r < 0 || *failed)
		return CMD_FAILED;
	exeunt_balance(x, &b);
	if (!o->quiet)
		cmd_note("%" PRIu64 " exits captured, %" PRIu64 " lost", b.exits, b.lost);
	return CMD_DONE;
}

static int open_file(const char *path)
{
	if (!strcmp(path, "-"))
		return STDOUT_FILENO;
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
}

int cmd_capture(int argc, char **argv)
{
	struct exeunt *x = NULL;
	bool failed = false;
	struct options o;
	const char *path;
	int status = options_parse(&o, argc, argv, "capture", OPTIONS_LISTEN, usage), fd, signal_fd;

	if (status >= 0)
		return status;
	if (o.first_operand != argc - 1)
		return cmd_usage_error("capture ",
				       o.first_operand < argc ? "one FILE only" : "which FILE?");
	path = argv[o.first_operand];
	if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
		return cmd_usage_error("capture ", "a capture is no text: not to a terminal");
	fd = open_file(path);
	if (fd < 0) {
		cmd_error("cannot open '%s' for writing: %s", path, strerror(errno));
		return CMD_FAILED;
	}
	signal_fd = listen_signals();
	status = signal_fd < 0 ? CMD_FAILED : -1;
	if (status < 0)
		status = listen_open(&x, &o, on_record, on_message, &failed, fd);
	if (status < 0)
		status = capture(x, &o, path, signal_fd, &failed);
	exeunt_free(x);
	close_fd(signal_fd);
	if (fd != STDOUT_FILENO && close(fd) && status == CMD_DONE) {
		cmd_error("writing '%s' failed: %s", path, strerror(errno));
		status = CMD_FAILED;
	}
	return status;
}
