/* SPDX-License-Identifier: MIT */
/*
 * Records damaged on their way, which made other readers fail, each with what is right; the numbers
 * are those of the reports.
 */
#include "unit/test.h"

#include <linux/audit.h>

#include "unit/audit.h"

static int start(void **state)
{
	struct run *run = malloc(sizeof(*run));

	if (!run)
		return -1;
	run_start(run);
	*state = run;
	return 0;
}

static int stop(void **state)
{
	run_stop(*state);
	free(*state);
	return 0;
}

static void assert_exit(const struct seen *s, int pid, unsigned int code)
{
	assert_int_equal(s->event.kind, AUDIT_EVENT_EXIT);
	assert_int_equal(s->event.pid, pid);
	assert_true(audit_event_has(&s->event, AUDIT_HAS_CODE));
	assert_int_equal(s->event.code, code);
}

#define NAMES "ARCH=x86_64 SYSCALL=exit_group AUID=\"alice\" UID=\"alice\" GID=\"users\""

/* C006: what auditd adds is not part of the last value. */
static void test_enriched(void **state)
{
	struct run *run = *state;

	run_line(run, text("%s" GS NAMES, eg(1, 4242, "7")));
	run_flush(run);
	assert_exit(&run->seen[0], 4242, 7);
	assert_false(audit_event_has(&run->seen[0].event, AUDIT_HAS_KEY));
	assert_int_equal(run->seen[0].event.uid, 1000);
	assert_string_equal(run->seen[0].uid_name, "alice");
	assert_string_equal(run->seen[0].auid_name, "alice");
	assert_string_equal(run->seen[0].subj, "unconfined");
}

/* C031: the separator got lost. */
static void test_glued(void **state)
{
	static const char *const keys[] = { "\"exit\"" NAMES, "(null)" NAMES, "\"exit\"#035" NAMES,
					    "(null)#035" NAMES };
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		run_line(run,
			 text("type=SYSCALL msg=audit(" TIME ":%u): arch=c000003e syscall=231 a0=0 "
			      "items=0 %s",
			      i, task_text(4242, "demo", "/usr/bin/demo", keys[i])));
		run_flush(run);
		assert_exit(&run->seen[i], 4242, 0);
		assert_string_equal(run->seen[i].key, i % 2 ? "" : "exit");
		assert_int_equal(audit_event_has(&run->seen[i].event, AUDIT_HAS_KEY), i % 2 == 0);
		assert_string_equal(run->seen[i].uid_name, "alice");
	}
}

/* C030: a syslog header in front, the separator escaped. */
static void test_syslog(void **state)
{
	struct run *run = *state;

	run_line(run, text("<13>Nov 14 22:13:20 hosta audispd: %s#035ARCH=x86_64 "
			   "SYSCALL=exit_group UID=\"alice\"",
			   eg(1, 4242, "3")));
	run_line(run, text("Nov 14 22:13:20 hosta audispd: node=hostb %s", eg(2, 4243, "3")));
	run_flush(run);
	assert_int_equal(run->n, 2);
	assert_exit(&run->seen[0], 4242, 3);
	assert_false(audit_event_has(&run->seen[0].event, AUDIT_HAS_KEY));
	assert_string_equal(run->seen[0].uid_name, "alice");
	assert_exit(&run->seen[1], 4243, 3);
	assert_string_equal(run->seen[1].node, "hostb");
	assert_int_equal(counters(run)->prefixed, 2);
}

/* C032: braces and blanks in what auditd adds. */
static void test_braces(void **state)
{
	struct run *run = *state;

	run_line(run, eg(1, 4242, "0"));
	run_line(run, "type=SOCKADDR msg=audit(1700000000.100:1): saddr=0100" GS
		      "SADDR={ saddr_fam=local sockaddr len too short }");
	run_line(run, title(1, "\"demo\""));
	assert_int_equal(run->n, 1);
	assert_exit(&run->seen[0], 4242, 0);
	assert_int_equal(run->seen[0].event.flags, AUDIT_EVENT_ARGS_TITLE);
}

/* C026: names in place of numbers are refused, with a count; nothing is half read. */
static void test_interpreted(void **state)
{
	struct run *run = *state;

	run_line(run, eg(1, 4242, "1"));
	run_line(run,
		 "type=SYSCALL msg=audit(1700000000.100:2): arch=x86_64 syscall=exit_group a0=0x1 "
		 "a1=0x0 items=0 ppid=100 pid=4242 auid=alice uid=alice comm=demo "
		 "exe=/usr/bin/demo key=(null)");
	run_line(run, "type=SYSCALL msg=audit(11/14/2023 22:13:20.100:3) : arch=x86_64 "
		      "syscall=exit_group a0=0x1 pid=4242 uid=alice comm=demo");
	run_flush(run);
	assert_int_equal(run->n, 1);
	assert_int_equal(counters(run)->interpreted, 2);
	assert_int_equal(counters(run)->unparsable, 0);
}

/* C028: pages that were never written. */
static void test_nul_page(void **state)
{
	static const char nuls[4096];
	struct run *run = *state;

	run_feed(run, eg(1, 1, "0"));
	assert_int_equal(audit_stream_feed(&run->stream, nuls, 1000), 0);
	assert_int_equal(audit_stream_feed(&run->stream, nuls, 3096), 0);
	run_line(run, eg(2, 2, "0"));
	run_flush(run);
	assert_int_equal(run->n, 2);
	assert_exit(&run->seen[0], 1, 0);
	assert_exit(&run->seen[1], 2, 0);
	assert_int_equal(run->stream.nul_runs, 1);
	assert_int_equal(counters(run)->unparsable, 0);
}

/* C068: no tty, no exe, no subj. */
static void test_few_fields(void **state)
{
	struct run *run = *state;

	run_line(run, "type=SYSCALL msg=audit(1700000000.100:1): arch=c000003e syscall=231 "
		      "a0=5 a1=0 a2=0 a3=0 items=0 ppid=100 pid=4242 auid=1000 uid=1000 gid=1000 "
		      "euid=1000 suid=1000 fsuid=1000 egid=1000 sgid=1000 fsgid=1000 tty=(none) "
		      "ses=3 comm=\"demo\" key=(null)");
	run_flush(run);
	assert_exit(&run->seen[0], 4242, 5);
	assert_false(audit_event_has(&run->seen[0].event, AUDIT_HAS_TTY));
	assert_false(audit_event_has(&run->seen[0].event, AUDIT_HAS_EXE));
	assert_false(audit_event_has(&run->seen[0].event, AUDIT_HAS_SUBJ));
	assert_int_equal(run->seen[0].event.ses, 3);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_enriched),   CASE(test_glued),       CASE(test_syslog),
		CASE(test_braces),     CASE(test_interpreted), CASE(test_nul_page),
		CASE(test_few_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
