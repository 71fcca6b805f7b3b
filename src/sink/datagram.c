/* SPDX-License-Identifier: MIT */
/* See datagram.h. */
#include "sink/datagram.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BOUND_DEFAULT (1024 * 1024)
#define SEND_BUFFER \
	(4 * 1024 * 1024) /* the kernel gives what it may: the longest message, and how many */
#define RETRY_NS NS_PER_SEC

struct message {
	struct message *next;
	size_t len;
	char data[];
};

struct datagram {
	struct sockaddr_un address;
	int fd, epoll_fd;
	size_t bound;
	struct message *head, **tail;
	bool behind;
	int64_t retry_at_ns;
	struct datagram_report report;
};

int datagram_new(struct datagram **ret, const char *path, size_t bound)
{
	struct datagram *d;
	int r;

	if (!*path || strlen(path) >= sizeof(d->address.sun_path))
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->address.sun_family = AF_UNIX;
	memcpy(d->address.sun_path, path, strlen(path) + 1);
	d->bound = bound ? bound : BOUND_DEFAULT;
	d->tail = &d->head;
	d->fd = -1;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll_fd < 0) {
		r = -errno;
		datagram_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

static void drop_head(struct datagram *d)
{
	struct message *m = d->head;

	d->head = m->next;
	if (!d->head)
		d->tail = &d->head;
	d->report.pending -= m->len;
	d->report.waiting--;
	free(m);
}

void datagram_free(struct datagram *d)
{
	if (!d)
		return;
	while (d->head)
		drop_head(d);
	close_fd(d->fd);
	close_fd(d->epoll_fd);
	free(d);
}

static void watch(struct datagram *d, bool want)
{
	struct epoll_event event = { .events = EPOLLOUT };

	if (want == d->behind)
		return;
	d->behind = want;
	epoll_ctl(d->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, d->fd, &event);
}

void datagram_reconnect(struct datagram *d)
{
	watch(d, false);
	d->fd = close_fd(d->fd);
	d->retry_at_ns = 0;
}

/* 0 if there is a connection. */
static int open_socket(struct datagram *d, int64_t now)
{
	const int size = SEND_BUFFER;

	if (d->fd >= 0)
		return 0;
	if (now < d->retry_at_ns)
		return -d->report.error;
	d->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (d->fd >= 0 && !connect(d->fd, (struct sockaddr *)&d->address, sizeof(d->address))) {
		setsockopt(d->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		d->report.connects++;
		d->report.error = 0;
		d->retry_at_ns = 0;
		return 0;
	}
	d->report.error = errno;
	d->fd = close_fd(d->fd);
	d->retry_at_ns = now + RETRY_NS;
	return -d->report.error;
}

/* 0: it is out; 1: the reader is behind; -EMSGSIZE; -errno: it is gone. */
static int send_one(struct datagram *d, const void *data, size_t len, int64_t now)
{
	ssize_t n;
	int r = open_socket(d, now);

	if (r)
		return r;
	do
		n = send(d->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0) {
		d->report.written += len;
		return 0;
	}
	if (errno == EAGAIN || errno == ENOBUFS || errno == EMSGSIZE)
		return errno == EMSGSIZE ? -EMSGSIZE : 1;
	d->report.error = errno;
	datagram_reconnect(d);
	d->retry_at_ns = now + RETRY_NS;
	return -d->report.error;
}

int datagram_flush(struct datagram *d, int64_t now)
{
	int r = 0;

	while (d->head && !r) {
		r = send_one(d, d->head->data, d->head->len, now);
		if (r && r != -EMSGSIZE)
			break;
		d->report.too_long += r != 0;
		drop_head(d);
		r = 0;
	}
	watch(d, r == 1);
	return r;
}

int datagram_send(struct datagram *d, const void *data, size_t len, int64_t now)
{
	size_t room = d->bound - MIN(d->report.pending, d->bound);
	struct message *m;

	if (!d->head) {
		int r = send_one(d, data, len, now);

		if (!r || r == -EMSGSIZE)
			return r ? 1 : 0;
		watch(d, r == 1);
	}
	if (len > room)
		return 1;
	m = malloc(sizeof(*m) + len);
	if (!m)
		return 1;
	m->next = NULL;
	m->len = len;
	memcpy(m->data, data, len);
	*d->tail = m;
	d->tail = &m->next;
	d->report.pending += len;
	d->report.waiting++;
	return 0;
}

int datagram_poll_fd(const struct datagram *d)
{
	return d->epoll_fd;
}

int64_t datagram_deadline(const struct datagram *d)
{
	return d->head && d->retry_at_ns ? d->retry_at_ns : INT64_MAX;
}

void datagram_report(const struct datagram *d, struct datagram_report *ret)
{
	*ret = d->report;
}
