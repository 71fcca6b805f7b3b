/* SPDX-License-Identifier: MIT */
/* See notify.h. The protocol is a datagram of lines; a library for that would be the larger part. */
#include "cmd/notify.h"

#include <stdarg.h>

static bool reach(const struct notify *n)
{
	return !connect(n->fd, (const struct sockaddr *)&n->to, n->to_len);
}

/* Reached now, with privileges that may be gone later. */
static void open_socket(struct notify *n, const char *path)
{
	size_t len = strlen(path);

	if ((*path != '/' && *path != '@') || len < 2 || len >= sizeof(n->to.sun_path))
		return;
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, path, len);
	if (*path == '@')
		n->to.sun_path[0] = '\0'; /* an abstract name */
	n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd >= 0)
		reach(n);
}

static int64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	int64_t n;

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	n = MAX(strtoll(usec, NULL, 10), 0);
	return MIN(n, INT64_MAX / NS_PER_USEC) * NS_PER_USEC / 2;
}

void notify_open(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .fd = -1 };
	if (path)
		open_socket(n, path);
	if (n->fd >= 0)
		n->every_ns = watchdog_ns();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_close(struct notify *n)
{
	n->fd = close_fd(n->fd);
}

void notify_send(const struct notify *n, const char *format, ...)
{
	char text[1024];
	va_list ap;
	int len;

	if (n->fd < 0)
		return;
	va_start(ap, format);
	len = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	len = MIN(len, (int)sizeof(text) - 1);
	if (send(n->fd, text, (size_t)len, MSG_NOSIGNAL) >= 0 || errno == EAGAIN)
		return;
	if (reach(n)) /* the manager was started anew meanwhile */
		send(n->fd, text, (size_t)len, MSG_NOSIGNAL);
}

int64_t notify_alive(struct notify *n, int64_t mono_ns)
{
	if (!n->every_ns)
		return INT64_MAX;
	if (mono_ns >= n->next_ns) {
		notify_send(n, "WATCHDOG=1");
		n->next_ns = mono_ns + n->every_ns;
	}
	return n->next_ns;
}
