/* SPDX-License-Identifier: MIT */
/*
 * plugin:PATH [ARGS]: runs a dispatcher plugin as auditd would, and gives it audit lines. One that reads slowly loses records of
 * its own, none if the buffer is large enough; one that ends is started again, after a pause that gets longer if that is
 * often; one that does not leave at the end is told to, and then ended. What it had not read when it died, the next one
 * gets. See plugin-keeper.h.
 */
#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "sink/audit-line.h"
#include "sink/feed.h"
#include "sink/output.h"
#include "sink/plugin-keeper.h"
#include "sink/rate.h"
#include "sink/sink.h"
#include "sink/table.h"

#define START_MS 5000
#define PAUSE_NS (100 * NS_PER_MSEC) /* before it is started again; doubled with each end */
#define PAUSE_MAX_NS (30 * NS_PER_SEC)
#define FORGIVE_NS (10 * NS_PER_SEC) /* of life make up for one end */
#define TERM_NS (3 * NS_PER_SEC)     /* at the stop, to read all and leave */
#define KILL_NS (4 * NS_PER_SEC)

enum stage { STAGE_RUN, STAGE_END, STAGE_DRAIN, STAGE_DONE };

struct plugin_sink {
	struct sink sink;
	struct feed feed;
	struct rate rate;
	struct audit_sender sender;
	struct output *output;
	struct plugin_keeper *keeper;
	char *words, **argv; /* of the target */
	int epoll_fd;
	enum stage stage;
	bool behind, gone, starting, telling, ended_input, broken;
	pid_t pid; /* 0: it does not run */
	int error; /* why it could not be started */
	uint64_t starts;
	unsigned int strikes; /* ends that are not forgiven */
	int64_t started_at_ns, start_at_ns, term_at_ns, kill_at_ns;
};

static struct plugin_sink *of(struct sink *s)
{
	return (struct plugin_sink *)s;
}

static void plugin_sink_free(struct sink *s)
{
	struct plugin_sink *p = of(s);

	output_free(p->output);
	plugin_keeper_free(p->keeper);
	close_fd(p->epoll_fd);
	free(p->words);
	free(p->argv);
	free(p);
}

static int plugin_sink_new(struct sink **ret, const struct sink_options *o, char *error,
			   size_t size)
{
	struct plugin_sink *p = calloc(1, sizeof(*p));
	char why[128] = "not enough memory";
	int r = -ENOMEM;

	if (p) {
		*p = (struct plugin_sink){ .sink = { &sink_plugin, *o },
					   .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
		r = plugin_split(o->target, &p->words, &p->argv);
	}
	if (r == -EINVAL)
		snprintf(why, sizeof(why), "there is no path");
	if (r >= 0)
		r = plugin_check(p->argv[0], why, sizeof(why));
	if (r >= 0) {
		r = plugin_keeper_new(&p->keeper, p->argv);
		if (r < 0)
			snprintf(why, sizeof(why), "%s", strerror(-r));
	}
	if (r < 0) {
		snprintf(error, size, "plugin '%s': %s", o->target, why);
		if (p)
			plugin_sink_free(&p->sink);
		return r;
	}
	*ret = &p->sink;
	return 0;
}

static void ask_start(struct plugin_sink *p)
{
	p->starting = !plugin_keeper_ask(p->keeper, PLUGIN_ASK_START);
	p->start_at_ns = p->starting ? INT64_MAX : mono_now() + PAUSE_MAX_NS;
}

static void pause_before_start(struct plugin_sink *p, int64_t now)
{
	int64_t pause = PAUSE_NS;

	for (unsigned int i = 1; i < p->strikes && pause < PAUSE_MAX_NS; i++)
		pause *= 2;
	p->start_at_ns = now + MIN(pause, PAUSE_MAX_NS);
}

static void count_lost(struct plugin_sink *p, uint64_t lost)
{
	int64_t now = real_now();

	feed_lost(&p->feed, lost, true, now, now);
	p->feed.records -= MIN(lost, p->feed.records);
}

static void took_start(struct plugin_sink *p, const struct plugin_word *word, int64_t now)
{
	p->starting = false;
	count_lost(p, word->lost);
	if (word->error && word->error != p->error)
		sink_say(&p->sink, 3, "plugin %s %s; it is tried again", p->argv[0], word->why);
	p->error = word->error;
	if (word->error) {
		p->strikes++;
		pause_before_start(p, now);
		return;
	}
	p->pid = word->pid;
	p->starts++;
	p->started_at_ns = now;
}

static void tell_end(struct plugin_sink *p, int status, int64_t now)
{
	bool killed = WIFSIGNALED(status);

	sink_say(&p->sink, 4, "plugin %s %s %d; it is started again in %.1f s", p->argv[0],
		 killed ? "was killed by signal" : "ended with status",
		 killed ? WTERMSIG(status) : WEXITSTATUS(status),
		 (double)(p->start_at_ns - now) / 1e9);
}

static void took_end(struct plugin_sink *p, const struct plugin_word *word, int64_t now)
{
	uint64_t forgiven = (uint64_t)((now - p->started_at_ns) / FORGIVE_NS);

	p->pid = 0;
	if (p->stage != STAGE_RUN)
		return;
	p->strikes -= (unsigned int)MIN(forgiven, (uint64_t)p->strikes);
	p->strikes++;
	pause_before_start(p, now);
	tell_end(p, word->status, now);
	/* so that the rest of a line that it had read in part is there to be passed over */
	output_flush(p->output);
}

static void lose_keeper(struct plugin_sink *p)
{
	if (!p->gone)
		sink_say(
			&p->sink, 3,
			"plugin %s cannot be started any more, as the process that does it is gone",
			p->argv[0]);
	p->gone = true;
	p->starting = false;
	p->start_at_ns = INT64_MAX;
	epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, plugin_keeper_fd(p->keeper), NULL);
}

static void take_words(struct plugin_sink *p, int64_t now)
{
	struct plugin_word word;
	int r = 0;

	while (!p->gone && (r = plugin_keeper_word(p->keeper, &word)) > 0) {
		if (word.what == PLUGIN_STARTED)
			took_start(p, &word, now);
		else if (word.what == PLUGIN_ENDED)
			took_end(p, &word, now);
		else if (word.what == PLUGIN_DRAINED) {
			count_lost(p, word.lost);
			p->stage = STAGE_DONE;
		}
	}
	if (r < 0)
		lose_keeper(p);
}

/* The first one starts before the sources do, so that what keeps it from that is told at once. */
static int first_start(struct plugin_sink *p)
{
	struct pollfd wait = { .fd = plugin_keeper_fd(p->keeper), .events = POLLIN };
	int64_t until = mono_now() + START_MS * NS_PER_MSEC;

	ask_start(p);
	while (p->starting && mono_now() < until) {
		poll(&wait, 1, 10);
		take_words(p, mono_now());
	}
	return p->starts ? 0 : p->error ? p->error : -ETIME;
}

static int plugin_sink_start(struct sink *s, char *error, size_t size)
{
	struct plugin_sink *p = of(s);
	struct epoll_event event = { .events = EPOLLIN };
	int r = output_new(&p->output, plugin_keeper_input(p->keeper), s->options.buffer);

	if (r >= 0) {
		audit_sender_init(&p->sender);
		feed_init(&p->feed, &s->options, audit_line_write, &p->sender, p->output);
		rate_init(&p->rate, s->options.rate, mono_now());
		p->feed.rate = s->options.rate ? &p->rate : NULL;
		r = first_start(p);
	}
	if (r >= 0 && epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, plugin_keeper_fd(p->keeper), &event))
		r = -errno;
	if (r < 0)
		snprintf(error, size, "plugin '%s' was not started: %s", p->argv[0], strerror(-r));
	return r;
}

static void plugin_sink_record(struct sink *s, const struct exeunt_record *r)
{
	feed_record(&of(s)->feed, r);
}

static void watch(struct plugin_sink *p, bool want)
{
	struct epoll_event event = { .events = EPOLLOUT };

	if (want != p->behind)
		epoll_ctl(p->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
			  output_poll_fd(p->output), &event);
	p->behind = want;
}

/* Once for each time that it falls behind. */
static void tell_drops(struct plugin_sink *p)
{
	if (!p->telling && p->feed.dropped)
		sink_say(&p->sink, 4, "plugin %s does not keep up; what does not fit is dropped",
			 p->argv[0]);
	if (p->telling && !p->feed.dropped)
		sink_say(&p->sink, 5, "plugin %s keeps up again; %llu records were dropped so far",
			 p->argv[0], (unsigned long long)p->feed.lost);
	p->telling = p->feed.dropped;
}

static void plugin_sink_flush(struct sink *s, int64_t now)
{
	struct plugin_sink *p = of(s);
	int r = feed_flush(&p->feed);

	(void)now;
	watch(p, r == 1);
	/* a plugin can do that to those that come after it too; or there is nobody left to start one */
	if (r < 0 && !p->broken)
		sink_say(s, 3, "plugin %s shut its input down; it gets nothing more in this run",
			 p->argv[0]);
	p->broken = r < 0;
	if (!p->broken)
		tell_drops(p);
}

static int plugin_sink_fd(const struct sink *s)
{
	return ((const struct plugin_sink *)s)->epoll_fd;
}

static int64_t plugin_sink_deadline(const struct sink *s)
{
	const struct plugin_sink *p = (const struct plugin_sink *)s;

	return p->stage == STAGE_RUN ? p->start_at_ns : MIN(p->term_at_ns, p->kill_at_ns);
}

static void plugin_sink_dispatch(struct sink *s, int64_t now)
{
	struct plugin_sink *p = of(s);

	take_words(p, now);
	if (now >= p->start_at_ns)
		ask_start(p);
	plugin_sink_flush(s, now);
}

/* Who mends a plugin that does not start need not wait for the pause to end. */
static void plugin_sink_reload(struct sink *s)
{
	struct plugin_sink *p = of(s);

	p->strikes = 0;
	if (p->pid)
		plugin_keeper_ask(p->keeper, PLUGIN_ASK_RELOAD);
	else if (!p->starting && !p->gone)
		ask_start(p);
}

static bool all_read(const struct plugin_sink *p)
{
	int unread = 0;

	return !output_pending(p->output) &&
	       !ioctl(plugin_keeper_input(p->keeper), SIOCOUTQ, &unread) && !unread;
}

static void begin_end(struct plugin_sink *p, int64_t now)
{
	p->stage = STAGE_END;
	p->term_at_ns = now + TERM_NS;
	p->kill_at_ns = now + KILL_NS;
	if (!p->pid && !p->starting && !p->gone && !all_read(p))
		ask_start(p);
	p->start_at_ns = INT64_MAX;
}

static void insist(struct plugin_sink *p, int64_t now)
{
	if (now >= p->term_at_ns) {
		p->term_at_ns = INT64_MAX;
		plugin_keeper_ask(p->keeper, PLUGIN_ASK_TERM);
	}
	if (now >= p->kill_at_ns) {
		p->kill_at_ns = INT64_MAX;
		sink_say(&p->sink, 4, "plugin %s did not leave in time and is killed", p->argv[0]);
		plugin_keeper_ask(p->keeper, PLUGIN_ASK_KILL);
	}
}

/* It ended: the keeper reads, and counts, what it did not. */
static void begin_drain(struct plugin_sink *p)
{
	p->stage = STAGE_DRAIN;
	p->term_at_ns = p->kill_at_ns = INT64_MAX;
	if (all_read(p) || plugin_keeper_ask(p->keeper, PLUGIN_ASK_DRAIN) < 0)
		p->stage = STAGE_DONE;
}

static bool plugin_sink_finish(struct sink *s, int64_t now)
{
	struct plugin_sink *p = of(s);
	uint64_t lost = p->feed.lost;

	if (p->stage == STAGE_RUN)
		begin_end(p, now);
	take_words(p, now);
	if (p->stage == STAGE_END && !p->ended_input)
		plugin_sink_flush(s, now);
	else
		watch(p, output_flush(p->output) == 1);
	if (!p->ended_input && !output_pending(p->output)) {
		shutdown(plugin_keeper_input(p->keeper), SHUT_WR);
		p->ended_input = true;
	}
	insist(p, now);
	if (p->stage == STAGE_END && !p->pid && !p->starting)
		begin_drain(p);
	if (p->feed.lost > lost)
		sink_say(s, 4, "plugin %s left %llu records unread", p->argv[0],
			 (unsigned long long)(p->feed.lost - lost));
	return p->stage == STAGE_DONE || (p->gone && (p->ended_input || p->broken));
}

static void plugin_sink_report(const struct sink *s, struct sink_report *ret)
{
	const struct plugin_sink *p = (const struct plugin_sink *)s;

	*ret = (struct sink_report){ .readers = p->pid != 0,
				     .restarts = p->starts ? p->starts - 1 : 0,
				     .error = p->gone || p->broken ? EPIPE : -p->error };
	feed_report(&p->feed, ret);
}

const struct sink_ops sink_plugin = {
	.word = "plugin",
	.target = "PATH [ARGS]",
	.help = "audit lines to a dispatcher plugin that is run as auditd would",
	.new = plugin_sink_new,
	.free = plugin_sink_free,
	.start = plugin_sink_start,
	.record = plugin_sink_record,
	.flush = plugin_sink_flush,
	.fd = plugin_sink_fd,
	.deadline = plugin_sink_deadline,
	.dispatch = plugin_sink_dispatch,
	.reload = plugin_sink_reload,
	.finish = plugin_sink_finish,
	.report = plugin_sink_report,
};
