/* SPDX-License-Identifier: MIT */
/*
 * See attach.h. What is read waits for the output: a slow reader of ours makes us a slow reader of the daemon,
 * which counts and tells what that cost.
 */
#include "cmd/attach.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/privileges.h"
#include "cmd/attached.h"
#include "cmd/cmd.h"
#include "sink/socket-path.h"

#define READ_SIZE (256u << 10)
#define LINE_MAX_SIZE (16u << 20)

/* The first option that only sources of one's own can follow. */
static const char *obstacle(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} all[] = {
		{ o->source_given, "source" },
		{ o->audit, "audit" },
		{ o->audit_rules, "audit-rules" },
		{ o->pacct, "pacct" },
		{ o->pacct_state, "pacct-state" },
		{ o->receive_buffer, "rcvbuf" },
		{ o->no_args, "no-args" },
		{ o->n_redact, "redact" },
		{ o->threads, "threads" },
		{ o->status_given, "status" },
		{ o->numeric && o->json, "numeric" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	r = -errno;
	close_fd(fd);
	return r;
}

static int must_connect(const struct options *o, int *status)
{
	const char *name = obstacle(o);
	int fd;

	if (name) {
		*status = cmd_usage_error(
			"live ", "--socket goes not with --%s, which is up to the daemon", name);
		return -2;
	}
	fd = connect_to(o->socket);
	if (fd >= 0)
		return fd;
	cmd_error("cannot connect to a daemon at '%s': %s", o->socket, strerror(-fd));
	*status = fd == -EACCES ? CMD_NOT_PERMITTED : CMD_FAILED;
	return -2;
}

int attach_connect(const struct options *o, int *status)
{
	int fd;

	if (o->socket && strcmp(o->socket, "off") != 0)
		return must_connect(o, status);
	if (o->socket || obstacle(o))
		return -1;
	fd = connect_to(SOCKET_PATH);
	if (fd == -EACCES)
		cmd_note("a daemon runs, and its socket %s is for members of its group",
			 SOCKET_PATH);
	return fd < 0 ? -1 : fd;
}

struct reading {
	struct attached *a;
	int fd;
	char *buf;
	size_t len, size;
};

/* The whole lines out of the buffer. As attached_line(). */
static int take_lines(struct reading *in)
{
	size_t at = 0;
	int r = 0;

	while (!r) {
		char *end = memchr(in->buf + at, '\n', in->len - at);

		if (!end)
			break;
		r = attached_line(in->a, in->buf + at, (size_t)(end - in->buf) - at);
		at = (size_t)(end - in->buf) + 1;
	}
	in->len -= at;
	memmove(in->buf, in->buf + at, in->len);
	return r;
}

static int grow(struct reading *in)
{
	size_t size = in->size ? 2 * in->size : 2 * READ_SIZE;
	char *buf;

	if (in->size - in->len >= READ_SIZE)
		return 0;
	buf = in->len < LINE_MAX_SIZE ? realloc(in->buf, size) : NULL;
	if (!buf)
		return -ENOMEM;
	in->buf = buf;
	in->size = size;
	return 0;
}

/* As attached_line(), or ATTACHED_GONE. */
static int take_input(struct reading *in)
{
	ssize_t n;

	if (grow(in) < 0) {
		cmd_error("not enough memory for a line of the daemon");
		return ATTACHED_BROKEN;
	}
	n = recv(in->fd, in->buf + in->len, READ_SIZE, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return ATTACHED_GONE;
	in->len += (size_t)n;
	return take_lines(in);
}

static bool take_signals(struct stream *s, int signal_fd)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			stream_resize(s);
		else
			end = true;
	}
	return end;
}

static int timeout_ms(const struct stream *s, int64_t until)
{
	int64_t left = until ? MAX(until - mono_now(), INT64_C(0)) / NS_PER_MSEC + 1 : 3600000;

	return (int)MIN(left, s->error ? INT64_C(1000) : INT64_C(3600000));
}

/* Until the end: 0 when it is time, -EPIPE when our reader left, or what ended the input. */
static int pump(struct reading *in, struct stream *s, int signal_fd)
{
	int64_t until = s->options->duration_ns ? mono_now() + s->options->duration_ns : 0;
	struct pollfd p[3] = { { .fd = in->fd },
			       { .fd = signal_fd, .events = POLLIN },
			       { .fd = output_poll_fd(s->output) } };
	int r = 0;

	for (;;) {
		int behind = stream_flush(s);

		if (behind == -EPIPE)
			return behind;
		if (r || stream_is_done(s) || (until && mono_now() >= until))
			return r;
		p[0].fd = behind ? -1 : in->fd;
		p[0].events = POLLIN;
		p[2].events = behind && !s->error ? POLLOUT : 0;
		r = poll(p, ARRAY_SIZE(p), timeout_ms(s, until));
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && p[1].revents && take_signals(s, signal_fd))
			return 0;
		if (r > 0 && p[2].revents & (POLLERR | POLLHUP | POLLNVAL) &&
		    !output_pending(s->output))
			return -EPIPE;
		r = r > 0 && !behind && p[0].revents ? take_input(in) : 0;
	}
}

static int drop_privileges(const struct options *o)
{
	char error[256];
	int r;

	if (geteuid() != 0 && !o->user)
		return -1;
	r = privileges_drop(o->user, 0, error, sizeof(error));
	if (r >= 0)
		return -1;
	cmd_error("%s", error);
	return r == -ENOENT ? CMD_USAGE : CMD_FAILED;
}

int attach_show(struct stream *s, int fd, int signal_fd)
{
	const struct options *o = s->options;
	struct reading in = { .fd = fd };
	int status = drop_privileges(o), r;

	if (status >= 0)
		return status;
	r = attached_new(&in.a, s, fd, o->socket ? o->socket : SOCKET_PATH);
	if (r >= 0)
		r = pump(&in, s, signal_fd);
	else
		cmd_error("cannot begin: %s", strerror(-r));
	if (r == ATTACHED_GONE)
		attached_tell_gone(in.a);
	else if (r < 0 && r != -EPIPE)
		cmd_error("%s", strerror(-r));
	status = r == -EPIPE ? CMD_DONE : stream_finish(s);
	if (r != -EPIPE && in.a && !o->quiet)
		attached_summary(in.a);
	attached_free(in.a);
	free(in.buf);
	return r == 0 || r == -EPIPE ? status : CMD_FAILED;
}
