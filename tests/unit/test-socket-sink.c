/* SPDX-License-Identifier: MIT */
/* The socket as a sink: who is let in, and that filters which take too much time end their reader alone. */
#include "unit/test.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "record/fields.h"
#include "sink/sink.h"
#include "sink/table.h"

#define LONG_ARGUMENT (128u << 10)

static char folder[] = "/tmp/exeunt-socket.XXXXXX";
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static struct exeunt_status about;

static void describe(enum exeunt_type type, struct exeunt_record *ret, void *userdata)
{
	(void)userdata;
	*ret = (struct exeunt_record){ .type = (uint16_t)type, .status = &about };
}

static const struct sink_host host = { .name = "host", .describe = describe };

static struct sink *open_sink(void)
{
	struct sink_options o = { .host = &host, .target = address.sun_path };
	struct sink *s;
	char error[256];

	assert_int_equal(sink_socket.new(&s, &o, error, sizeof(error)), 0);
	return s;
}

/* Connected, with its line sent, and taken by the sink. */
static int reader(struct sink *s, const char *line)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	sink_socket.dispatch(s, 1);
	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
	sink_socket.dispatch(s, 1);
	return fd;
}

static uint64_t readers(const struct sink *s)
{
	struct sink_report report;

	sink_socket.report(s, &report);
	return report.readers;
}

static bool was_sent(int fd, const char *text)
{
	static char buf[1 << 20];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

	assert_true(n > 0);
	buf[n] = '\0';
	return strstr(buf, text);
}

/* A filter of 4 KB that looks through all arguments as often as it can. */
static const char *dear_line(void)
{
	static char line[4096];
	size_t len = 0;

	while (len + 20 < sizeof(line))
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%sargs ~ 'b'",
					len ? "or " : "");
	strcpy(line + len, "\n");
	return line;
}

static void a_filter_that_takes_too_much_is_let_go(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };
	struct exeunt_bytes arg = { calloc(1, LONG_ARGUMENT), LONG_ARGUMENT };
	struct sink *s = open_sink();
	int cheap = reader(s, "args ~ 'c'\n"), dear = reader(s, dear_line());

	(void)state;
	r.args = &arg;
	r.n_args = 1;
	field_set(&r, EXEUNT_F_ARGS);
	assert_int_equal(readers(s), 2);
	/* no time goes by that would forgive it */
	for (unsigned int i = 0; i < 10000 && readers(s) == 2; i++) {
		sink_socket.record(s, &r);
		sink_socket.flush(s, 1);
	}
	assert_int_equal(readers(s), 1);
	assert_true(was_sent(dear, "takes too much time"));
	assert_false(was_sent(cheap, "error"));
	close(cheap);
	close(dear);
	sink_socket.dispatch(s, 2);
	assert_int_equal(readers(s), 0);
	sink_socket.free(s);
	free((char *)(uintptr_t)arg.data);
}

static void time_forgives(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };
	struct exeunt_bytes arg = { "x", 1 };
	struct sink *s = open_sink();
	int fd = reader(s, dear_line());

	(void)state;
	r.args = &arg;
	r.n_args = 1;
	field_set(&r, EXEUNT_F_ARGS);
	for (int64_t now = 1; now < 100; now++) {
		sink_socket.record(s, &r);
		sink_socket.flush(s, now * 3600 * NS_PER_SEC);
	}
	assert_int_equal(readers(s), 1);
	close(fd);
	sink_socket.free(s);
}

static void sixty_four_are_let_in(void **state)
{
	struct sink *s = open_sink();
	int fds[65];

	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		fds[i] = reader(s, "\n");
	assert_int_equal(readers(s), 64);
	fds[64] = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[64], (const struct sockaddr *)&address, sizeof(address)), 0);
	/* one leaves at the same time: its room is for the new one */
	close(fds[0]);
	sink_socket.dispatch(s, 1);
	assert_int_equal(readers(s), 64);
	assert_true(was_sent(fds[64], "\"type\":\"start\""));
	fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[0], (const struct sockaddr *)&address, sizeof(address)), 0);
	sink_socket.dispatch(s, 1);
	assert_int_equal(readers(s), 64);
	assert_true(was_sent(fds[0], "64 readers are connected already"));
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	sink_socket.dispatch(s, 1);
	assert_int_equal(readers(s), 0);
	sink_socket.free(s);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_that_takes_too_much_is_let_go),
		cmocka_unit_test(time_forgives),
		cmocka_unit_test(sixty_four_are_let_in),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
