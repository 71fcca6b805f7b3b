/* SPDX-License-Identifier: MIT */
/* See socket-client.h. */
#include "sink/socket-client.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "record/filter.h"
#include "sink/json-internal.h"
#include "sink/output.h"

/* Free in the output before a line is looked at: more than a start record takes, and an error. */
#define ANSWER_ROOM (24u << 10)
#define ERROR_SIZE (2 * JSON_STRING_MAX(FILTER_ERROR_SIZE))

static void begin(struct client *c)
{
	const struct sink_host *host = c->options->host;
	struct exeunt_record start;

	feed_init(&c->feed, c->options, feed_json, c->json, c->output);
	rate_init(&c->rate, c->options->rate, mono_now());
	c->feed.rate = c->options->rate ? &c->rate : NULL;
	c->feed.own = c->measured ? NULL : c->filter;
	host->describe(EXEUNT_TYPE_START, &start, host->userdata);
	feed_record(&c->feed, &start);
}

int client_new(struct client **ret, int fd, const struct sink_options *o, struct json *json)
{
	struct client *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (c)
		r = output_new(&c->output, fd, o->buffer ? o->buffer : CLIENT_BUFFER_DEFAULT);
	if (r < 0) {
		free(c);
		return r;
	}
	c->options = o;
	c->json = json;
	c->fd = fd;
	begin(c);
	*ret = c;
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	output_free(c->output);
	filter_free(c->filter);
	close_fd(c->fd);
	free(c);
}

static bool passes_measured(struct client *c, const struct exeunt_record *r)
{
	int64_t begun;
	bool result;

	begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	result = filter_match(c->filter, r);
	c->cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	return result;
}

void client_record(struct client *c, const struct exeunt_record *r)
{
	if (c->refused)
		return;
	if (c->measured && !passes_measured(c, r))
		c->feed.filtered += r->type == EXEUNT_TYPE_EXIT;
	else
		feed_record(&c->feed, r);
}

/* A line like those of records, but of a type that none of them has. Returns its length. */
static size_t error_line(char *buf, uint64_t seq, const char *why)
{
	struct fmt_time time = { 0 };
	char *p = FMT_LIT(buf, "{\"schema\":\"" EXEUNT_SCHEMA "\",\"type\":\"error\",\"time\":\"");

	p = fmt_time(p, real_now(), &time);
	p = fmt_u64(FMT_LIT(p, "\",\"seq\":"), seq);
	p = FMT_LIT(p, ",\"error\":{\"message\":");
	p = json_quoted(p, "message", why, strlen(why));
	p = FMT_LIT(p, "}}\n");
	return (size_t)(p - buf);
}

void client_refuse(struct client *c, const char *why)
{
	char *room = output_has_room(c->output, ERROR_SIZE) ? output_reserve(c->output, ERROR_SIZE)
							    : NULL;

	c->refused = true;
	if (room)
		output_commit(c->output, error_line(room, ++c->feed.seq, why));
}

void client_turn_away(int fd, const char *why)
{
	char line[512];

	send(fd, line, error_line(line, 1, why), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What the stream did so far stays in the report; what it lost is not told any more, as the new one begins at once. */
static void begin_anew(struct client *c, struct filter *f)
{
	c->past.records += c->feed.records;
	c->past.dropped += c->feed.lost;
	c->past.filtered += c->feed.filtered;
	c->filter = f;
	c->measured = f && filter_is_costly(f);
	begin(c);
}

/* What a close would find unread would be a reset for the other end; what is more than this may have that. */
static void read_away(struct client *c)
{
	for (int i = 0; i < 64; i++)
		if (recv(c->fd, c->line, sizeof(c->line), MSG_DONTWAIT) <= 0)
			break;
}

static void take_line(struct client *c, size_t len)
{
	char error[FILTER_ERROR_SIZE];
	struct filter *f = NULL;
	int r = 0;

	c->heard = true;
	if (memchr(c->line, '\0', len)) {
		client_refuse(c, "filter: a NUL byte is in it");
		return;
	}
	c->line[len] = '\0';
	if (len > strspn(c->line, " \t\r"))
		r = filter_new_promptly(&f, c->line, error, sizeof(error));
	if (r < 0)
		client_refuse(c, error);
	else
		begin_anew(c, f);
}

bool client_read(struct client *c)
{
	ssize_t n;
	char *end;

	if (c->heard || c->refused || !output_has_room(c->output, ANSWER_ROOM))
		return true;
	n = recv(c->fd, c->line + c->len, sizeof(c->line) - c->len, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->len += (size_t)n;
	end = memchr(c->line, '\n', c->len);
	if (end)
		take_line(c, (size_t)(end - c->line));
	else if (c->len == sizeof(c->line))
		client_refuse(c, "filter: longer than 4095 bytes");
	else if (!n && c->len)
		take_line(c, c->len);
	/* the other end may close one direction only, and still read */
	c->heard |= !n;
	if (c->refused)
		read_away(c);
	return true;
}

bool client_flush(struct client *c)
{
	int r = c->refused ? output_flush(c->output) : feed_flush(&c->feed);

	c->behind = r == 1;
	return r >= 0 && !(c->refused && r == 0);
}

uint32_t client_wants(const struct client *c)
{
	bool listens = !c->heard && !c->refused && output_has_room(c->output, ANSWER_ROOM);

	return (c->behind ? EPOLLOUT : 0u) | (listens ? EPOLLIN : 0u);
}

void client_report(const struct client *c, struct sink_report *ret)
{
	feed_report(&c->feed, ret);
	ret->records += c->past.records;
	ret->dropped += c->past.dropped;
	ret->filtered += c->past.filtered;
}
