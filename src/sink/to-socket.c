/* SPDX-License-Identifier: MIT */
/*
 * socket:PATH: JSON Lines for any number of readers up to 64, each with a stream, a buffer and a filter of its
 * own. Owns the socket and the connections.
 *
 * Readers are members of a group, and not trusted with the collector's time or memory: what one does not take is
 * dropped from its stream alone; the filters of all together may take a part of one CPU, else the dearest one
 * goes.
 */
#include <grp.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "sink/json.h"
#include "sink/listener.h"
#include "sink/output.h"
#include "sink/socket-client.h"
#include "sink/table.h"

#define CLIENTS_MAX 64
#define MODE 0660 /* who connects has to be allowed to write */
#define RETRY_NS NS_PER_SEC
#define FINISH_NS NS_PER_SEC
/* Filters may take a fifth of the time, and so much at once. */
#define COST_SHARE 5
#define COST_MAX_NS (NS_PER_SEC / 10)

struct socket_sink {
	struct sink sink;
	struct listener listener;
	struct json *json;
	int epoll_fd; /* a client, or NULL for the listener */
	struct client *clients[CLIENTS_MAX];
	size_t n;
	struct sink_report gone; /* what those did that left */
	int64_t accept_at_ns;	 /* 0: now; without descriptors nobody is let in for a while */
	int64_t finish_by_ns;
	int64_t paid_ns; /* up to then the cost of filters is forgiven */
	bool full;	 /* and that was told */
};

static struct socket_sink *of(struct sink *s)
{
	return (struct socket_sink *)s;
}

static void socket_sink_free(struct sink *s)
{
	struct socket_sink *t = of(s);

	for (size_t i = 0; i < t->n; i++)
		client_free(t->clients[i]);
	listener_close(&t->listener);
	json_free(t->json);
	close_fd(t->epoll_fd);
	free(t);
}

/* Of those who may read what processes do here. */
static gid_t readers_group(void)
{
	const struct group *g = getgrnam("exeunt");

	if (!g)
		g = getgrnam("adm");
	return g ? g->gr_gid : 0;
}

static void listen_again(struct socket_sink *t, bool want)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(t->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, t->listener.fd, &event);
}

static int socket_sink_new(struct sink **ret, const struct sink_options *o, char *error,
			   size_t size)
{
	struct socket_sink *t = calloc(1, sizeof(*t));
	int r;

	snprintf(error, size, "not enough memory");
	if (!t)
		return -ENOMEM;
	*t = (struct socket_sink){ .sink = { &sink_socket, *o },
				   .listener = LISTENER_CLOSED,
				   .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	r = t->epoll_fd < 0 ? -errno : json_new(&t->json, o->host->name, o->host->boot_id);
	if (r >= 0)
		r = listener_open(&t->listener, o->target, MODE, readers_group(), error, size);
	if (r < 0) {
		socket_sink_free(&t->sink);
		return r;
	}
	listen_again(t, true);
	*ret = &t->sink;
	return 0;
}

static void drop(struct socket_sink *t, size_t i)
{
	client_report(t->clients[i], &t->gone);
	t->gone.queued_bytes = 0;
	client_free(t->clients[i]);
	t->clients[i] = t->clients[--t->n];
	t->full = false;
}

static size_t index_of(const struct socket_sink *t, const struct client *c)
{
	size_t i = 0;

	while (i < t->n && t->clients[i] != c)
		i++;
	return i;
}

static void watch(struct socket_sink *t, struct client *c)
{
	uint32_t wants = client_wants(c);
	struct epoll_event event = { .events = wants, .data.ptr = c };

	if (wants == c->waiting)
		return;
	c->waiting = wants;
	epoll_ctl(t->epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

static void flush_client(struct socket_sink *t, size_t i)
{
	if (client_flush(t->clients[i]))
		watch(t, t->clients[i]);
	else
		drop(t, i);
}

/* -errno: the descriptor is still the caller's. */
static int add(struct socket_sink *t, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct client *c;
	int r = client_new(&c, fd, &t->sink.options, t->json);

	if (r < 0)
		return r;
	event.data.ptr = c;
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		r = -errno;
		c->fd = -1;
		client_free(c);
		return r;
	}
	c->waiting = event.events;
	t->clients[t->n++] = c;
	flush_client(t, t->n - 1);
	return 0;
}

static void turn_away(struct socket_sink *t, int fd, const char *why)
{
	client_turn_away(fd, why);
	close_fd(fd);
	if (!t->full)
		sink_say(&t->sink, 4, "%s: a reader was turned away: %s", t->listener.path, why);
	t->full = true;
}

/* A few at a time, as the next records wait. */
static void let_in(struct socket_sink *t, int64_t now)
{
	for (int i = 0; i < 16; i++) {
		int fd = listener_accept(&t->listener);

		if (fd == -EAGAIN)
			return;
		if (fd < 0) {
			listen_again(t, false);
			t->accept_at_ns = now + RETRY_NS;
			return;
		}
		if (t->n == CLIENTS_MAX)
			turn_away(t, fd, "64 readers are connected already");
		else if (add(t, fd) < 0)
			turn_away(t, fd, "not enough memory");
	}
}

static void socket_sink_record(struct sink *s, const struct exeunt_record *r)
{
	struct socket_sink *t = of(s);

	for (size_t i = 0; i < t->n; i++)
		client_record(t->clients[i], r);
}

/*
 * Takes from what each filter cost what time has forgiven; when all together are over the limit, the dearest one
 * goes.
 */
static void weigh_filters(struct socket_sink *t, int64_t now)
{
	int64_t forgiven = (now - t->paid_ns) / COST_SHARE, total = 0;
	struct client *dearest = NULL;

	t->paid_ns = now;
	for (size_t i = 0; i < t->n; i++) {
		struct client *c = t->clients[i];
		int64_t part = MIN(c->cost_ns, forgiven);

		c->cost_ns -= part;
		forgiven -= part;
		total += c->cost_ns;
		if (c->cost_ns && (!dearest || c->cost_ns > dearest->cost_ns))
			dearest = c;
	}
	if (!dearest || total <= COST_MAX_NS)
		return;
	dearest->cost_ns = 0;
	client_refuse(dearest, "filter: it takes too much time on this host; ask for less");
	sink_say(&t->sink, 4, "%s: the filter of a reader took too much time; it is let go",
		 t->listener.path);
}

static void socket_sink_flush(struct sink *s, int64_t now)
{
	struct socket_sink *t = of(s);

	weigh_filters(t, now);
	/* from the end, as one that goes gets the last one in its place */
	for (size_t i = t->n; i-- > 0;)
		flush_client(t, i);
}

static void serve_client(struct socket_sink *t, struct client *c, uint32_t events)
{
	size_t i = index_of(t, c);

	if (events & (EPOLLERR | EPOLLHUP) || (events & EPOLLIN && !client_read(c)))
		drop(t, i);
	else
		flush_client(t, i);
}

static void socket_sink_dispatch(struct sink *s, int64_t now)
{
	struct socket_sink *t = of(s);
	struct epoll_event events[CLIENTS_MAX + 1];
	int n = epoll_wait(t->epoll_fd, events, ARRAY_SIZE(events), 0);
	bool knocks = false;

	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			serve_client(t, events[i].data.ptr, events[i].events);
		else
			knocks = true;
	}
	/* those that left made room first */
	if (knocks)
		let_in(t, now);
	if (t->accept_at_ns && now >= t->accept_at_ns) {
		t->accept_at_ns = 0;
		listen_again(t, true);
	}
}

static int socket_sink_fd(const struct sink *s)
{
	return ((const struct socket_sink *)s)->epoll_fd;
}

static int64_t socket_sink_deadline(const struct sink *s)
{
	const struct socket_sink *t = (const struct socket_sink *)s;

	return t->accept_at_ns ? t->accept_at_ns : INT64_MAX;
}

static void socket_sink_report(const struct sink *s, struct sink_report *ret)
{
	const struct socket_sink *t = (const struct socket_sink *)s;

	*ret = t->gone;
	ret->readers = t->n;
	for (size_t i = 0; i < t->n; i++)
		client_report(t->clients[i], ret);
}

/* Who does not read is not owed the end: a second, then it has had its chance. */
static bool socket_sink_finish(struct sink *s, int64_t now)
{
	struct socket_sink *t = of(s);
	struct sink_report report;

	if (!t->finish_by_ns)
		t->finish_by_ns = now + FINISH_NS;
	socket_sink_dispatch(s, now);
	socket_sink_flush(s, now);
	socket_sink_report(s, &report);
	return !report.queued_bytes || now >= t->finish_by_ns;
}

const struct sink_ops sink_socket = {
	.word = "socket",
	.target = "PATH",
	.help = "JSON Lines for every reader of a Unix stream socket, such as exeunt live",
	.fleeting = true,
	.new = socket_sink_new,
	.free = socket_sink_free,
	.record = socket_sink_record,
	.flush = socket_sink_flush,
	.fd = socket_sink_fd,
	.deadline = socket_sink_deadline,
	.dispatch = socket_sink_dispatch,
	.finish = socket_sink_finish,
	.report = socket_sink_report,
};
