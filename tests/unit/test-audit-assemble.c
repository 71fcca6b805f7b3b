/* SPDX-License-Identifier: MIT */
/*
 * The window of unfinished events: what closes an event, what bounds the window, and what is said
 * about it.
 */
#include "unit/test.h"

#include <linux/audit.h>
#include <malloc.h>

#include "unit/audit.h"

static struct run the_run;

static struct run *start(struct audit_assemble_options options)
{
	run_start_with(&the_run, options);
	return &the_run;
}

#define START(...) start((struct audit_assemble_options){ __VA_ARGS__ })

/* Nothing ends this event: after two seconds it is told, and said to be unfinished. */
static void test_timeout(void **state)
{
	struct run *run = START(0);

	(void)state;
	assert_int_equal(audit_assemble_deadline(run->window), INT64_MAX);
	run->now_ns = 5 * NS_PER_SEC;
	run_line(run, eg(1, 4242, "7"));
	assert_int_equal(audit_assemble_deadline(run->window), 7 * NS_PER_SEC);
	audit_assemble_age(run->window, 7 * NS_PER_SEC - 1);
	assert_int_equal(run->n, 0);
	audit_assemble_age(run->window, 7 * NS_PER_SEC);
	assert_int_equal(run->n, 1);
	assert_true(run->seen[0].event.flags & AUDIT_EVENT_INCOMPLETE);
	assert_int_equal(counters(run)->timed_out, 1);
	assert_int_equal(counters(run)->incomplete, 1);
	assert_int_equal(audit_assemble_deadline(run->window), INT64_MAX);
	/* What comes now is late; it makes no second event. */
	run_line(run, title(1, "\"demo\""));
	run_line(run, eg(1, 4242, "7"));
	run_line(run, eoe(1));
	run_flush(run);
	assert_int_equal(run->n, 1);
	assert_int_equal(counters(run)->late, 2);
	assert_int_equal(counters(run)->orphans, 0);
	run_stop(run);
}

/* Lines are enough to let time pass. */
static void test_timeout_by_lines(void **state)
{
	struct run *run = START(.timeout_ns = 100);

	(void)state;
	run_line(run, eg(1, 1, "0"));
	run->now_ns = 100;
	run_line(run, eg(2, 2, "0"));
	assert_int_equal(run->n, 1);
	run_stop(run);
}

/*
 * PROCTITLE is excluded: the first ends are waited for, since a title might still come, then it is
 * known that none does.
 */
static void test_no_titles(void **state)
{
	struct run *run = START(0);

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		run_line(run, eg(i, (int)i, "0"));
		run_line(run, eoe(i));
		if (i < 16) {
			assert_int_equal(run->n, i);
			run->now_ns += 3 * NS_PER_SEC;
			audit_assemble_age(run->window, run->now_ns);
		}
		assert_int_equal(run->n, i + 1);
	}
	assert_int_equal(run->seen[39].event.flags, 0);
	assert_true(run->seen[0].event.flags & AUDIT_EVENT_INCOMPLETE);
	/* Titles come back: they are waited for again. */
	run_line(run, eg(50, 50, "0"));
	run_line(run, title(50, "\"demo\""));
	run_line(run, eg(51, 51, "0"));
	run_line(run, eoe(51));
	assert_int_equal(run->n, 41);
	run_line(run, title(51, "\"demo\""));
	assert_int_equal(run->n, 42);
	run_stop(run);
}

/* Records without a SYSCALL record are nothing to tell, and do not stay. */
static void test_orphans(void **state)
{
	struct run *run = START(0);

	(void)state;
	run_line(run, title(1, "\"demo\""));
	run_line(run, eoe(2));
	assert_int_equal(audit_assemble_pending(run->window, NULL), 2);
	audit_assemble_age(run->window, 3 * NS_PER_SEC);
	assert_int_equal(audit_assemble_pending(run->window, NULL), 0);
	assert_int_equal(counters(run)->orphans, 2);
	assert_int_equal(run->n, 0);
	run_stop(run);
}

static void test_duplicates(void **state)
{
	struct run *run = START(0);

	(void)state;
	run_line(run, eg(1, 1, "5"));
	run_line(run, eg(1, 2, "6"));
	run_line(run, title(1, "\"demo\""));
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.code, 5);
	assert_int_equal(counters(run)->duplicates, 1);
	run_stop(run);
}

/* A million unfinished exits: each is told, and memory stays where it is (case C063). */
static void test_flat_memory(void **state)
{
	struct audit_assemble_options options = { .max_events = 256 };
	struct run *run = START(.max_events = 256);
	const unsigned int total = 1000000;
	struct mallinfo2 before = { 0 };
	size_t bytes;
	char line[512];

	(void)state;
	for (unsigned int i = 0; i < total; i++) {
		int n = snprintf(
			line, sizeof(line),
			"type=SYSCALL msg=audit(1700000000.100:%u): arch=c000003e syscall=231 a0=1 "
			"items=0 ppid=1 pid=%u uid=0 comm=\"x\" key=(null)",
			i, i % 32768);

		assert_int_equal(take_line(line, (size_t)n, 0, run), 0);
		if (i == 10000)
			before = mallinfo2();
	}
	assert_true(mallinfo2().uordblks <= before.uordblks);
	assert_int_equal(audit_assemble_pending(run->window, &bytes), options.max_events);
	assert_true(bytes <= (size_t)options.max_events * 1024);
	run_flush(run);
	assert_int_equal(run->n, total);
	assert_int_equal(counters(run)->events, total);
	assert_int_equal(counters(run)->evicted, total - options.max_events);
	run_stop(run);
}

/* One event with more records than it may have: cut, said so, and the exit is still told. */
static void test_event_bytes(void **state)
{
	struct run *run = START(.max_event_bytes = 1, .max_bytes = 1);
	static char record[8192];
	size_t bytes, n;

	(void)state;
	run_line(run, exec(1, 4242, "x", "/x", 0));
	for (unsigned int i = 0; i < 100; i++) {
		n = (size_t)snprintf(record, sizeof(record),
				     "type=EXECVE msg=audit(" TIME ":1): %s a%u=\"",
				     i ? "" : "argc=100", i);
		memset(record + n, 'x', 7000);
		memcpy(record + n + 7000, "\"", 2);
		run_line(run, record);
		audit_assemble_pending(run->window, &bytes);
		assert_true(bytes <= 4 * AUDIT_LINE_MAX);
	}
	run_line(run, title(1, "\"x\""));
	run_line(run, eoe(1));
	run_flush(run);
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.pid, 4242);
	assert_int_equal(run->seen[0].event.flags, AUDIT_EVENT_INCOMPLETE | AUDIT_EVENT_ARGS_CUT);
	assert_true(counters(run)->dropped > 90);
	run_stop(run);
}

/* Whatever came before it, the record that decides finds its place. */
static void test_syscall_last(void **state)
{
	struct run *run = START(.max_event_bytes = 1, .max_bytes = 1);
	static char record[8192];

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		size_t len = i < 20 ? 7000 : 100;
		size_t n = (size_t)snprintf(record, sizeof(record),
					    "type=EXECVE msg=audit(" TIME ":1): a%u=\"", i);

		memset(record + n, 'x', len);
		memcpy(record + n + len, "\"", 2);
		run_line(run, record);
	}
	run_line(run, exec(1, 4242, "x", "/x", 0));
	run_flush(run);
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.pid, 4242);
	assert_true(run->seen[0].event.flags & AUDIT_EVENT_INCOMPLETE);
	run_stop(run);
}

/* Many events with much text: the oldest are told early, and the bytes keep to the bound. */
static void test_all_bytes(void **state)
{
	struct run *run = START(.max_bytes = 1);
	static char record[8192];
	size_t bytes, n;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		run_line(run, exec(i, (int)i, "x", "/x", 0));
		n = (size_t)snprintf(record, sizeof(record),
				     "type=EXECVE msg=audit(" TIME ":%u): argc=1 a0=\"", i);
		memset(record + n, 'x', 7000);
		memcpy(record + n + 7000, "\"", 2);
		run_line(run, record);
		audit_assemble_pending(run->window, &bytes);
		assert_true(bytes <= 2 * ((size_t)256 << 10));
	}
	assert_true(counters(run)->evicted > 100);
	run_flush(run);
	assert_int_equal(run->n, 200);
	assert_int_equal(counters(run)->dropped, 0);
	run_stop(run);
}

/*
 * With the clock of the records: time passes as they say, but one wrong stamp closes nothing near
 * it.
 */
static void test_event_clock(void **state)
{
	struct run *run = START(.event_clock = true);

	(void)state;
	run_line(run, eg(1, 1, "0"));
	run_line(run, call_at("4000000000.000", 2, "arch=c000003e syscall=231", 2, "0"));
	run_line(run, title(1, "\"demo\""));
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.flags, AUDIT_EVENT_ARGS_TITLE);
	for (unsigned int i = 3; i < 40; i++) {
		run_line(run, eg(i, 1, "0"));
		run_line(run, title(i, "\"demo\""));
	}
	assert_int_equal(counters(run)->timed_out, 1);
	assert_int_equal(run->n, 39);
	assert_int_equal(audit_assemble_pending(run->window, NULL), 0);
	/* Its time is not ours. */
	audit_assemble_age(run->window, INT64_MAX);
	assert_int_equal(audit_assemble_deadline(run->window), INT64_MAX);
	run_stop(run);
}

/* auditd 4.2 with log_format RAW: the last 16 bytes of each record are missing, EOE shows it. */
static void test_cut_stream(void **state)
{
	struct run *run = START(0);

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const char *call = eg(i, 4242, "7"),
			   *name = title(i, "64656D6F002D780031323334353637");

		assert_int_equal(take_line(call, strlen(call) - 16, 0, run), 0);
		assert_int_equal(take_line(name, strlen(name) - 16, 0, run), 0);
		run_line(run, "type=EOE msg=audit(179606133");
	}
	assert_int_equal(run->n, 4);
	assert_int_equal(counters(run)->cut_ids, 4);
	assert_int_equal(run->seen[0].event.code, 7);
	assert_string_equal(run->seen[0].subj, "");
	assert_false(run->seen[0].event.flags & AUDIT_EVENT_ARGS_CUT);
	assert_true(run->seen[3].event.flags & AUDIT_EVENT_ARGS_CUT);
	assert_string_equal(run->seen[3].args[0], "demo");
	run_stop(run);
}

/* The same over netlink: types come apart from the text, and EOE has hardly any. */
static void test_payloads(void **state)
{
	static const char call[] =
		"audit(1700000000.100:1): arch=c000003e syscall=231 a0=3 items=0 ppid=1 "
		"pid=4242 auid=4294967295 uid=0 comm=\"x\" key=(null)";
	static const char name[] = "audit(1700000000.100:1): proctitle=\"x\"";
	static const char end[] = "audit(1700000000.100:1): ";
	struct run *run = START(0);

	(void)state;
	audit_assemble_payload(run->window, AUDIT_SYSCALL, call, sizeof(call), 0);
	audit_assemble_payload(run->window, AUDIT_PROCTITLE, name, sizeof(name) - 1, 0);
	audit_assemble_payload(run->window, AUDIT_EOE, end, sizeof(end) - 1, 0);
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.code, 3);
	assert_int_equal(run->seen[0].event.auid, AUDIT_UNSET);
	assert_int_equal(audit_assemble_pending(run->window, NULL), 0);
	assert_int_equal(audit_assemble_payload(run->window, AUDIT_REPLACE, "\1\2xy", 4, 0),
			 -EBADMSG);
	run_stop(run);
}

/* Records of an exec that are not there when its process ends were lost: it is told first, and told as half. */
static void test_end_closes_exec(void **state)
{
	struct run *run = START(0);

	(void)state;
	run_line(run, exec(1, 4242, "a", "/bin/a", 0));
	run_line(run, exec(2, 4243, "b", "/bin/b", 0));
	run_line(run, "node=x type=SYSCALL msg=audit(1700000000.100:3): arch=c000003e syscall=231 "
		      "a0=0 items=0 pid=4243");
	assert_int_equal(run->n, 0); /* of another host */
	run_line(run, eg(4, 4242, "7"));
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.kind, AUDIT_EVENT_EXEC);
	assert_int_equal(run->seen[0].event.pid, 4242);
	assert_true(run->seen[0].event.flags & AUDIT_EVENT_INCOMPLETE);
	/* and so are those that are not there at the next exec */
	run_line(run, exec(5, 4243, "c", "/bin/c", 0));
	assert_int_equal(run->n, 2);
	assert_string_equal(run->seen[1].exe, "/bin/b");
	run_line(run, eoe(1));
	run_flush(run);
	assert_int_equal(run->n, 5);
	run_stop(run);
}

static void test_options(void **state)
{
	struct audit_assemble_options options = { .max_events = 1 };
	struct audit_assemble *a = NULL;

	(void)state;
	assert_int_equal(audit_assemble_new(&a, &options), -EINVAL);
	audit_assemble_free(NULL);
	audit_stream_done(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeout),	     cmocka_unit_test(test_timeout_by_lines),
		cmocka_unit_test(test_no_titles),    cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_duplicates),   cmocka_unit_test(test_flat_memory),
		cmocka_unit_test(test_event_bytes),  cmocka_unit_test(test_all_bytes),
		cmocka_unit_test(test_syscall_last), cmocka_unit_test(test_event_clock),
		cmocka_unit_test(test_cut_stream),   cmocka_unit_test(test_payloads),
		cmocka_unit_test(test_options),	     cmocka_unit_test(test_end_closes_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
