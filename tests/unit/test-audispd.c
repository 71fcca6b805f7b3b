/* SPDX-License-Identifier: MIT */
/* audispd:PATH: readers that come, go, read and do not read. */
#include "unit/test.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "record/fields.h"
#include "sink/sink.h"
#include "sink/table.h"

#define RECORDS 3000

static char folder[] = "/tmp/exeunt-audispd.XXXXXX";
static char path[64];
static char told[1024];

static void say(int level, const char *text, void *userdata)
{
	(void)level;
	(void)userdata;
	snprintf(told, sizeof(told), "%s", text);
}

static void describe(enum exeunt_type type, struct exeunt_record *ret, void *userdata)
{
	static struct exeunt_status status = { .version = "1", .kernel_release = "6" };

	(void)userdata;
	*ret = (struct exeunt_record){ .type = (uint16_t)type,
				       .time_ns = real_now(),
				       .status = &status };
}

static const struct sink_host host = { .say = say, .describe = describe };

static struct sink *open_sink(const char *target)
{
	struct sink_options o = { .host = &host, .target = target, .buffer = 64 << 10 };
	struct sink *s;
	char error[512] = "";

	assert_int_equal(sink_audispd.new(&s, &o, error, sizeof(error)), 0);
	assert_int_equal(sink_audispd.start(s, error, sizeof(error)), 0);
	return s;
}

static int connect_to(struct sink *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct pollfd p = { .fd = sink_audispd.fd(s), .events = POLLIN };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(poll(&p, 1, 10000), 1);
	sink_audispd.dispatch(s, mono_now());
	return fd;
}

static uint64_t readers(const struct sink *s)
{
	struct sink_report report;

	sink_audispd.report(s, &report);
	return report.readers;
}

/* Lines of a reader so far: whole ones, with serials that go up; what is missing is told. */
struct lines {
	char rest[16384];
	size_t len;
	unsigned int exits, starts, serial, missing, told;
};

static void take_line(struct lines *l, const char *line)
{
	const char *at = strstr(line, "): pid="), *count = strstr(line, "count=+");
	unsigned int serial;

	assert_int_equal(strncmp(line, "type=TRUSTED_APP msg=audit(", 27), 0);
	assert_non_null(at);
	while (at[-1] != ':')
		at--;
	serial = (unsigned int)strtoul(at, NULL, 10);
	assert_true(serial > l->serial);
	l->missing += serial - l->serial - 1;
	l->serial = serial;
	l->exits += strstr(line, "op=process-exit ") != NULL;
	l->starts += strstr(line, "op=exeunt-start ") != NULL;
	if (strstr(line, "op=process-exit-loss "))
		l->told += (unsigned int)strtoul(count + 7, NULL, 10);
}

static void read_lines(int fd, struct lines *l)
{
	char *newline;
	ssize_t n;

	while ((n = recv(fd, l->rest + l->len, sizeof(l->rest) - l->len, MSG_DONTWAIT)) > 0) {
		l->len += (size_t)n;
		while ((newline = memchr(l->rest, '\n', l->len))) {
			*newline = '\0';
			take_line(l, l->rest);
			l->len -= (size_t)(newline + 1 - l->rest);
			memmove(l->rest, newline + 1, l->len);
		}
	}
}

static void put(struct sink *s)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .time_ns = real_now() };

	sink_audispd.record(s, &r);
	sink_audispd.flush(s, mono_now());
}

static void many_readers(void **state)
{
	struct sink *s = open_sink(path);
	int good = connect_to(s), hung = connect_to(s), leaves = connect_to(s);
	struct lines all = { 0 }, late = { 0 };
	struct sink_report report;
	struct stat st;

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(send(leaves, "hello\n", 6, 0), 6);
	shutdown(leaves, SHUT_WR);
	assert_int_equal(readers(s), 3);
	for (int i = 0; i < RECORDS; i++) {
		put(s);
		if (i == 100) {
			close(leaves);
			sink_audispd.dispatch(s, mono_now());
			assert_int_equal(readers(s), 2);
		}
		read_lines(good, &all);
	}
	assert_int_equal(all.exits, RECORDS);
	assert_int_equal(all.starts, 1);
	assert_int_equal(all.missing, 0);
	sink_audispd.report(s, &report);
	assert_in_range(report.dropped, 1000, RECORDS);
	assert_in_range(report.queued_bytes, 1, 64 << 10);
	/* the one that did not read gets what was kept, and is told of the rest */
	for (int i = 0; i < 100 && !late.told; i++) {
		read_lines(hung, &late);
		sink_audispd.dispatch(s, mono_now());
		sink_audispd.flush(s, mono_now());
	}
	assert_int_equal(late.told, report.dropped);
	assert_true(sink_audispd.finish(s, mono_now()));
	read_lines(hung, &late);
	assert_int_equal(late.exits + late.told, RECORDS);
	assert_int_equal(late.len, 0);
	close(good);
	close(hung);
	sink_audispd.free(s);
	assert_int_equal(stat(path, &st), -1);
}

static void mode_and_crowd(void **state)
{
	char target[96];
	struct sink *s;
	struct stat st;
	int fds[65];

	(void)state;
	snprintf(target, sizeof(target), "0666 %s", path);
	s = open_sink(target);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	for (int i = 0; i < 65; i++)
		fds[i] = connect_to(s);
	assert_int_equal(readers(s), 64);
	assert_non_null(strstr(told, "turned away"));
	/* in a second there may be room again */
	assert_true(sink_audispd.deadline(s) < INT64_MAX);
	close(fds[0]);
	sink_audispd.dispatch(s, mono_now() + 2 * NS_PER_SEC);
	close(fds[64]);
	fds[64] = connect_to(s);
	assert_int_equal(readers(s), 64);
	for (int i = 1; i < 65; i++)
		close(fds[i]);
	sink_audispd.free(s);
}

static void targets_refused(void **state)
{
	static const char *const targets[] = { "relative",
					       "0660",
					       "0660 relative",
					       "0777 /tmp/x",
					       "/var/run/audispd_events",
					       "/run/audit/audispd_events" };
	struct sink_options o = { .host = &host };
	struct sink *s;
	char error[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		o.target = targets[i];
		assert_int_equal(sink_audispd.new(&s, &o, error, sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, targets[i]));
	}
}

static int make_folder(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/events", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_readers),
		cmocka_unit_test(mode_and_crowd),
		cmocka_unit_test(targets_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
