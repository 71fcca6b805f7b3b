/* SPDX-License-Identifier: MIT */
/*
 * metrics:PATH: numbers of the run as a file for node_exporter's textfile collector, every 15 seconds, on SIGHUP and at the
 * end. Each is written whole beside the old one, and renamed over it, so that no reader sees half of it.
 *
 * This is the one sink that writes to a file and waits for it: some ten kilobytes of a regular file, not synced, which the
 * page cache takes. If the disk is full that is told once, the old file stays, and the next time it is tried again.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/procfile.h"
#include "sink/exposition.h"
#include "sink/metrics.h"
#include "sink/sink.h"
#include "sink/table.h"

#define INTERVAL_NS (15 * NS_PER_SEC)
#define SUFFIX ".prom" /* what node_exporter reads; the file beside it must not end so */

struct metrics_sink {
	struct sink sink;
	struct metrics metrics;
	struct exposition text;
	char *dir, *name, *beside;
	int dir_fd;
	int64_t write_at_ns;
	uint64_t written_bytes;
	int error; /* as last told */
	bool stopped;
};

static struct metrics_sink *of(struct sink *s)
{
	return (struct metrics_sink *)s;
}

static void metrics_sink_free(struct sink *s)
{
	struct metrics_sink *m = of(s);

	exposition_free(&m->text);
	close_fd(m->dir_fd);
	free(m->dir);
	free(m->name);
	free(m->beside);
	free(m);
}

static bool split_path(struct metrics_sink *m, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	m->dir = slash ? strndup(path, (size_t)MAX(slash - path, 1)) : strdup(".");
	m->name = strdup(name);
	if (asprintf(&m->beside, ".%s.new", name) < 0)
		m->beside = NULL;
	return m->dir && m->name && m->beside;
}

static int open_dir(const struct metrics_sink *m)
{
	int fd = open(m->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_taken(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	return *name != '.' && len > strlen(SUFFIX) && !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

static int metrics_sink_new(struct sink **ret, const struct sink_options *o, char *error,
			    size_t size)
{
	struct metrics_sink *m;

	if (!is_taken(o->target)) {
		snprintf(error, size,
			 "'%s': the name has to end in %s, or node_exporter does not read it",
			 o->target, SUFFIX);
		return -EINVAL;
	}
	snprintf(error, size, "not enough memory");
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct metrics_sink){ .sink = { &sink_metrics, *o },
				    .metrics = { .filter = o->filter },
				    .dir_fd = -ENOMEM,
				    .write_at_ns = INT64_MAX };
	if (split_path(m, o->target)) {
		m->dir_fd = open_dir(m);
		if (m->dir_fd < 0)
			snprintf(error, size, "cannot open the folder '%s': %s", m->dir,
				 strerror(-m->dir_fd));
	}
	if (m->dir_fd < 0) {
		int r = m->dir_fd;

		metrics_sink_free(&m->sink);
		return r;
	}
	*ret = &m->sink;
	return 0;
}

/* One that a crash has left is no obstacle, and one that somebody else put there is not followed. */
static int open_beside(const struct metrics_sink *m)
{
	int fd;

	unlinkat(m->dir_fd, m->beside, 0);
	fd = openat(m->dir_fd, m->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	return fd < 0 ? -errno : fd;
}

/* Privileges are gone, and so, perhaps, is the right to write there. */
static int metrics_sink_start(struct sink *s, char *error, size_t size)
{
	struct metrics_sink *m = of(s);
	int fd = open_beside(m);

	if (fd == -EACCES || fd == -EPERM || fd == -EROFS) {
		snprintf(
			error, size,
			"cannot write into the folder '%s' without privileges: %s; let it belong to "
			"the user that exeunt runs as, number %u",
			m->dir, strerror(-fd), (unsigned int)geteuid());
		return fd;
	}
	if (fd >= 0)
		unlinkat(m->dir_fd, m->beside, 0);
	close_fd(fd);
	m->write_at_ns = mono_now();
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The mode whatever the umask is: node_exporter is another user. */
static int replace(struct metrics_sink *m)
{
	int fd = open_beside(m), r;

	if (fd < 0)
		return fd;
	r = fchmod(fd, 0644) ? -errno : write_all(fd, m->text.data, m->text.len);
	if (close(fd) && r >= 0)
		r = -errno;
	if (r >= 0 && renameat(m->dir_fd, m->beside, m->dir_fd, m->name))
		r = -errno;
	if (r < 0)
		unlinkat(m->dir_fd, m->beside, 0);
	else
		m->written_bytes += m->text.len;
	return r;
}

static int64_t ns_of(const struct timeval *t)
{
	return t->tv_sec * NS_PER_SEC + t->tv_usec * NS_PER_USEC;
}

static void look_at_self(struct metrics_facts *f)
{
	struct rusage usage;
	char line[128];
	char *second;

	if (!getrusage(RUSAGE_SELF, &usage)) {
		f->cpu_user_ns = ns_of(&usage.ru_utime);
		f->cpu_system_ns = ns_of(&usage.ru_stime);
	}
	if (procfile_line("/proc/self/statm", line, sizeof(line)) > 0) {
		second = strchr(line, ' ');
		if (second)
			f->resident_bytes =
				strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	}
}

static void describe(struct metrics_sink *m)
{
	const struct sink_host *host = m->sink.options.host;
	struct metrics_facts facts = { .running = !m->stopped };
	struct exeunt_record now;

	host->describe(EXEUNT_TYPE_STATUS, &now, host->userdata);
	facts.status = now.status;
	facts.sinks = host->sinks(&facts.n_sinks, host->userdata);
	look_at_self(&facts);
	exposition_reset(&m->text);
	metrics_write(&m->metrics, &facts, &m->text);
}

static void tell_trouble(struct metrics_sink *m, int error)
{
	if (error && error != m->error)
		sink_say(&m->sink, 3,
			 "writing to '%s' failed: %s; the old one stays, and it is tried again",
			 m->sink.options.target, strerror(error));
	if (!error && m->error)
		sink_say(&m->sink, 6, "writing to '%s' works again", m->sink.options.target);
	m->error = error;
}

static void put_out(struct metrics_sink *m, int64_t now)
{
	int64_t interval = m->sink.options.interval_ns;
	int r;

	m->write_at_ns = now + (interval ? interval : INTERVAL_NS);
	describe(m);
	r = exposition_failed(&m->text) ? -ENOMEM : replace(m);
	tell_trouble(m, r < 0 ? -r : 0);
}

static void metrics_sink_record(struct sink *s, const struct exeunt_record *r)
{
	struct metrics_sink *m = of(s);

	metrics_count(&m->metrics, r);
	m->stopped |= r->type == EXEUNT_TYPE_STOP;
}

/* Whether the file is due, not whether there was a record: a batch is often. */
static void metrics_sink_flush(struct sink *s, int64_t now)
{
	struct metrics_sink *m = of(s);

	if (now >= m->write_at_ns)
		put_out(m, now);
}

static int64_t metrics_sink_deadline(const struct sink *s)
{
	return ((const struct metrics_sink *)s)->write_at_ns;
}

static void metrics_sink_reload(struct sink *s)
{
	struct metrics_sink *m = of(s);
	int fd = open_dir(m);

	if (fd < 0) {
		sink_say(s, 3,
			 "cannot open the folder '%s' again: %s; the one that is open stays in use",
			 m->dir, strerror(-fd));
	} else {
		close_fd(m->dir_fd);
		m->dir_fd = fd;
	}
	put_out(m, mono_now());
}

/* A last time, when every other sink has got the last record. */
static bool metrics_sink_finish(struct sink *s, int64_t now)
{
	put_out(of(s), now);
	return true;
}

static void metrics_sink_report(const struct sink *s, struct sink_report *ret)
{
	const struct metrics_sink *m = (const struct metrics_sink *)s;

	*ret = (struct sink_report){ .records = m->metrics.records,
				     .filtered = m->metrics.filtered,
				     .written_bytes = m->written_bytes,
				     .readers = 1,
				     .error = m->error };
}

const struct sink_ops sink_metrics = {
	.word = "metrics",
	.target = "PATH",
	.help = "numbers of the run, for the textfile collector of node_exporter; PATH ends in .prom",
	.new = metrics_sink_new,
	.free = metrics_sink_free,
	.start = metrics_sink_start,
	.record = metrics_sink_record,
	.flush = metrics_sink_flush,
	.deadline = metrics_sink_deadline,
	.dispatch = metrics_sink_flush,
	.reload = metrics_sink_reload,
	.finish = metrics_sink_finish,
	.report = metrics_sink_report,
};
