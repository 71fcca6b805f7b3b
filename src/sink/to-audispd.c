/* SPDX-License-Identifier: MIT */
/*
 * audispd:[MODE] PATH: audit lines for any number of readers up to 64 of a Unix stream socket, as auditd's af_unix plugin offers
 * them to one: whoever connects is sent lines, each with its newline, and nothing that it sends is read. The stream of each
 * reader begins with a start line of its own, and has a buffer of its own: who does not read loses records of its own
 * alone, and is told how many.
 */
#include <sys/epoll.h>

#include "base/clock.h"
#include "sink/audit-line.h"
#include "sink/feed.h"
#include "sink/listener.h"
#include "sink/output.h"
#include "sink/rate.h"
#include "sink/sink.h"
#include "sink/table.h"

#define READERS_MAX 64
#define BUFFER_DEFAULT (1u << 20)
#define EVENTS 16
#define MODE_DEFAULT 0640
#define RETRY_NS NS_PER_SEC
#define FINISH_NS NS_PER_SEC

struct reader {
	int fd;
	struct output *output;
	struct feed feed;
	struct rate rate;
	bool behind;
};

struct audispd_sink {
	struct sink sink;
	struct listener listener;
	struct audit_sender sender;
	int epoll_fd; /* a reader, or NULL for the listener */
	struct reader *readers[READERS_MAX];
	size_t n;
	struct sink_report gone; /* what those did that left */
	int64_t accept_at_ns;	 /* 0: now; without descriptors nobody is let in for a while */
	int64_t finish_by_ns;
};

static struct audispd_sink *of(struct sink *s)
{
	return (struct audispd_sink *)s;
}

static void reader_free(struct reader *c)
{
	output_free(c->output);
	close_fd(c->fd);
	free(c);
}

static void audispd_sink_free(struct sink *s)
{
	struct audispd_sink *a = of(s);

	for (size_t i = 0; i < a->n; i++)
		reader_free(a->readers[i]);
	listener_close(&a->listener);
	close_fd(a->epoll_fd);
	free(a);
}

static void listen_again(struct audispd_sink *a, bool want)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(a->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, a->listener.fd, &event);
}

/* "0660 /path", as in the args of af_unix.conf, or the path alone. Errors: -EINVAL and a sentence. */
static int parse_target(const char *target, const char **path, mode_t *mode, char *error,
			size_t size)
{
	static const char *const auditds[] = { "/run/audispd_events", "/var/run/audispd_events",
					       "/run/audit/audispd_events",
					       "/var/run/audit/audispd_events" };
	size_t digits = strspn(target, "01234567");

	if (digits && target[digits] == ' ') {
		*mode = (mode_t)strtoul(target, NULL, 8);
		*path = target + digits + strspn(target + digits, " ");
	}
	if (*mode & ~(mode_t)0666 || **path != '/') {
		snprintf(error, size, "'%s': expected a path, or a mode such as 0660 and a path",
			 target);
		return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(auditds); i++)
		if (!strcmp(*path, auditds[i])) {
			snprintf(error, size, "'%s' is auditd's own; take another path", *path);
			return -EINVAL;
		}
	return 0;
}

static int audispd_sink_new(struct sink **ret, const struct sink_options *o, char *error,
			    size_t size)
{
	struct audispd_sink *a = calloc(1, sizeof(*a));
	const char *path = o->target;
	mode_t mode = MODE_DEFAULT;
	int r;

	snprintf(error, size, "not enough memory");
	if (!a)
		return -ENOMEM;
	*a = (struct audispd_sink){ .sink = { &sink_audispd, *o },
				    .listener = LISTENER_CLOSED,
				    .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	r = a->epoll_fd < 0 ? -errno : parse_target(o->target, &path, &mode, error, size);
	if (r >= 0)
		r = listener_open(&a->listener, path, mode, (gid_t)-1, error, size);
	if (r < 0) {
		audispd_sink_free(&a->sink);
		return r;
	}
	listen_again(a, true);
	*ret = &a->sink;
	return 0;
}

static int audispd_sink_start(struct sink *s, char *error, size_t size)
{
	(void)error;
	(void)size;
	audit_sender_init(&of(s)->sender);
	return 0;
}

/* From the end, as one that goes gets the last one in its place. */
static void drop(struct audispd_sink *a, size_t i)
{
	feed_report(&a->readers[i]->feed, &a->gone);
	a->gone.queued_bytes = 0;
	reader_free(a->readers[i]);
	a->readers[i] = a->readers[--a->n];
}

static void watch(const struct audispd_sink *a, struct reader *c, bool behind)
{
	struct epoll_event event = { .events = behind ? EPOLLOUT : 0, .data.ptr = c };

	if (behind != c->behind)
		epoll_ctl(a->epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
	c->behind = behind;
}

static void flush_reader(struct audispd_sink *a, size_t i)
{
	struct reader *c = a->readers[i];
	int r = feed_flush(&c->feed);

	if (r < 0)
		drop(a, i);
	else
		watch(a, c, r == 1);
}

static void begin(struct audispd_sink *a, struct reader *c)
{
	const struct sink_options *o = &a->sink.options;
	struct exeunt_record start;

	feed_init(&c->feed, o, audit_line_write, &a->sender, c->output);
	rate_init(&c->rate, o->rate, mono_now());
	c->feed.rate = o->rate ? &c->rate : NULL;
	o->host->describe(EXEUNT_TYPE_START, &start, o->host->userdata);
	feed_record(&c->feed, &start);
}

/* The descriptor is ours in any case. */
static int add(struct audispd_sink *a, int fd)
{
	struct reader *c = calloc(1, sizeof(*c));
	struct epoll_event event = { .data.ptr = c }; /* that it leaves is told unasked */
	uint64_t buffer = a->sink.options.buffer;
	int r = -ENOMEM;

	if (!c) {
		close_fd(fd);
		return r;
	}
	c->fd = fd;
	r = output_new(&c->output, fd, buffer ? buffer : BUFFER_DEFAULT);
	if (r >= 0 && epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		r = -errno;
	if (r < 0) {
		reader_free(c);
		return r;
	}
	begin(a, c);
	a->readers[a->n++] = c;
	flush_reader(a, a->n - 1);
	return 0;
}

/* A few at a time, as the next records wait. */
static void let_in(struct audispd_sink *a, int64_t now)
{
	for (int i = 0; i < 16; i++) {
		int fd = listener_accept(&a->listener);

		if (fd == -EAGAIN)
			return;
		if (fd >= 0 && a->n == READERS_MAX) {
			sink_say(&a->sink, 4, "%s: a reader was turned away: there are %d already",
				 a->listener.path, READERS_MAX);
			close_fd(fd);
			fd = -EMFILE;
		}
		if (fd < 0 || add(a, fd) < 0) {
			listen_again(a, false);
			a->accept_at_ns = now + RETRY_NS;
			return;
		}
	}
}

static void audispd_sink_record(struct sink *s, const struct exeunt_record *r)
{
	struct audispd_sink *a = of(s);

	for (size_t i = 0; i < a->n; i++)
		feed_record(&a->readers[i]->feed, r);
}

static void audispd_sink_flush(struct sink *s, int64_t now)
{
	struct audispd_sink *a = of(s);

	(void)now;
	for (size_t i = a->n; i-- > 0;)
		flush_reader(a, i);
}

static void serve_reader(struct audispd_sink *a, const struct reader *c, uint32_t events)
{
	size_t i = 0;

	while (i < a->n && a->readers[i] != c)
		i++;
	if (i == a->n)
		return;
	if (events & (EPOLLERR | EPOLLHUP))
		drop(a, i);
	else
		flush_reader(a, i);
}

static void audispd_sink_dispatch(struct sink *s, int64_t now)
{
	struct audispd_sink *a = of(s);
	struct epoll_event events[EVENTS];
	int n = epoll_wait(a->epoll_fd, events, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			serve_reader(a, events[i].data.ptr, events[i].events);
		else
			let_in(a, now);
	}
	if (a->accept_at_ns && now >= a->accept_at_ns) {
		a->accept_at_ns = 0;
		listen_again(a, true);
	}
}

static int audispd_sink_fd(const struct sink *s)
{
	return ((const struct audispd_sink *)s)->epoll_fd;
}

static int64_t audispd_sink_deadline(const struct sink *s)
{
	const struct audispd_sink *a = (const struct audispd_sink *)s;

	return a->accept_at_ns ? a->accept_at_ns : INT64_MAX;
}

static void audispd_sink_report(const struct sink *s, struct sink_report *ret)
{
	const struct audispd_sink *a = (const struct audispd_sink *)s;

	*ret = a->gone;
	ret->readers = a->n;
	for (size_t i = 0; i < a->n; i++)
		feed_report(&a->readers[i]->feed, ret);
}

/* Who does not read is not owed the end: a second, then it has had its chance. */
static bool audispd_sink_finish(struct sink *s, int64_t now)
{
	struct audispd_sink *a = of(s);
	struct sink_report report;

	if (!a->finish_by_ns)
		a->finish_by_ns = now + FINISH_NS;
	audispd_sink_dispatch(s, now);
	audispd_sink_flush(s, now);
	audispd_sink_report(s, &report);
	return !report.queued_bytes || now >= a->finish_by_ns;
}

const struct sink_ops sink_audispd = {
	.word = "audispd",
	.target = "[MODE] PATH",
	.help = "audit lines for every reader of a Unix stream socket, as auditd's af_unix plugin has them",
	.fleeting = true,
	.new = audispd_sink_new,
	.free = audispd_sink_free,
	.start = audispd_sink_start,
	.record = audispd_sink_record,
	.flush = audispd_sink_flush,
	.fd = audispd_sink_fd,
	.deadline = audispd_sink_deadline,
	.dispatch = audispd_sink_dispatch,
	.finish = audispd_sink_finish,
	.report = audispd_sink_report,
};
