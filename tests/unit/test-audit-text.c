/* SPDX-License-Identifier: MIT */
/* Records as audit text: the exact line for each type of record, and what libauparse makes of every byte in a name. */
#include "unit/test.h"

#include <auparse.h>
#include <libaudit.h>

#include "record/fields.h"
#include "sink/audit-line.h"
#include "sink/output.h"

#define BYTES(s) ((struct exeunt_bytes){ s, sizeof(s) - 1 })
#define SENDER "pid=7 uid=0 auid=4294967295 ses=4294967295"
#define FRONT "type=TRUSTED_APP msg=audit(1767323045.678:41): " SENDER " msg='"

static struct audit_sender sender = { SENDER, sizeof(SENDER) - 1 };
static char line[AUDIT_LINE_MAX + 1];

static const char *format(const struct exeunt_record *r)
{
	ssize_t n = audit_line_format(&sender, r, line, AUDIT_LINE_MAX);

	assert_in_range(n, 1, AUDIT_LINE_MAX);
	line[n] = '\0';
	assert_int_equal(strlen(line), n);
	return line;
}

static struct exeunt_record record(enum exeunt_type type)
{
	return (struct exeunt_record){ .type = (uint16_t)type,
				       .seq = 41,
				       .time_ns = INT64_C(1767323045678901234) };
}

static void set_all(struct exeunt_record *r)
{
	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		field_set(r, i);
}

static struct exeunt_record whole_exit(struct exeunt_bytes args[2])
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT);

	args[0] = BYTES("make");
	args[1] = BYTES("-j2");
	set_all(&r);
	r.time_ns += NS_PER_SEC;
	r.exit_time_ns = INT64_C(1767323045678901234);
	r.pid = 4242;
	r.parent_pid = 1;
	r.thread_id = 4243;
	r.uid = 1000;
	r.gid = 100;
	r.login_uid = 4294967295;
	r.session = 4294967295;
	r.subject = BYTES("system_u:system_r:init_t:s0");
	strcpy(r.comm, "make");
	r.exe_path = BYTES("/usr/bin/make");
	r.args = args;
	r.n_args = 2;
	r.cgroup = BYTES("/user.slice/x y");
	r.unit = BYTES("user.slice");
	r.tty = BYTES("pts/0");
	r.exit_code = 2;
	r.exit_certain = true;
	r.creation_time_ns = INT64_C(1767323000007000000);
	r.elapsed_us = 45671901;
	r.cpu_user_us = 12;
	r.cpu_system_us = 1000000;
	r.rss_peak_bytes = 900 * 1024;
	r.read_bytes = 4096;
	return r;
}

#define WHO                                                                     \
	"oppid=+1 ouid=1000 ogid=100 oauid=4294967295 oses=+4294967295"         \
	" obj=system_u:system_r:init_t:s0 ocomm=\"make\" exe=\"/usr/bin/make\"" \
	" proctitle=6D616B65002D6A32 cgroup=2F757365722E736C6963652F782079"     \
	" unit=\"user.slice\" terminal=pts/0"
#define COST                                                                                \
	" certain=yes start=1767323000.007 elapsed=45.671901 utime=0.000012 stime=1.000000" \
	" maxrss=900k read=4k written=0k res=success'\n"

static void exit_line(void **state)
{
	struct exeunt_bytes args[2];
	struct exeunt_record r = whole_exit(args);

	(void)state;
	field_clear(&r, EXEUNT_F_EXIT_SIGNAL);
	field_clear(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	field_clear(&r, EXEUNT_F_EXIT_CERTAIN);
	assert_string_equal(format(&r), FRONT "op=process-exit seq=+41 opid=+4242 " WHO
					      " exit=2 sig=0 core=no" COST);
}

static void killed_thread_line(void **state)
{
	struct exeunt_bytes args[2];
	struct exeunt_record r = whole_exit(args);

	(void)state;
	r.type = EXEUNT_TYPE_THREAD;
	r.exit_signal = 11;
	r.exit_core_dumped = true;
	field_clear(&r, EXEUNT_F_EXIT_CODE);
	assert_string_equal(format(&r), FRONT "op=thread-exit seq=+41 opid=+4242 otid=+4243 " WHO
					      " exit=? sig=11 core=yes" COST);
}

static void nothing_known(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_AMEND);

	(void)state;
	assert_string_equal(
		format(&r),
		FRONT "op=process-exit-amend seq=+41 opid=? oppid=? ouid=? ogid=? oauid=? oses=?"
		      " obj=? ocomm=? exe=? proctitle=? cgroup=? unit=? terminal=? exit=? sig=?"
		      " core=? certain=? start=? elapsed=? utime=? stime=? maxrss=? read=?"
		      " written=? res=success'\n");
}

/* Labels and terminals stand bare, but only if they are harmless. */
static void odd_labels(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT);

	(void)state;
	field_set(&r, EXEUNT_F_SUBJECT);
	field_set(&r, EXEUNT_F_TTY);
	r.subject = BYTES("a\0b");
	r.tty = BYTES("");
	assert_non_null(strstr(format(&r), " obj=610062 "));
	assert_non_null(strstr(line, " terminal=\"\" "));
	r.subject = BYTES("x (enforce)");
	r.tty = BYTES("?");
	assert_non_null(strstr(format(&r), " obj=782028656E666F72636529 "));
	assert_non_null(strstr(line, " terminal=\"?\" "));
}

static void loss_line(void **state)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = UINT64_C(12345678901),
				    .exact = true,
				    .window_end_ns = INT64_C(1767323045001000000) };
	struct exeunt_record r = record(EXEUNT_TYPE_LOSS);

	(void)state;
	r.loss = &loss;
	assert_string_equal(format(&r),
			    FRONT "op=process-exit-loss seq=+41 source=taskstats"
				  " cause=socket_overflow count=+12345678901 exact=yes"
				  " backfilled=+0 start=? end=1767323045.001 res=failed'\n");
	/* feed.c keeps 4 KiB for it */
	assert_in_range(audit_text_bound(&r), 1, 2048);
}

static void status_line(void **state)
{
	struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS, .state = EXEUNT_STATE_OPEN },
		{ .source = EXEUNT_SOURCE_PACCT, .state = EXEUNT_STATE_REFUSED },
		{ .source = EXEUNT_SOURCE_AUDIT, .state = EXEUNT_STATE_OPEN },
	};
	struct exeunt_status status = { .version = "0.1.0",
					.kernel_release = "6.1' x",
					.sources = sources,
					.n_sources = 3,
					.balance = { .exits = 5, .lost = 3, .records = 9 } };
	struct exeunt_record r = record(EXEUNT_TYPE_STOP);

	(void)state;
	r.status = &status;
	assert_string_equal(format(&r),
			    FRONT "op=exeunt-stop seq=+41 version=\"0.1.0\" kernel=362E312720"
				  "78 sources=taskstats,audit exits=+5 backfilled=+0 lost=+3"
				  " lost_output=+0 filtered=+0 unparsable=+0 evicted=+0 pending=+0"
				  " records=+9 res=success'\n");
}

/* The longest of everything stays below what the kernel and other readers take, and its cuts are whole. */
static void longest_line(void **state)
{
	static char raw[5000];
	struct exeunt_bytes long_text = { raw, sizeof(raw) }, args[3] = { long_text, long_text };
	struct exeunt_record r = record(EXEUNT_TYPE_THREAD);

	(void)state;
	memset(raw, '\n', sizeof(raw));
	memset(&r.present, 0xff, sizeof(r.present));
	memset(r.comm, '\n', sizeof(r.comm));
	r.subject = r.exe_path = r.cgroup = r.unit = r.tty = long_text;
	r.args = args;
	r.n_args = 3;
	r.uid = r.gid = r.login_uid = r.session = r.exit_code = r.exit_signal = UINT32_MAX;
	r.pid = r.parent_pid = r.thread_id = INT32_MIN;
	r.elapsed_us = r.cpu_user_us = r.cpu_system_us = UINT64_MAX;
	r.rss_peak_bytes = r.read_bytes = r.write_bytes = UINT64_MAX;
	r.exit_time_ns = r.creation_time_ns = INT64_MAX;
	r.seq = UINT64_MAX;
	assert_in_range(audit_text_bound(&r), 6000, AUDIT_TEXT_MAX);
	assert_non_null(strstr(format(&r), "0A2E2E2E proctitle="));
	assert_non_null(strstr(line, "0A2E2E2E terminal="));
	assert_true(strlen(line) > 6000 && strlen(line) < 8560);
	memset(raw, 'x', sizeof(raw));
	assert_non_null(strstr(format(&r), "x...\" cgroup="));
	assert_int_equal(audit_line_format(&sender, &r, line, 3000), -ENOSPC);
	assert_int_equal(audit_text(&r, line, 3000), 0);
}

static void expect_raw(auparse_state_t *au, const char *name, const char *want)
{
	const char *have = auparse_find_field(au, name);

	assert_non_null(have);
	assert_string_equal(have, want);
}

/* What a field's text stands for by audit's rule; auparse before 4.0.1 leaves that to its caller, in this type of record. */
static void expect_bytes(auparse_state_t *au, const char *name, const char *want, size_t len)
{
	const char *have = auparse_find_field(au, name);
	unsigned int byte;

	assert_non_null(have);
	if (*have == '"') {
		assert_int_equal(strlen(have), len + 2);
		assert_int_equal(have[len + 1], '"');
		assert_memory_equal(have + 1, want, len);
		return;
	}
	assert_int_equal(strlen(have), 2 * len);
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(sscanf(have + 2 * i, "%2X", &byte), 1);
		assert_int_equal(byte, (unsigned char)want[i]);
	}
}

static void read_back(const char *name, size_t len)
{
	struct exeunt_bytes args[2];
	struct exeunt_record r = whole_exit(args);
	auparse_state_t *au;

	memset(r.comm, 0, sizeof(r.comm));
	memcpy(r.comm, name, MIN(len, 15u));
	r.exe_path = (struct exeunt_bytes){ name, (uint32_t)len };
	r.exit_signal = 11;
	au = auparse_init(AUSOURCE_BUFFER, format(&r));
	assert_non_null(au);
	assert_true(auparse_next_event(au) > 0);
	assert_int_equal(auparse_get_num_records(au), 1);
	assert_int_equal(auparse_get_type(au), AUDIT_TRUSTED_APP);
	/* pid to ses, op to res, and nothing that a name has brought in */
	assert_int_equal(auparse_get_num_fields(au), 1 + 4 + 27);
	expect_raw(au, "opid", "+4242");
	assert_int_equal(auparse_get_field_int(au), 4242);
	expect_raw(au, "exit", "2");
	expect_raw(au, "sig", "11");
	auparse_first_record(au);
	expect_raw(au, "res", "success");
	auparse_first_record(au);
	expect_bytes(au, "ocomm", name, MIN(len, 15u));
	expect_bytes(au, "exe", name, len);
	assert_int_equal(auparse_next_event(au), 0);
	auparse_destroy(au);
}

/* Every byte but NUL, alone, at both ends, and in the middle. */
static void every_byte(void **state)
{
	(void)state;
	for (unsigned int c = 1; c < 256; c++) {
		char name[] = { 'a', (char)c, 'b', (char)c };

		read_back(name + 1, 1);
		read_back(name, 3);
		read_back(name + 1, 3);
	}
}

static void forged_names(void **state)
{
	static const char *const names[] = {
		"x\" res=success'\n\x1dUID=\"root\"",
		"' res=failed",
		"res=failed",
		"\x1d UID=\"root\"",
		"type=SYSCALL msg=audit(1.000:1): pid=1",
		"4142",
		"?",
		"(null)",
		"%s%n",
		"\\012",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		read_back(names[i], strlen(names[i]));
}

/* Through the output: lines follow each other, and a full one refuses whole lines. */
static void into_an_output(void **state)
{
	struct exeunt_bytes args[2];
	struct exeunt_record r = whole_exit(args);
	struct output *o;
	int fds[2], n = 0;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(output_new(&o, fds[1], 1u << 17), 0);
	while (!audit_line_write(&sender, &r, o))
		n++;
	assert_in_range(n, 100, 1000);
	assert_true(output_pending(o) + output_written(o) == (size_t)n * strlen(format(&r)));
	output_free(o);
	close(fds[0]);
	close(fds[1]);
}

static void own_sender(void **state)
{
	struct audit_sender s;
	char front[32];

	(void)state;
	audit_sender_init(&s);
	snprintf(front, sizeof(front), "pid=%d uid=%u auid=", (int)getpid(), getuid());
	assert_memory_equal(s.text, front, strlen(front));
	assert_non_null(strstr(s.text, " ses="));
	assert_int_equal(s.len, strlen(s.text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_line),	  cmocka_unit_test(killed_thread_line),
		cmocka_unit_test(nothing_known),  cmocka_unit_test(loss_line),
		cmocka_unit_test(status_line),	  cmocka_unit_test(longest_line),
		cmocka_unit_test(every_byte),	  cmocka_unit_test(forged_names),
		cmocka_unit_test(into_an_output), cmocka_unit_test(own_sender),
		cmocka_unit_test(odd_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
