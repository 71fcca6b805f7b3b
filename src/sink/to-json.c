/* SPDX-License-Identifier: MIT */
/*
 * json:PATH and json:-: JSON Lines into a file, which is added to, or to standard output. A reload opens the path again, as
 * rotation by rename wants it; what was queued for the old file goes to the new one. A full disk loses nothing until the
 * buffer is full, and is tried again each second. Two sinks into one file would tear each other's lines: the second is refused.
 */
#include <sys/epoll.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "sink/feed.h"
#include "sink/json.h"
#include "sink/outfile.h"
#include "sink/output.h"
#include "sink/sink.h"
#include "sink/table.h"

#define RETRY_NS NS_PER_SEC

struct json_sink {
	struct sink sink;
	struct feed feed;
	struct json *json;
	struct output *output;
	int fd;	      /* ours; -1: standard output */
	int epoll_fd; /* readable when the reader takes more; unused by a regular file */
	bool behind, gone;
	int error; /* as last told */
	int64_t retry_at_ns;
	uint64_t reopened;
};

static struct json_sink *of(struct sink *s)
{
	return (struct json_sink *)s;
}

static const char *place(const struct json_sink *j)
{
	return j->fd < 0 ? "standard output" : j->sink.options.target;
}

static void json_sink_free(struct sink *s)
{
	struct json_sink *j = of(s);

	output_free(j->output);
	json_free(j->json);
	close_fd(j->fd);
	close_fd(j->epoll_fd);
	free(j);
}

static int fd_of(const struct json_sink *j)
{
	return j->fd < 0 ? STDOUT_FILENO : j->fd;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The sink of this run that writes to the file already, other than `j`; a terminal or /dev/null may have several. */
static const struct sink *find_writer(const struct json_sink *j, const struct stat *st)
{
	const struct sink_host *host = j->sink.options.host;
	struct sink *const *sinks;
	struct stat other;
	size_t n = 0;

	if (!host->sinks || S_ISCHR(st->st_mode))
		return NULL;
	sinks = host->sinks(&n, host->userdata);
	for (size_t i = 0; i < n; i++)
		if (sinks[i] != &j->sink && sinks[i]->ops == &sink_json &&
		    !fstat(fd_of((const struct json_sink *)sinks[i]), &other) &&
		    is_same(&other, st))
			return sinks[i];
	return NULL;
}

/* Before it is opened: half a line at the end of another sink's file is not to be ended by us. */
static int refuse_second(const struct json_sink *j, const char *path, char *error, size_t size)
{
	bool is_stdout = !strcmp(path, "-");
	const struct sink *writer;
	struct stat st;

	if (is_stdout ? fstat(STDOUT_FILENO, &st) : stat(path, &st))
		return 0;
	writer = find_writer(j, &st);
	if (!writer)
		return 0;
	snprintf(error, size, "%s%s%s is what sink %s writes to: each needs a file of its own",
		 is_stdout ? "" : "'", is_stdout ? "standard output" : path, is_stdout ? "" : "'",
		 writer->options.name);
	return -EBUSY;
}

static int open_path(struct json_sink *j, const char *path, char *error, size_t size)
{
	int r = refuse_second(j, path, error, size);

	if (r < 0 || !strcmp(path, "-"))
		return r < 0 ? r : STDOUT_FILENO;
	r = outfile_open(path, OUTFILE_ADD);
	if (r < 0)
		snprintf(error, size, "cannot open '%s' for writing: %s", path, strerror(-r));
	else
		j->fd = r;
	return r;
}

static int json_sink_new(struct sink **ret, const struct sink_options *o, char *error, size_t size)
{
	struct json_sink *j = calloc(1, sizeof(*j));
	int r = -ENOMEM;

	snprintf(error, size, "not enough memory");
	if (!j)
		return r;
	*j = (struct json_sink){ .sink = { &sink_json, *o },
				 .fd = -1,
				 .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	r = open_path(j, o->target, error, size);
	if (r >= 0) {
		r = output_new(&j->output, r, o->buffer);
		if (r < 0)
			snprintf(error, size, "cannot write to %s: %s", place(j), strerror(-r));
	}
	if (r >= 0)
		r = json_new(&j->json, o->host->name, o->host->boot_id);
	if (r < 0) {
		json_sink_free(&j->sink);
		return r;
	}
	feed_init(&j->feed, o, feed_json, j->json, j->output);
	*ret = &j->sink;
	return 0;
}

static void json_sink_record(struct sink *s, const struct exeunt_record *r)
{
	feed_record(&of(s)->feed, r);
}

/* A pipe that is full is waited for; a regular file never is. */
static void watch(struct json_sink *j, bool want)
{
	struct epoll_event event = { .events = EPOLLOUT };

	if (want == j->behind)
		return;
	j->behind = want;
	epoll_ctl(j->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, output_poll_fd(j->output),
		  &event);
}

static void tell_trouble(struct json_sink *j, int error)
{
	if (error && error != j->error)
		sink_say(
			&j->sink, 3,
			"writing to %s failed: %s; records are kept as far as the buffer goes, and tried again",
			place(j), strerror(error));
	if (!error && j->error)
		sink_say(&j->sink, 6, "writing to %s works again", place(j));
	j->error = error;
}

static void json_sink_flush(struct sink *s, int64_t now)
{
	struct json_sink *j = of(s);
	int r;

	if (j->gone || now < j->retry_at_ns)
		return;
	r = feed_flush(&j->feed);
	watch(j, r == 1);
	if (r == -EPIPE) {
		j->gone = true;
		j->error = EPIPE;
		sink_say(s, 5, "the reader of %s went away", place(j));
		return;
	}
	tell_trouble(j, r < 0 ? -r : 0);
	j->retry_at_ns = r < 0 ? now + RETRY_NS : 0;
}

static int json_sink_fd(const struct sink *s)
{
	return ((const struct json_sink *)s)->epoll_fd;
}

static int64_t json_sink_deadline(const struct sink *s)
{
	const struct json_sink *j = (const struct json_sink *)s;

	return j->retry_at_ns ? j->retry_at_ns : INT64_MAX;
}

/* Nothing was moved away: opened again, what we wrote of a line would seem somebody's half one. */
static bool is_in_place(const struct json_sink *j)
{
	struct stat ours, there;

	return !stat(j->sink.options.target, &there) && !fstat(j->fd, &ours) &&
	       is_same(&ours, &there);
}

static void move(struct json_sink *j, int fd)
{
	output_flush(j->output);
	watch(j, false);
	if (output_move(j->output, fd) < 0) {
		close_fd(fd);
		return;
	}
	close_fd(j->fd);
	j->fd = fd;
	j->gone = false;
	j->reopened++;
}

static void json_sink_reload(struct sink *s)
{
	struct json_sink *j = of(s);
	char error[512];
	int fd = -1;

	if (j->fd < 0)
		return;
	if (j->gone || !is_in_place(j)) {
		fd = refuse_second(j, s->options.target, error, sizeof(error));
		if (fd == 0)
			fd = outfile_open(s->options.target, OUTFILE_ADD);
		if (fd == -EBUSY)
			sink_say(s, 3, "%s; the file that is open stays in use", error);
		else if (fd < 0)
			sink_say(s, 3,
				 "cannot open '%s' again: %s; the file that is open stays in use",
				 s->options.target, strerror(-fd));
		else
			move(j, fd);
	}
	j->retry_at_ns = 0;
	json_sink_flush(s, mono_now());
}

static bool json_sink_finish(struct sink *s, int64_t now)
{
	struct json_sink *j = of(s);

	json_sink_flush(s, now);
	return j->gone || !output_pending(j->output);
}

static void json_sink_report(const struct sink *s, struct sink_report *ret)
{
	const struct json_sink *j = (const struct json_sink *)s;

	*ret = (struct sink_report){ .readers = !j->gone,
				     .restarts = j->reopened,
				     .ended = j->gone && j->fd < 0,
				     .error = j->error };
	feed_report(&j->feed, ret);
}

const struct sink_ops sink_json = {
	.word = "json",
	.target = "PATH",
	.help = "JSON Lines, added to a file that is opened again on SIGHUP; - is standard output",
	.new = json_sink_new,
	.free = json_sink_free,
	.record = json_sink_record,
	.flush = json_sink_flush,
	.fd = json_sink_fd,
	.deadline = json_sink_deadline,
	.dispatch = json_sink_flush,
	.reload = json_sink_reload,
	.finish = json_sink_finish,
	.report = json_sink_report,
};
