/* SPDX-License-Identifier: MIT */
/* A running daemon in the place of sources of our own: its lines back into records. See attach.h. */
#include "cmd/cmd.h"

#include <sys/socket.h>

#include "base/privileges.h"
#include "cmd/attach.h"
#include "cmd/top.h"
#include "decode/json_record.h"
#include "sink/socket-path.h"

#define READ_SIZE ((size_t)256 << 10)
#define LINE_MAX_SIZE ((size_t)16 << 20)

struct top_attached {
	struct json_record *reader;
	int fd;
	char *buf;
	size_t len, size;
	char host[256], note[128];
};

static void free_attached(struct top *t)
{
	struct top_attached *a = TAKE(t->attached);

	if (!a)
		return;
	json_record_free(a->reader);
	close_fd(a->fd);
	free(a->buf);
	free(a);
}

/* Nothing more comes; what was seen stays. */
static void end(struct top *t, const char *why)
{
	t->at_end = true;
	t->source_fd = close_fd(t->source_fd);
	t->attached->fd = -1;
	snprintf(t->view.note, sizeof(t->view.note), "%s", why);
	t->about.source_note = "the daemon went away";
	top_model_set_sources(t->model, 0);
}

static void take_line(struct top *t, const char *line, size_t len)
{
	struct top_attached *a = t->attached;
	const struct exeunt_record *r;
	int parsed = json_record_parse(a->reader, line, len, &r);
	const char *why, *host;

	if (parsed < 0) {
		end(t, parsed == -ENOMEM ? "not enough memory for a line of the daemon"
					 : "what the daemon sends is not understood");
	} else if (parsed > 0) {
		why = json_record_text(a->reader, "error.message");
		if (why)
			end(t, why);
	} else {
		host = r->type == EXEUNT_TYPE_START ? json_record_text(a->reader, "host.name")
						    : NULL;
		if (host)
			snprintf(a->host, sizeof(a->host), "%s", host);
		top_take(t, r, t->record_mono_ns);
	}
}

static void take_lines(struct top *t)
{
	struct top_attached *a = t->attached;
	size_t at = 0;

	while (a->fd >= 0) {
		const char *stop = memchr(a->buf + at, '\n', a->len - at);

		if (!stop)
			break;
		take_line(t, a->buf + at, (size_t)(stop - a->buf) - at);
		at = (size_t)(stop - a->buf) + 1;
	}
	a->len -= at;
	memmove(a->buf, a->buf + at, a->len);
}

static bool make_room(struct top_attached *a)
{
	size_t size = a->size ? 2 * a->size : 2 * READ_SIZE;
	char *buf;

	if (a->size - a->len >= READ_SIZE)
		return true;
	buf = a->len < LINE_MAX_SIZE ? realloc(a->buf, size) : NULL;
	if (!buf)
		return false;
	a->buf = buf;
	a->size = size;
	return true;
}

/* One piece: the keyboard is asked before the next. */
static int take_input(struct top *t)
{
	struct top_attached *a = t->attached;
	ssize_t n;

	if (!make_room(a)) {
		end(t, "not enough memory for a line of the daemon");
		return 0;
	}
	n = recv(a->fd, a->buf + a->len, READ_SIZE, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		end(t, "the daemon went away");
		return 0;
	}
	a->len += (size_t)n;
	take_lines(t);
	return 0;
}

static int drop(const struct options *o)
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

int top_attached(struct top *t, int fd)
{
	const struct options *o = t->options;
	struct top_attached *a = calloc(1, sizeof(*a));
	int status = drop(o);

	if (!a || json_record_new(&a->reader) < 0) {
		free(a);
		close_fd(fd);
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	a->fd = fd;
	snprintf(a->note, sizeof(a->note), "by the daemon at %s",
		 o->socket ? o->socket : SOCKET_PATH);
	t->attached = a;
	t->source_fd = fd;
	t->take_input = take_input;
	t->about.host = a->host;
	t->about.source_note = a->note;
	if (status < 0)
		status = top_run(t);
	free_attached(t);
	return status;
}
