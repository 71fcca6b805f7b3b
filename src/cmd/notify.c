/* SPDX-License-Identifier: MIT */
/* See notify.h. The protocol is a datagram of lines; a library for that would be the larger part. */
#include "cmd/notify.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Each message by its address: the manager may be started anew behind it. */
static int open_socket(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int fd;

	if ((*path != '/' && *path != '@') || len < 2 || len >= sizeof(to.sun_path))
		return -1;
	memcpy(to.sun_path, path, len);
	if (*path == '@')
		to.sun_path[0] = '\0'; /* an abstract name */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)))
		fd = close_fd(fd);
	return fd;
}

static int64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoll(usec, NULL, 10) * NS_PER_USEC / 2;
}

void notify_open(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .fd = -1 };
	if (path)
		n->fd = open_socket(path);
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
	send(n->fd, text, (size_t)MIN(len, (int)sizeof(text) - 1), MSG_NOSIGNAL);
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
