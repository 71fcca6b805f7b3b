/* SPDX-License-Identifier: MIT */
/* One reader of a socket: its stream, its line, and what it costs when it does not read. */
#include "unit/test.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "decode/json_record.h"
#include "record/fields.h"
#include "sink/json.h"
#include "sink/output.h"
#include "sink/socket-client.h"

#define BOUND 65536

static struct exeunt_status about;

static void describe(enum exeunt_type type, struct exeunt_record *ret, void *userdata)
{
	(void)userdata;
	*ret = (struct exeunt_record){ .type = (uint16_t)type, .status = &about };
}

static const struct sink_host host = { .describe = describe };
static const struct sink_options options = { .host = &host, .buffer = BOUND };

/* A client, and the other end of its socket. */
struct pair {
	struct json *json;
	struct client *c;
	int fd;
	struct json_record *reader;
	char raw[1 << 20];
	size_t len, at;
};

static struct pair *pair_new(const struct sink_options *o)
{
	struct pair *p = calloc(1, sizeof(*p));
	int fds[2];

	assert_non_null(p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(json_new(&p->json, "host", NULL), 0);
	assert_int_equal(json_record_new(&p->reader), 0);
	assert_int_equal(client_new(&p->c, fds[0], o, p->json), 0);
	p->fd = fds[1];
	return p;
}

static void pair_free(struct pair *p)
{
	client_free(p->c);
	json_free(p->json);
	json_record_free(p->reader);
	close_fd(p->fd);
	free(p);
}

static void put(struct pair *p, uint32_t code)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .exit_code = code };

	field_set(&r, EXEUNT_F_EXIT_CODE);
	client_record(p->c, &r);
}

static void say(struct pair *p, const char *text, size_t len)
{
	assert_int_equal(send(p->fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
	assert_true(client_read(p->c));
}

/* The next line of what the client was sent; NULL: there is none now. Of a line that is no record, what is wrong. */
static const struct exeunt_record *next(struct pair *p, const char **error)
{
	const struct exeunt_record *r = NULL;
	ssize_t n = recv(p->fd, p->raw + p->len, sizeof(p->raw) - p->len, MSG_DONTWAIT);
	char *line = p->raw + p->at, *end;
	int parsed;

	p->len += n > 0 ? (size_t)n : 0;
	end = memchr(line, '\n', p->len - p->at);
	*error = NULL;
	if (!end)
		return NULL;
	p->at = (size_t)(end - p->raw) + 1;
	parsed = json_record_parse(p->reader, line, (size_t)(end - line), &r);
	assert_true(parsed >= 0);
	if (parsed)
		*error = json_record_text(p->reader, "error.message");
	return parsed ? NULL : r;
}

static void expect(struct pair *p, enum exeunt_type type, uint64_t seq, uint32_t code)
{
	const char *error;
	const struct exeunt_record *r = next(p, &error);

	assert_non_null(r);
	assert_int_equal(r->type, type);
	assert_int_equal(r->seq, seq);
	assert_int_equal(r->exit_code, code);
}

static void expect_nothing(struct pair *p)
{
	const char *error;

	assert_null(next(p, &error));
	assert_null(error);
}

static void a_stream_begins_at_once(void **state)
{
	struct pair *p = pair_new(&options);
	struct sink_report report = { 0 };

	(void)state;
	put(p, 3);
	put(p, 0);
	assert_true(client_flush(p->c));
	expect(p, EXEUNT_TYPE_START, 1, 0);
	expect(p, EXEUNT_TYPE_EXIT, 2, 3);
	expect(p, EXEUNT_TYPE_EXIT, 3, 0);
	expect_nothing(p);
	assert_int_equal(client_wants(p->c), EPOLLIN);
	client_report(p->c, &report);
	assert_int_equal(report.records, 3);
	assert_int_equal(report.queued_bytes, 0);
	pair_free(p);
}

static void a_filter_begins_it_anew(void **state)
{
	static const char line[] = "code == 3\nthis is never read\n";
	struct pair *p = pair_new(&options);
	struct sink_report report = { 0 };

	(void)state;
	put(p, 0);
	/* in pieces, as a stream may bring it */
	say(p, line, 4);
	put(p, 0);
	say(p, line + 4, sizeof(line) - 5);
	put(p, 0);
	put(p, 3);
	assert_true(client_flush(p->c));
	expect(p, EXEUNT_TYPE_START, 1, 0);
	expect(p, EXEUNT_TYPE_EXIT, 2, 0);
	expect(p, EXEUNT_TYPE_EXIT, 3, 0);
	expect(p, EXEUNT_TYPE_START, 1, 0);
	expect(p, EXEUNT_TYPE_EXIT, 2, 3);
	expect_nothing(p);
	assert_int_equal(client_wants(p->c), 0);
	client_report(p->c, &report);
	assert_int_equal(report.records, 5);
	assert_int_equal(report.filtered, 1);
	pair_free(p);
}

static void the_time_of_patterns_is_taken(void **state)
{
	struct pair *p = pair_new(&options);

	(void)state;
	say(p, "args ~ 'x'\n", 11);
	assert_true(p->c->measured);
	put(p, 0);
	assert_true(p->c->cost_ns > 0);
	assert_int_equal(p->c->feed.filtered, 1);
	pair_free(p);
	p = pair_new(&options);
	say(p, "code == 1\n", 10);
	assert_false(p->c->measured);
	pair_free(p);
}

static void an_end_is_a_line_too(void **state)
{
	static const char *const lines[] = { "code == 3", "code == 3\r\n", "", "\n", " \t\r\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct pair *p = pair_new(&options);

		assert_int_equal(send(p->fd, lines[i], strlen(lines[i]), 0), strlen(lines[i]));
		shutdown(p->fd, SHUT_WR);
		assert_true(client_read(p->c));
		assert_true(client_read(p->c));
		assert_int_equal(client_wants(p->c), 0);
		put(p, 0);
		put(p, 3);
		assert_true(client_flush(p->c));
		expect(p, EXEUNT_TYPE_START, 1, 0);
		if (*lines[i])
			expect(p, EXEUNT_TYPE_START, 1, 0);
		if (i > 1)
			expect(p, EXEUNT_TYPE_EXIT, 2, 0);
		expect(p, EXEUNT_TYPE_EXIT, i > 1 ? 3 : 2, 3);
		pair_free(p);
	}
}

static void refuses(const char *line, size_t len, const char *why)
{
	struct pair *p = pair_new(&options);
	const char *error;

	say(p, line, len);
	put(p, 0);
	assert_false(client_flush(p->c));
	expect(p, EXEUNT_TYPE_START, 1, 0);
	assert_null(next(p, &error));
	assert_non_null(error);
	if (!strstr(error, why))
		fail_msg("%s: not %s", error, why);
	expect_nothing(p);
	pair_free(p);
}

static void lines_that_are_no_filter_end_it(void **state)
{
	static char longer[3 * CLIENT_LINE_MAX];

	(void)state;
	memset(longer, 'x', sizeof(longer));
	refuses("nonsense\n", 9, "unknown field");
	refuses("\xff\n", 2, "column 1");
	refuses("code\0== 1\n", 10, "NUL");
	refuses(longer, CLIENT_LINE_MAX, "longer than 4095");
	refuses(longer, sizeof(longer), "longer than 4095");
	longer[CLIENT_LINE_MAX - 1] = '\n';
	refuses(longer, CLIENT_LINE_MAX, "unknown field");
}

static void what_is_not_read_is_dropped_and_told(void **state)
{
	struct pair *p = pair_new(&options);
	struct sink_report report = { 0 };
	uint64_t seq = 1, lost = 0, got = 0;
	const struct exeunt_record *r;
	const char *error;

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		put(p, i % 256);
	assert_true(client_flush(p->c));
	assert_true(client_wants(p->c) & EPOLLOUT);
	client_report(p->c, &report);
	assert_in_range(report.queued_bytes, 1, BOUND);
	assert_in_range(report.dropped, 1, 9999);
	expect(p, EXEUNT_TYPE_START, 1, 0);
	for (unsigned int round = 0; round < 100; round++) {
		while ((r = next(p, &error))) {
			uint64_t told = r->type == EXEUNT_TYPE_LOSS ? r->loss->count : 0;

			assert_int_equal(r->seq, seq + 1 + told);
			seq = r->seq;
			lost += told;
			got += r->type == EXEUNT_TYPE_EXIT;
		}
		assert_true(client_flush(p->c));
	}
	assert_int_equal(lost, report.dropped);
	assert_int_equal(got + lost, 10000);
	pair_free(p);
}

static void a_line_waits_for_room(void **state)
{
	struct pair *p = pair_new(&options);
	const char *error;

	(void)state;
	while (output_has_room(p->c->output, 20000))
		put(p, 0);
	assert_int_equal(client_wants(p->c) & EPOLLIN, 0);
	say(p, "code == 3\n", 10);
	assert_false(p->c->heard);
	for (unsigned int round = 0; round < 100; round++) {
		while (next(p, &error))
			;
		assert_true(client_flush(p->c));
	}
	assert_int_equal(client_wants(p->c), EPOLLIN);
	assert_true(client_read(p->c));
	assert_true(client_flush(p->c));
	expect(p, EXEUNT_TYPE_START, 1, 0);
	pair_free(p);
}

static void one_that_left_is_noticed(void **state)
{
	struct pair *p = pair_new(&options);

	(void)state;
	assert_true(client_flush(p->c));
	p->fd = close_fd(p->fd);
	put(p, 0);
	assert_false(client_flush(p->c));
	pair_free(p);
}

static void a_rate_holds_for_each(void **state)
{
	struct sink_options o = options;
	struct pair *p;
	uint64_t exits = 0;
	const struct exeunt_record *r;
	const char *error;

	(void)state;
	o.rate = 5;
	p = pair_new(&o);
	for (unsigned int i = 0; i < 100; i++)
		put(p, i);
	assert_true(client_flush(p->c));
	while ((r = next(p, &error)))
		exits += r->type == EXEUNT_TYPE_EXIT;
	assert_in_range(exits, 5, 99);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_begins_at_once),
		cmocka_unit_test(a_filter_begins_it_anew),
		cmocka_unit_test(the_time_of_patterns_is_taken),
		cmocka_unit_test(an_end_is_a_line_too),
		cmocka_unit_test(lines_that_are_no_filter_end_it),
		cmocka_unit_test(what_is_not_read_is_dropped_and_told),
		cmocka_unit_test(a_line_waits_for_room),
		cmocka_unit_test(one_that_left_is_noticed),
		cmocka_unit_test(a_rate_holds_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
