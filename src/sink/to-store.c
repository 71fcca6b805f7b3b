/* SPDX-License-Identifier: MIT */
/*
 * store:DIR: every record into SQLite files, see store/segment.h. A thread of its own writes, as a transaction waits for the disk:
 * measured, a commit takes up to some hundred milliseconds on a busy one, and the loop must not. Between the two is a bounded
 * queue; what does not fit is lost to the store, counted, and told in it.
 *
 * The thread calls nothing of ours but the queue and the writer; what it has to say goes back by the loop.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "sink/feed.h"
#include "sink/json.h"
#include "sink/sink.h"
#include "sink/store-queue.h"
#include "sink/table.h"

#define BUFFER_DEFAULT (16u << 20)
#define COMMIT_NS (NS_PER_SEC / 2)
#define RETRY_NS NS_PER_SEC
#define WAKE_BYTES (1u << 20)
#define JSON_MAX 65536
#define MESSAGES 8

struct store_sink {
	struct sink sink;
	struct feed feed;
	struct json *json;
	struct store_queue *queue;
	struct store_writer *writer; /* of the thread, once it runs */
	char *line;		     /* of JSON_MAX bytes */
	int event_fd;		     /* readable: the thread has said something, or is done */
	pthread_t thread;
	bool running; /* there is a thread */
	bool told_done;

	pthread_mutex_t mutex; /* of what is below */
	pthread_cond_t wake;
	bool stop, done;
	int error; /* what the thread is in trouble with */
	char messages[MESSAGES][512];
	int levels[MESSAGES];
	unsigned int n_messages;
	uint64_t written_bytes;
};

static struct store_sink *of(struct sink *s)
{
	return (struct store_sink *)s;
}

/* Also before there is a thread. More than there is room for is left out: the last word counts least. */
static void say_later(int level, const char *text, void *userdata)
{
	struct store_sink *s = userdata;

	pthread_mutex_lock(&s->mutex);
	if (s->n_messages < MESSAGES) {
		s->levels[s->n_messages] = level;
		snprintf(s->messages[s->n_messages++], sizeof(s->messages[0]), "%s", text);
	}
	pthread_mutex_unlock(&s->mutex);
	eventfd_write(s->event_fd, 1);
}

static void store_sink_free(struct sink *sink)
{
	struct store_sink *s = of(sink);

	if (s->running && !s->done) {
		/* the disk holds the thread, and what it works with with it */
		pthread_detach(s->thread);
		return;
	}
	if (s->running)
		pthread_join(s->thread, NULL);
	store_writer_free(s->writer);
	store_queue_free(s->queue);
	json_free(s->json);
	close_fd(s->event_fd);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->mutex);
	free(s->line);
	free(s);
}

static int write_record(void *format, const struct exeunt_record *r, struct output *output)
{
	struct store_sink *s = format;
	ssize_t len = 0;

	(void)output;
	if (r->status) {
		len = json_format(s->json, r, s->line, JSON_MAX);
		if (len < 0)
			return (int)len;
		len -= len && s->line[len - 1] == '\n';
	}
	return store_queue_push(s->queue, r, r->status ? s->line : NULL, (size_t)len) ? 0 : 1;
}

static void init_wake(pthread_cond_t *wake)
{
	pthread_condattr_t a;

	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(wake, &a);
	pthread_condattr_destroy(&a);
}

static int store_sink_new(struct sink **ret, const struct sink_options *o, char *error, size_t size)
{
	struct store_sink *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	snprintf(error, size, "not enough memory");
	if (!s)
		return r;
	s->sink = (struct sink){ &sink_store, *o };
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->line = malloc(JSON_MAX);
	pthread_mutex_init(&s->mutex, NULL);
	init_wake(&s->wake);
	if (s->line && s->event_fd >= 0)
		r = json_new(&s->json, o->host->name, o->host->boot_id);
	if (r >= 0)
		r = store_queue_new(&s->queue, o->buffer ? o->buffer : BUFFER_DEFAULT);
	if (r >= 0) {
		const struct store_options options = {
			.host_name = o->host->name,
			.boot_id = o->host->boot_id,
			.keep_ns = o->keep_ns,
			.keep_bytes = o->keep_bytes,
			.say = say_later,
			.userdata = s,
		};

		r = store_writer_open(&s->writer, o->target, &options, real_now(), error, size);
	}
	if (r < 0) {
		store_sink_free(&s->sink);
		return r;
	}
	feed_init(&s->feed, o, write_record, s, NULL);
	*ret = &s->sink;
	return 0;
}

/* Until it is written, or we are to end and it cannot be. */
static void write_chunk(struct store_sink *s, struct store_chunk *c)
{
	size_t n;
	const struct store_item *items = store_chunk_items(c, &n);
	int told = 0, r;
	char text[512];

	while ((r = store_writer_add(s->writer, items, n, real_now())) < 0) {
		const struct timespec pause = { .tv_sec = 0, .tv_nsec = RETRY_NS / 5 };
		bool stop;

		if (r != told) {
			snprintf(text, sizeof(text),
				 "%s; records are kept as far as the buffer goes, and tried again",
				 store_writer_error(s->writer));
			say_later(3, text, s);
		}
		told = r;
		store_writer_tidy(s->writer, real_now()); /* which may make room */
		pthread_mutex_lock(&s->mutex);
		s->error = -r;
		stop = s->stop;
		pthread_mutex_unlock(&s->mutex);
		if (stop)
			break;
		nanosleep(&pause, NULL);
	}
	if (told && r >= 0)
		say_later(6, "writing to the store works again", s);
	pthread_mutex_lock(&s->mutex);
	s->error = r < 0 ? -r : 0;
	pthread_mutex_unlock(&s->mutex);
	store_queue_give(s->queue, c);
}

/* For the next batch, or the end. Returns whether it is the end. */
static bool await(struct store_sink *s)
{
	int64_t until = mono_now() + COMMIT_NS;
	const struct timespec at = { until / NS_PER_SEC, until % NS_PER_SEC };
	bool stop;

	pthread_mutex_lock(&s->mutex);
	if (!s->stop)
		pthread_cond_timedwait(&s->wake, &s->mutex, &at);
	stop = s->stop;
	pthread_mutex_unlock(&s->mutex);
	return stop;
}

static void *write_all(void *arg)
{
	struct store_sink *s = arg;
	bool stop;

	do {
		struct store_chunk *c;
		size_t segments;

		stop = await(s);
		c = store_queue_take(s->queue);
		while (c) {
			struct store_chunk *next = store_chunk_next(c);

			write_chunk(s, c);
			c = next;
		}
		store_writer_tidy(s->writer, real_now());
		pthread_mutex_lock(&s->mutex);
		s->written_bytes = store_writer_bytes(s->writer, &segments);
		pthread_mutex_unlock(&s->mutex);
	} while (!stop);
	pthread_mutex_lock(&s->mutex);
	s->done = true;
	pthread_mutex_unlock(&s->mutex);
	eventfd_write(s->event_fd, 1);
	return NULL;
}

static int store_sink_start(struct sink *sink, char *error, size_t size)
{
	struct store_sink *s = of(sink);
	sigset_t all, before;
	int r;

	sigfillset(&all); /* signals are for the loop */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&s->thread, NULL, write_all, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		snprintf(error, size, "cannot begin a thread: %s", strerror(r));
	s->running = !r;
	return -r;
}

static void store_sink_record(struct sink *s, const struct exeunt_record *r)
{
	feed_record(&of(s)->feed, r);
}

static void store_sink_flush(struct sink *sink, int64_t now)
{
	struct store_sink *s = of(sink);

	(void)now;
	feed_tell(&s->feed, false);
	if (store_queue_bytes(s->queue) > WAKE_BYTES)
		pthread_cond_signal(&s->wake);
}

static int store_sink_fd(const struct sink *s)
{
	return ((const struct store_sink *)s)->event_fd;
}

static void store_sink_dispatch(struct sink *sink, int64_t now)
{
	struct store_sink *s = of(sink);
	char text[sizeof(s->messages[0])];
	eventfd_t count;

	eventfd_read(s->event_fd, &count);
	pthread_mutex_lock(&s->mutex);
	for (unsigned int i = 0; i < s->n_messages; i++) {
		memcpy(text, s->messages[i], sizeof(text));
		sink_say(sink, s->levels[i], "store '%s': %s", sink->options.target, text);
	}
	s->n_messages = 0;
	pthread_mutex_unlock(&s->mutex);
	store_sink_flush(sink, now);
}

static bool store_sink_finish(struct sink *sink, int64_t now)
{
	struct store_sink *s = of(sink);
	bool done;

	store_sink_dispatch(sink, now);
	pthread_mutex_lock(&s->mutex);
	s->stop = true;
	done = s->done;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->mutex);
	return done;
}

static void store_sink_report(const struct sink *sink, struct sink_report *ret)
{
	struct store_sink *s = of((struct sink *)(uintptr_t)sink); /* the mutex is taken */

	*ret = (struct sink_report){ .readers = 1 };
	feed_report(&s->feed, ret);
	ret->queued_bytes = store_queue_bytes(s->queue);
	pthread_mutex_lock(&s->mutex);
	ret->written_bytes = s->written_bytes;
	ret->error = s->error;
	pthread_mutex_unlock(&s->mutex);
}

const struct sink_ops sink_store = {
	.word = "store",
	.target = "DIR",
	.help = "SQLite files in a directory, for exeunt last and report",
	.new = store_sink_new,
	.free = store_sink_free,
	.start = store_sink_start,
	.record = store_sink_record,
	.flush = store_sink_flush,
	.fd = store_sink_fd,
	.dispatch = store_sink_dispatch,
	.finish = store_sink_finish,
	.report = store_sink_report,
};
