/* SPDX-License-Identifier: MIT */
/*
 * Inputs that made other readers of audit fail, each with what is right; the numbers are those of
 * the reports.
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

/* C001: no success=, no exit=; nothing but the one record, and then the end of the file. */
static void test_exit_without_result(void **state)
{
	struct run *run = *state;

	run_line(run, eg(1, 4242, "1"));
	assert_int_equal(run->n, 0);
	run_flush(run);
	assert_int_equal(run->n, 1);
	assert_exit(&run->seen[0], 4242, 1);
	assert_false(audit_event_has(&run->seen[0].event, AUDIT_HAS_SUCCESS));
	assert_true(run->seen[0].event.flags & AUDIT_EVENT_INCOMPLETE);
	assert_int_equal(run->seen[0].event.time_ns, INT64_C(1700000000100000000));
	assert_int_equal(counters(run)->unparsable, 0);
}

/* C002: syscall 60 ends a thread; pid 1 lives on. */
static void test_thread_ends(void **state)
{
	struct run *run = *state;
	unsigned int exits = 0;

	run_line(run, thread(1, 1, "0"));
	run_line(run, thread(2, 1, "0"));
	run_line(run, eg(3, 4242, "0"));
	run_line(run, thread(4, 1, "0"));
	run_flush(run);
	assert_int_equal(run->n, 4);
	for (unsigned int i = 0; i < 4; i++)
		exits += run->seen[i].event.kind == AUDIT_EVENT_EXIT;
	assert_int_equal(exits, 1);
	assert_exit(&run->seen[2], 4242, 0);
	assert_int_equal(run->seen[0].event.kind, AUDIT_EVENT_THREAD_EXIT);
}

/* C003: numbers of system calls belong to an architecture. */
static void test_arch(void **state)
{
	static const struct {
		const char *call;
		int kind; /* 0: no event */
	} rows[] = {
		{ "arch=40000003 syscall=252", AUDIT_EVENT_EXIT + 1 },
		{ "arch=40000003 syscall=1", AUDIT_EVENT_THREAD_EXIT + 1 },
		{ "arch=40000003 syscall=60 success=yes exit=0", 0 },
		{ "arch=c000003e syscall=1 success=yes exit=5", 0 },
		{ "arch=c000003e syscall=252 success=yes exit=0", 0 },
		{ "arch=c00000b7 syscall=94", AUDIT_EVENT_EXIT + 1 },
		{ "arch=c00000b7 syscall=93", AUDIT_EVENT_THREAD_EXIT + 1 },
		{ "arch=deadbeef syscall=94", 0 },
	};
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int before = run->n;

		run_line(run, call_at(TIME, i + 1, rows[i].call, 100 + (int)i, "7"));
		run_flush(run);
		assert_int_equal(run->n - before, rows[i].kind != 0);
		if (rows[i].kind)
			assert_int_equal(run->seen[before].event.kind, rows[i].kind - 1);
	}
	assert_int_equal(counters(run)->unknown_arch, 1);
}

/* C007: a file has no EOE. C019: a title holds NULs. */
static void test_no_eoe(void **state)
{
	struct run *run = *state;

	run_line(run, eg(1, 4242, "0"));
	run_line(run, title(1, "64656D6F002D78"));
	run_flush(run);
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.n_args, 2);
	assert_string_equal(run->seen[0].args[0], "demo");
	assert_string_equal(run->seen[0].args[1], "-x");
	assert_int_equal(run->seen[0].event.flags, AUDIT_EVENT_ARGS_TITLE);

	run_line(run, eg(2, 4243, "0"));
	run_line(run, title(2, "736C65657000313030"));
	assert_int_equal(run->n, 2);
	assert_int_equal(run->seen[1].event.n_args, 2);
	assert_string_equal(run->seen[1].args[0], "sleep");
	assert_string_equal(run->seen[1].args[1], "100");
}

/* C008: events interleave; the next id does not end the one before. */
static void test_interleaved(void **state)
{
	struct run *run = *state;

	run_line(run, eg(1, 4242, "0"));
	run_line(run, eg(2, 4243, "3"));
	run_line(run, title(1, "\"demo\""));
	run_line(run, title(2, "\"other\""));
	run_line(run, eoe(1));
	run_line(run, eoe(2));
	assert_int_equal(run->n, 2);
	assert_exit(&run->seen[0], 4242, 0);
	assert_exit(&run->seen[1], 4243, 3);
	assert_string_equal(run->seen[0].args[0], "demo");
	assert_string_equal(run->seen[1].args[0], "other");
	assert_int_equal(run->seen[1].event.flags, AUDIT_EVENT_ARGS_TITLE);
	assert_int_equal(counters(run)->late, 0);
	assert_int_equal(audit_assemble_pending(run->window, NULL), 0);
}

/* C012 */
static void test_node(void **state)
{
	struct run *run = *state;

	run_line(run, text("node=hosta.example %s", eg(1, 4242, "0")));
	run_line(run, text("node=hostb.example %s", eg(1, 77, "5")));
	run_flush(run);
	assert_int_equal(run->n, 2);
	assert_exit(&run->seen[0], 4242, 0);
	assert_string_equal(run->seen[0].node, "hosta.example");
	assert_exit(&run->seen[1], 77, 5);
	assert_string_equal(run->seen[1].node, "hostb.example");
	assert_int_equal(counters(run)->prefixed, 0);
}

/* C015: names are matched whole, in any order. */
static void test_exact_names(void **state)
{
	static const char *const ids[] = { "auid=1000 uid=0 euid=1001", "uid=0 auid=1000 euid=1001",
					   "euid=1001 auid=1000 uid=0" };
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct audit_event *e = &run->seen[i].event;

		run_line(run, text("type=SYSCALL msg=audit(" TIME ":%u): arch=c000003e syscall=231 "
				   "a0=0 items=0 pid=9 %s key=(null)",
				   i, ids[i]));
		run_flush(run);
		assert_int_equal(e->uid, 0);
		assert_int_equal(e->auid, 1000);
		assert_int_equal(e->euid, 1001);
		assert_false(audit_event_has(e, AUDIT_HAS_GID));
	}
}

/* C016 */
static void test_daemon_end(void **state)
{
	struct run *run = *state;

	run_line(run,
		 "type=DAEMON_END msg=audit(1700000000.100:5): op=terminate auid=0 uid=0 ses=1 "
		 "pid=77 subj=x  res=success");
	assert_int_equal(run->n, 1);
	assert_int_equal(run->seen[0].event.kind, AUDIT_EVENT_DAEMON);
	assert_int_equal(run->seen[0].event.type, AUDIT_DAEMON_END);
	assert_string_equal(run->seen[0].op, "terminate");
	assert_string_equal(run->seen[0].subj, "x");
	assert_true(run->seen[0].event.res);
	assert_int_equal(counters(run)->unparsable, 0);
}

/* C020: EOE first, then the title, the SYSCALL record last; and the other orders as well. */
static void test_any_order(void **state)
{
	static const char orders[][4] = { "ets", "est", "tes", "tse", "set", "ste" };
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		for (const char *p = orders[i]; *p; p++)
			run_line(run, *p == 'e'	  ? eoe(i)
				      : *p == 't' ? title(i, "\"demo\"")
						  : eg(i, 4242, "4"));
		assert_int_equal(run->n, i + 1);
		assert_exit(&run->seen[i], 4242, 4);
		assert_string_equal(run->seen[i].args[0], "demo");
		assert_int_equal(run->seen[i].event.flags, AUDIT_EVENT_ARGS_TITLE);
		assert_int_equal(audit_assemble_pending(run->window, NULL), 0);
	}
	assert_int_equal(counters(run)->orphans, 0);
}

/* C023: an argument in pieces, over two records. */
static void test_argument_pieces(void **state)
{
	struct run *run = *state;

	run_line(run, exec(1, 4242, "sh", "/bin/sh", 0));
	run_line(run,
		 "type=EXECVE msg=audit(1700000000.100:1): argc=3 a0=\"sh\" a1=\"-c\" a2_len=24 "
		 "a2[0]=6563686F2031");
	run_line(run, "type=EXECVE msg=audit(1700000000.100:1):  a2[1]=3B6563686F2032");
	run_line(run, eoe(1));
	run_line(run, eg(2, 4242, "0"));
	run_flush(run);
	assert_int_equal(run->n, 2);
	assert_int_equal(run->seen[0].event.kind, AUDIT_EVENT_EXEC);
	assert_int_equal(run->seen[0].event.n_args, 3);
	assert_string_equal(run->seen[0].args[0], "sh");
	assert_string_equal(run->seen[0].args[1], "-c");
	assert_string_equal(run->seen[0].args[2], "echo 1;echo 2");
	assert_false(run->seen[0].event.flags & AUDIT_EVENT_ARGS_CUT);
	assert_exit(&run->seen[1], 4242, 0);
}

/* C024: older kernels leave an empty argument out. */
static void test_empty_argument(void **state)
{
	struct run *run = *state;

	run_line(run, exec(1, 4242, "ls", "/bin/ls", 0));
	run_line(run, "type=EXECVE msg=audit(1700000000.100:1): argc=3 a0=\"ls\" a2=\"/etc\"");
	run_flush(run);
	assert_int_equal(run->seen[0].event.n_args, 3);
	assert_string_equal(run->seen[0].args[0], "ls");
	assert_string_equal(run->seen[0].args[1], "");
	assert_string_equal(run->seen[0].args[2], "/etc");
	assert_false(run->seen[0].event.flags & AUDIT_EVENT_ARGS_CUT);
}

/* C052: the leader ends first, the process ends nine seconds later. C055: nobody saw it start. */
static void test_leader_first(void **state)
{
	struct run *run = *state;

	run_line(run, call_at("1700000001.000", 1, "arch=c000003e syscall=60", 4242, "0"));
	run_line(run, call_at("1700000010.000", 2, "arch=c000003e syscall=231", 4242, "6"));
	run_flush(run);
	assert_int_equal(run->n, 2);
	assert_int_equal(run->seen[0].event.kind, AUDIT_EVENT_THREAD_EXIT);
	assert_exit(&run->seen[1], 4242, 6);
	assert_int_equal(run->seen[1].event.time_ns, INT64_C(1700000010000000000));
}

/* C058: registers are hexadecimal, and a status has eight bits. */
static void test_a0(void **state)
{
	static const struct {
		const char *a0;
		unsigned int code;
	} rows[] = { { "10", 16 },
		     { "1f4", 244 },
		     { "ffffffff", 255 },
		     { "ffffffffffffffff", 255 },
		     { "100", 0 } };
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		run_line(run, eg(i + 1, (int)i + 1, rows[i].a0));
		run_flush(run);
		assert_exit(&run->seen[i], (int)i + 1, rows[i].code);
	}
	/* More digits than a register has, or none of its digits: no code, and no guess. */
	run_line(run, eg(8, 8, "10000000000000001"));
	run_line(run, eg(9, 9, "zz"));
	run_flush(run);
	assert_int_equal(run->n, ARRAY_SIZE(rows) + 2);
	assert_false(audit_event_has(&run->seen[5].event, AUDIT_HAS_CODE));
	assert_false(audit_event_has(&run->seen[6].event, AUDIT_HAS_CODE));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_exit_without_result),
		CASE(test_thread_ends),
		CASE(test_arch),
		CASE(test_no_eoe),
		CASE(test_interleaved),
		CASE(test_node),
		CASE(test_exact_names),
		CASE(test_daemon_end),
		CASE(test_any_order),
		CASE(test_argument_pieces),
		CASE(test_empty_argument),
		CASE(test_leader_first),
		CASE(test_a0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
