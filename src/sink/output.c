/* SPDX-License-Identifier: MIT */
/* See output.h. A list of chunks, each written with one call; the emptied one is used again while it is in cache. */
#include "sink/output.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

struct chunk {
	struct chunk *next;
	size_t size;
	size_t start; /* first byte that is not out yet */
	size_t end;
	char data[];
};

enum mode {
	MODE_REGULAR,
	MODE_NONBLOCK, /* O_NONBLOCK is set on the description that we write to */
	MODE_POLL,
	MODE_SOCKET,
};

struct output {
	int fd;
	int own_fd; /* the second description, or -1 */
	enum mode mode;
	bool is_tty;
	bool blocked; /* the last write found no room */
	int error;
	size_t bound;
	size_t chunk_size;
	size_t allocated;
	size_t pending;
	struct chunk *head;
	struct chunk *tail; /* where records are added */
	struct chunk *spare;
	uint64_t written;
	uint64_t refused;
};

/* Errors are no reason to fail: MODE_POLL remains. */
static int reopen(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Takes `fd` as where to write, or changes nothing. */
static int choose_mode(struct output *o, int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) < 0)
		return -EBADF;
	o->own_fd = close_fd(o->own_fd);
	o->fd = fd;
	o->is_tty = false;
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) {
		o->mode = MODE_REGULAR;
		return 0;
	}
	if (S_ISSOCK(st.st_mode)) {
		o->mode = MODE_SOCKET;
		return 0;
	}
	o->is_tty = S_ISCHR(st.st_mode) && isatty(o->fd);
	o->mode = MODE_NONBLOCK;
	if (flags & O_NONBLOCK)
		return 0;
	o->own_fd = reopen(o->fd);
	if (o->own_fd < 0)
		o->mode = MODE_POLL;
	return 0;
}

int output_new(struct output **ret, int fd, size_t bound)
{
	struct output *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->own_fd = -1;
	o->bound = bound ? bound : OUTPUT_BOUND_DEFAULT;
	/* Several chunks even within a small bound: a chunk is free only when all of it is out. */
	o->chunk_size = MIN(o->bound / 4, (size_t)OUTPUT_CHUNK);
	r = choose_mode(o, fd);
	if (r < 0) {
		output_free(o);
		return r;
	}
	*ret = o;
	return 0;
}

static void chunk_free(struct output *o, struct chunk *c)
{
	if (!c)
		return;
	o->allocated -= c->size;
	free(c);
}

/* How many bytes got out of the record of which only a part did. */
static size_t torn_bytes(const struct output *o)
{
	const struct chunk *c = o->head;
	const char *newline;

	if (!c || c->start == 0 || c->start == c->end)
		return 0;
	newline = memrchr(c->data, '\n', c->start);
	return newline ? c->start - (size_t)(newline + 1 - c->data) : c->start;
}

/* Cuts it off, so that the file ends with a whole line. */
static void trim_torn_record(const struct output *o)
{
	size_t torn = torn_bytes(o);
	struct stat st;
	off_t pos;

	if (o->mode != MODE_REGULAR || !torn)
		return;
	pos = lseek(o->fd, 0, SEEK_CUR);
	if (pos < (off_t)torn || fstat(o->fd, &st) < 0 || st.st_size != pos)
		return;
	if (ftruncate(o->fd, pos - (off_t)torn) == 0)
		lseek(o->fd, pos - (off_t)torn, SEEK_SET);
}

void output_free(struct output *o)
{
	if (!o)
		return;
	trim_torn_record(o);
	while (o->head) {
		struct chunk *c = o->head;

		o->head = c->next;
		free(c);
	}
	free(o->spare);
	close_fd(o->own_fd);
	free(o);
}

int output_move(struct output *o, int fd)
{
	struct output old = *o;
	size_t torn = torn_bytes(o);
	int r = choose_mode(o, fd);

	if (r < 0)
		return r;
	trim_torn_record(&old);
	if (torn) {
		o->head->start -= torn;
		o->pending += torn;
		o->written -= torn;
	}
	o->blocked = false;
	o->error = 0;
	return 0;
}

static bool fits(const struct output *o, size_t size)
{
	const struct chunk *c = o->tail;

	return c && c->size - c->end >= size;
}

/* A chunk for `size` bytes within the bound, or NULL. */
static struct chunk *chunk_new(struct output *o, size_t size)
{
	struct chunk *c = TAKE(o->spare);

	if (c && c->size < size) {
		chunk_free(o, c);
		c = NULL;
	}
	if (!c) {
		size = MAX(size, o->chunk_size);
		if (size > o->bound || o->allocated > o->bound - size)
			return NULL;
		c = malloc(sizeof(*c) + size);
		if (!c)
			return NULL;
		c->size = size;
		o->allocated += size;
	}
	c->next = NULL;
	c->start = 0;
	c->end = 0;
	return c;
}

static bool add_chunk(struct output *o, size_t size)
{
	struct chunk *c = chunk_new(o, size);

	if (!c)
		return false;
	if (o->tail)
		o->tail->next = c;
	else
		o->head = c;
	o->tail = c;
	return true;
}

char *output_reserve(struct output *o, size_t size)
{
	if (likely(fits(o, size)))
		return o->tail->data + o->tail->end;
	if (o->error == EPIPE)
		goto refuse;
	if (!add_chunk(o, size)) {
		if (o->blocked || o->error)
			goto refuse;
		output_flush(o);
		if (!fits(o, size) && !add_chunk(o, size))
			goto refuse;
	}
	return o->tail->data + o->tail->end;
refuse:
	o->refused++;
	return NULL;
}

bool output_has_room(const struct output *o, size_t size)
{
	size_t new_size = MAX(size, o->chunk_size);

	return fits(o, size) || (o->spare && o->spare->size >= size) ||
	       (new_size <= o->bound && o->allocated <= o->bound - new_size);
}

void output_commit(struct output *o, size_t len)
{
	o->tail->end += len;
	o->pending += len;
}

size_t output_pending(const struct output *o)
{
	return o->pending;
}

/* At most PIPE_BUF bytes, whole records if that is possible, as other writers may share the pipe. */
static ssize_t write_polled(const struct output *o, const char *data, size_t len)
{
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };
	/* A terminal says POLLOUT as soon as it takes one byte: the less is written the less it can wait. */
	size_t limit = o->is_tty ? 64 : PIPE_BUF;
	const char *newline;

	if (poll(&p, 1, 0) < 0)
		return -1;
	if (!(p.revents & (POLLOUT | POLLERR | POLLHUP))) {
		errno = EAGAIN;
		return -1;
	}
	if (len > limit) {
		newline = memrchr(data, '\n', limit);
		len = newline ? (size_t)(newline + 1 - data) : limit;
	}
	return write(o->fd, data, len);
}

static ssize_t write_some(const struct output *o, const char *data, size_t len)
{
	switch (o->mode) {
	case MODE_SOCKET:
		return send(o->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	case MODE_POLL:
		return write_polled(o, data, len);
	case MODE_REGULAR:
	case MODE_NONBLOCK:
		break;
	}
	return write(output_poll_fd(o), data, len);
}

/* After a write that failed: 1, -EPIPE or -errno, as output_flush(). */
static int take_error(struct output *o, int error)
{
	if (error == EAGAIN || error == ENOBUFS) {
		o->blocked = true;
		return 1;
	}
	/* The other end of a socket or terminal went away. */
	if (error == ECONNRESET || error == ENOTCONN || error == EDESTADDRREQ ||
	    (error == EIO && o->is_tty))
		error = EPIPE;
	o->error = error;
	return -error;
}

/* The first chunk is out: keep one for the next records, if it has the usual size. */
static void drop_head(struct output *o)
{
	struct chunk *c = o->head;

	o->head = c->next;
	if (!o->head)
		o->tail = NULL;
	if (o->spare || c->size != o->chunk_size)
		chunk_free(o, c);
	else
		o->spare = c;
}

int output_flush(struct output *o)
{
	if (o->error == EPIPE)
		return -EPIPE;
	o->blocked = false;
	while (o->head) {
		struct chunk *c = o->head;
		ssize_t n;

		if (c->start == c->end) {
			drop_head(o);
			continue;
		}
		n = write_some(o, c->data + c->start, c->end - c->start);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return take_error(o, n < 0 ? errno : EIO);
		c->start += (size_t)n;
		o->pending -= (size_t)n;
		o->written += (uint64_t)n;
		o->error = 0;
	}
	return 0;
}

int output_poll_fd(const struct output *o)
{
	return o->own_fd >= 0 ? o->own_fd : o->fd;
}

int output_error(const struct output *o)
{
	return o->error;
}

uint64_t output_written(const struct output *o)
{
	return o->written;
}

uint64_t output_refused(const struct output *o)
{
	return o->refused;
}

static int64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / NS_PER_MSEC;
}

int output_drain(struct output *o, int timeout_ms)
{
	int64_t deadline = monotonic_ms() + timeout_ms;

	for (;;) {
		struct pollfd p = { .fd = output_poll_fd(o), .events = POLLOUT };
		int r = output_flush(o);
		int64_t left = timeout_ms < 0 ? -1 : MAX(deadline - monotonic_ms(), 0);

		if (r <= 0)
			return r;
		if (left == 0)
			return -ETIME;
		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return -errno;
	}
}
