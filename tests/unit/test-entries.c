/* SPDX-License-Identifier: MIT */
/* Entries of the journal and lines for syslog, as a server at the other end of the socket gets them. */
#include "unit/test.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/format.h"
#include "record/fields.h"
#include "sink/sink.h"
#include "sink/table.h"

static char folder[] = "/tmp/exeunt-entries.XXXXXX", path[64];
static char said[2048];

static void say(int level, const char *text, void *userdata)
{
	(void)level;
	(void)userdata;
	snprintf(said, sizeof(said), "%s", text);
}

static const struct sink_host host = { .name = "h",
				       .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
				       .say = say };

static int serve(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	unlink(path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static struct sink *open_with(const struct sink_ops *ops, struct sink_options o)
{
	struct sink *s = NULL;
	char error[256] = "";

	o.host = &host;
	o.name = ops->word;
	o.target = path;
	assert_int_equal(ops->new (&s, &o, error, sizeof(error)), 0);
	return s;
}

#define TEXT(s)                     \
	{                           \
		"" s, sizeof(s) - 1 \
	}

static const struct exeunt_bytes nasty_args[] = {
	TEXT("sh"), TEXT("-c"), TEXT("it's \"x\"\n"), TEXT(""), TEXT("\x1d\xff\0z"),
};

static struct exeunt_record an_exit(void)
{
	static const enum exeunt_field set[] = {
		EXEUNT_F_PID,	    EXEUNT_F_COMM,	EXEUNT_F_EXE_PATH,  EXEUNT_F_ARGS,
		EXEUNT_F_ENTITY_ID, EXEUNT_F_EXIT_CODE, EXEUNT_F_EXIT_TIME, EXEUNT_F_EXIT_CERTAIN,
		EXEUNT_F_SOURCES,   EXEUNT_F_ELAPSED,	EXEUNT_F_USER,	    EXEUNT_F_EXIT_CAUSE
	};
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_EXIT,
				   .time_ns = 1700000000123456789,
				   .exit_time_ns = 1700000000123456789,
				   .pid = 4242,
				   .entity_start_ns = 0x1f,
				   .comm = "a\nPRIORITY=0",
				   .exe_path = TEXT("/bin/x y"),
				   .args = nasty_args,
				   .n_args = ARRAY_SIZE(nasty_args),
				   .exit_code = 3,
				   .exit_certain = true,
				   .sources = 5,
				   .elapsed_us = 1500000,
				   .user = TEXT("root") };

	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		field_set(&r, set[i]);
	return r;
}

static size_t take(int fd, char *buf, size_t size)
{
	ssize_t n = recv(fd, buf, size - 1, MSG_DONTWAIT);

	if (n < 0)
		return 0;
	buf[n] = '\0';
	return (size_t)n;
}

/* The value of a field of an entry, as the protocol's description has it; NULL if there is none. The last entry's end is checked. */
static const char *find(const char *entry, size_t len, const char *name, size_t *ret_len)
{
	const char *p = entry, *end = entry + len, *found = NULL;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *eq = memchr(p, '=', (size_t)(nl - p));
		const char *key = p, *value;
		size_t key_len, value_len;

		assert_non_null(nl);
		if (eq) {
			key_len = (size_t)(eq - p);
			value = eq + 1;
			value_len = (size_t)(nl - value);
		} else {
			key_len = (size_t)(nl - p);
			value_len = (size_t)le64toh(load_u64(nl + 1));
			value = nl + 9;
			assert_true(value_len <= (size_t)(end - value) - 1);
		}
		for (size_t i = 0; i < key_len; i++)
			assert_non_null(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", key[i]));
		assert_int_equal(value[value_len], '\n');
		if (key_len == strlen(name) && !memcmp(key, name, key_len)) {
			assert_null(found);
			found = value;
			*ret_len = value_len;
		}
		p = value + value_len + 1;
	}
	assert_ptr_equal(p, end);
	return found;
}

#define assert_field(entry, len, name, want)                        \
	do {                                                        \
		size_t n_ = 0;                                      \
		const char *v_ = find((entry), (len), (name), &n_); \
                                                                    \
		assert_non_null(v_);                                \
		assert_int_equal(n_, sizeof(want) - 1);             \
		assert_memory_equal(v_, want, sizeof(want) - 1);    \
	} while (0)

static void an_entry_of_the_journal(void **state)
{
	int fd = serve();
	struct sink *s = open_with(&sink_journal, (struct sink_options){ 0 });
	struct exeunt_record r = an_exit();
	char entry[65536];
	size_t len;

	(void)state;
	sink_journal.record(s, &r);
	len = take(fd, entry, sizeof(entry));
	assert_field(entry, len, "PRIORITY", "5");
	assert_field(entry, len, "SYSLOG_IDENTIFIER", "exeunt");
	assert_field(entry, len, "MESSAGE", "a\\nPRIORITY=0[4242] of root exited with status 3");
	assert_field(entry, len, "EXEUNT_TYPE", "exit");
	assert_field(entry, len, "EXEUNT_SEQ", "1");
	assert_field(entry, len, "EXEUNT_PROCESS_PID", "4242");
	assert_field(entry, len, "EXEUNT_PROCESS_COMM", "a\nPRIORITY=0");
	assert_field(entry, len, "EXEUNT_PROCESS_EXIT_CODE", "3");
	assert_field(entry, len, "EXEUNT_PROCESS_EXIT_TIME", "2023-11-14T22:13:20.123456789Z");
	assert_field(entry, len, "EXEUNT_PROCESS_EXIT_CERTAIN", "true");
	assert_field(entry, len, "EXEUNT_PROCESS_COMMAND_ARGS",
		     "sh -c 'it'\\''s \"x\"\n' '' '\x1d\xff\0z'");
	assert_field(entry, len, "EXEUNT_PROCESS_ENTITY_ID",
		     "0123456789abcdef0123456789abcdef-4242-1f");
	assert_field(entry, len, "EXEUNT_USAGE_ELAPSED_US", "1500000");
	assert_field(entry, len, "EXEUNT_SOURCES", "taskstats,audit");
	sink_journal.free(s);
	close(fd);
}

static void priorities_and_sentences(void **state)
{
	int fd = serve();
	struct sink *s = open_with(&sink_journal, (struct sink_options){ 0 });
	struct exeunt_record r = an_exit();
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS, .count = 7, .exact = true };
	char entry[65536];
	size_t len;

	(void)state;
	strcpy(r.comm, "x");
	r.exit_code = 0;
	sink_journal.record(s, &r);
	len = take(fd, entry, sizeof(entry));
	assert_field(entry, len, "PRIORITY", "6");
	field_clear(&r, EXEUNT_F_EXIT_CODE);
	field_set(&r, EXEUNT_F_EXIT_SIGNAL);
	field_set(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	r.exit_signal = 11;
	sink_journal.record(s, &r);
	len = take(fd, entry, sizeof(entry));
	assert_field(entry, len, "PRIORITY", "5");
	assert_field(entry, len, "MESSAGE", "x[4242] of root was killed by SIGSEGV");
	r.exit_core_dumped = true;
	sink_journal.record(s, &r);
	len = take(fd, entry, sizeof(entry));
	assert_field(entry, len, "PRIORITY", "4");
	assert_field(entry, len, "MESSAGE",
		     "x[4242] of root was killed by SIGSEGV and dumped core");
	r = (struct exeunt_record){ .type = EXEUNT_TYPE_LOSS, .loss = &loss };
	sink_journal.record(s, &r);
	len = take(fd, entry, sizeof(entry));
	assert_field(entry, len, "PRIORITY", "4");
	assert_field(entry, len, "EXEUNT_LOSS_COUNT", "7");
	assert_field(entry, len, "EXEUNT_SEQ", "4");
	sink_journal.free(s);
	close(fd);
}

static void a_line_of_syslog(void **state)
{
	int fd = serve();
	struct sink *s = open_with(&sink_syslog, (struct sink_options){ 0 });
	struct exeunt_record r = an_exit();
	char line[4096], want[4096];

	(void)state;
	sink_syslog.record(s, &r);
	assert_true(take(fd, line, sizeof(line)) > 0);
	snprintf(
		want, sizeof(want),
		"<29>Nov 14 22:13:20 exeunt[%d]: type=exit seq=1 pid=4242 comm=\"a\\x0aPRIORITY=0\" "
		"code=3 certain=true user=\"root\" elapsed=1.500000 exe=\"/bin/x y\" "
		"args=\"sh -c 'it'\\\\''s \\\"x\\\"\\x0a' '' '\\x1d\\xff\\x00z'\"",
		(int)getpid());
	assert_string_equal(line, want);
	sink_syslog.free(s);
	close(fd);
}

/* Whatever the lengths: under 1,024 bytes, printable, and what was cut shows. */
static void a_line_is_never_too_long(void **state)
{
	int fd = serve();
	uint64_t all[EXEUNT_PRESENT_WORDS] = { UINT64_MAX, UINT64_MAX };
	char big[70000], line[4096];

	(void)state;
	memset(big, '"', sizeof(big));
	for (uint32_t n = 0; n < sizeof(big); n += n < 1200 ? 7 : 9973) {
		for (int fields = 0; fields < 2; fields++) {
			struct sink_options o = { .fields = fields ? all : NULL };
			struct sink *s = open_with(&sink_syslog, o);
			struct exeunt_record r = an_exit();
			const struct exeunt_bytes arg = { big, n };
			size_t len;

			memset(r.present, fields ? 0xff : 0, sizeof(r.present));
			if (!fields)
				field_set(&r, EXEUNT_F_ARGS);
			r.user = r.group = r.tty = r.cwd = r.cgroup = r.exe_path = arg;
			r.args = &arg;
			r.n_args = 1;
			sink_syslog.record(s, &r);
			len = take(fd, line, sizeof(line));
			assert_in_range(len, 50, 1023);
			for (size_t i = 0; i < len; i++)
				assert_in_range(line[i], ' ', '~');
			if (!fields && n > 1000)
				assert_non_null(strstr(line, "...\""));
			sink_syslog.free(s);
		}
	}
	close(fd);
}

static uint64_t dropped(const struct sink *s)
{
	struct sink_report report;

	s->ops->report(s, &report);
	return report.dropped;
}

/* Nobody serves: kept up to the bound, then counted, and told when somebody comes. */
static void nobody_is_there(void **state)
{
	struct sink *s;
	struct exeunt_record r = an_exit();
	struct sink_report report;
	char line[4096];
	int fd;

	(void)state;
	unlink(path);
	s = open_with(&sink_syslog, (struct sink_options){ .buffer = 2048, .rate = 1000000 });
	for (int i = 0; i < 100; i++)
		sink_syslog.record(s, &r);
	sink_syslog.flush(s, mono_now());
	assert_non_null(strstr(said, "cannot write to"));
	sink_syslog.report(s, &report);
	assert_int_equal(report.error, ENOENT);
	assert_in_range(report.queued_bytes, 1000, 2048);
	assert_int_equal(report.dropped + report.records, 100);
	assert_in_range(sink_syslog.deadline(s), mono_now() - NS_PER_SEC, mono_now() + NS_PER_SEC);
	fd = serve();
	sink_syslog.flush(s, mono_now() + 2 * NS_PER_SEC);
	assert_non_null(strstr(said, "works again"));
	for (uint64_t i = 0; i < report.records; i++) {
		assert_true(take(fd, line, sizeof(line)) > 0);
		assert_non_null(strstr(line, "type=exit"));
	}
	assert_true(take(fd, line, sizeof(line)) > 0);
	snprintf(said, sizeof(said),
		 "type=loss seq=101 source=output cause=slow_sink count=%d exact=true",
		 (int)report.dropped);
	assert_non_null(strstr(line, said));
	assert_int_equal(take(fd, line, sizeof(line)), 0);
	assert_int_equal(dropped(s), report.dropped);
	sink_syslog.free(s);
	close(fd);
}

/* Full, gone, back: in order, each once, and poll(2) says when there is room. */
static void a_reader_that_is_slow(void **state)
{
	struct sink *s;
	struct exeunt_record r = an_exit();
	struct pollfd p;
	char line[4096], want[64];
	int fd = serve(), n = 0;

	(void)state;
	s = open_with(&sink_syslog, (struct sink_options){ .rate = 1000000 });
	for (int i = 0; i < 2000; i++)
		sink_syslog.record(s, &r);
	sink_syslog.flush(s, mono_now());
	assert_int_equal(dropped(s), 0);
	p = (struct pollfd){ .fd = sink_syslog.fd(s), .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_false(sink_syslog.finish(s, mono_now()));
	for (;;) {
		while (take(fd, line, sizeof(line)) > 0) {
			snprintf(want, sizeof(want), " seq=%d ", ++n);
			assert_non_null(strstr(line, want));
		}
		if (n == 2000)
			break;
		assert_int_equal(poll(&p, 1, 5000), 1);
		sink_syslog.dispatch(s, mono_now());
	}
	close(fd);
	sink_syslog.record(s, &r);
	fd = serve();
	sink_syslog.record(s, &r);
	sink_syslog.flush(s, mono_now() + 2 * NS_PER_SEC);
	while (take(fd, line, sizeof(line)) > 0) {
		snprintf(want, sizeof(want), " seq=%d ", ++n);
		assert_non_null(strstr(line, want));
	}
	assert_int_equal(n, 2002);
	assert_true(sink_syslog.finish(s, mono_now()));
	sink_syslog.free(s);
	close(fd);
}

/* A datagram that the socket can never take is counted, and does not stop the others. */
static void too_long_for_the_socket(void **state)
{
	struct sink *s;
	struct exeunt_record r = an_exit();
	size_t size = 64 * 1024 * 1024;
	struct exeunt_bytes arg = { calloc(1, size), (uint32_t)size };
	char *entry = malloc(65536);
	int fd = serve();

	(void)state;
	s = open_with(&sink_journal, (struct sink_options){ .rate = 1000000 });
	r.args = &arg;
	r.n_args = 1;
	sink_journal.record(s, &r);
	assert_int_equal(dropped(s), 1);
	r = an_exit();
	sink_journal.record(s, &r);
	assert_true(take(fd, entry, 65536) > 0);
	assert_true(sink_journal.finish(s, mono_now()));
	sink_journal.free(s);
	free(entry);
	free((void *)(uintptr_t)arg.data);
	close(fd);
}

static void targets(void **state)
{
	const struct sink_ops *ops;
	const char *target;
	char error[256];

	(void)state;
	assert_int_equal(sink_parse("journal", &ops, &target, error, sizeof(error)), 0);
	assert_string_equal(target, "");
	assert_int_equal(sink_parse("syslog:/x", &ops, &target, error, sizeof(error)), 0);
	assert_ptr_equal(ops, &sink_syslog);
	assert_string_equal(target, "/x");
	assert_int_equal(sink_parse("syslog:", &ops, &target, error, sizeof(error)), -EINVAL);
	assert_int_equal(sink_parse("json", &ops, &target, error, sizeof(error)), -EINVAL);
}

static int make_folder(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_of_the_journal),
		cmocka_unit_test(priorities_and_sentences),
		cmocka_unit_test(a_line_of_syslog),
		cmocka_unit_test(a_line_is_never_too_long),
		cmocka_unit_test(nobody_is_there),
		cmocka_unit_test(a_reader_that_is_slow),
		cmocka_unit_test(too_long_for_the_socket),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
