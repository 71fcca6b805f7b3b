/* SPDX-License-Identifier: MIT */
/* What each type of record tells. */
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

/* Feeds one record that is an event by itself. */
static const struct seen *single(struct run *run, const char *line)
{
	run_line(run, line);
	assert_int_equal(run->n, 1);
	return &run->seen[0];
}

static bool has(const struct seen *s, enum audit_has what)
{
	return audit_event_has(&s->event, what);
}

static void test_login(void **state)
{
	const struct seen *s = single(
		*state, "type=LOGIN msg=audit(1.002:3): pid=18 uid=0 subj=unconfined "
			"old-auid=4294967295 auid=1000 tty=(none) old-ses=4294967295 ses=5 res=1" GS
			"UID=\"root\" OLD-AUID=\"unset\" AUID=\"alice\"");

	assert_int_equal(s->event.kind, AUDIT_EVENT_LOGIN);
	assert_int_equal(s->event.pid, 18);
	assert_int_equal(s->event.auid, 1000);
	assert_int_equal(s->event.ses, 5);
	assert_int_equal(s->event.old_auid, AUDIT_UNSET);
	assert_int_equal(s->event.old_ses, AUDIT_UNSET);
	assert_true(s->event.res);
	assert_false(has(s, AUDIT_HAS_TTY));
}

/* Kernels before 3.13. */
static void test_login_old(void **state)
{
	const struct seen *s =
		single(*state, "type=LOGIN msg=audit(1.002:3): login pid=18 uid=0 old "
			       "auid=4294967295 new auid=7 old ses=4294967295 new ses=9");

	assert_int_equal(s->event.old_auid, AUDIT_UNSET);
	assert_int_equal(s->event.auid, 7);
	assert_int_equal(s->event.old_ses, AUDIT_UNSET);
	assert_int_equal(s->event.ses, 9);
}

/* The text of a program cannot change what the kernel says of the program. */
static void test_user(void **state)
{
	const struct seen *s = single(
		*state,
		"type=USER_END msg=audit(1.002:3): pid=50 uid=0 auid=1000 ses=5 subj=unconfined "
		"msg='op=PAM:session_close pid=1 auid=0 ses=1 it's acct=\"alice\" "
		"exe=\"/usr/sbin/sshd\" hostname=h addr=192.0.2.1 terminal=ssh res=success'");

	assert_int_equal(s->event.kind, AUDIT_EVENT_SESSION_END);
	assert_int_equal(s->event.pid, 50);
	assert_int_equal(s->event.auid, 1000);
	assert_int_equal(s->event.ses, 5);
	assert_string_equal(s->exe, "/usr/sbin/sshd");
	assert_string_equal(s->tty, "ssh");
	assert_string_equal(s->op, "PAM:session_close");
	assert_true(has(s, AUDIT_HAS_RES) && s->event.res);
}

static void test_user_kinds(void **state)
{
	static const struct {
		const char *type;
		int kind;
	} rows[] = {
		{ "USER_START", AUDIT_EVENT_SESSION_START },
		{ "USER_LOGIN", AUDIT_EVENT_SESSION_START },
		{ "USER_LOGOUT", AUDIT_EVENT_SESSION_END },
		{ "CRED_ACQ", AUDIT_EVENT_USER },
		{ "TRUSTED_APP", AUDIT_EVENT_USER },
		{ "DAEMON_START", AUDIT_EVENT_DAEMON },
		{ "CONFIG_CHANGE", AUDIT_EVENT_CONFIG },
		{ "KERNEL", AUDIT_EVENT_KERNEL },
	};
	struct run *run = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		run_line(run, text("type=%s msg=audit(1.002:%u): pid=50 uid=0 auid=7 ses=5 res=1",
				   rows[i].type, i));
		assert_int_equal(run->n, i + 1);
		assert_int_equal(run->seen[i].event.kind, rows[i].kind);
		assert_int_equal(run->seen[i].event.auid, 7);
	}
	run_line(run, "type=AVC msg=audit(1.002:9): avc:  denied  { read } for  pid=1 comm=\"x\"");
	assert_int_equal(run->n, ARRAY_SIZE(rows));
	assert_int_equal(counters(run)->unknown_type, 0);
}

static void test_abend(void **state)
{
	const struct seen *s = single(
		*state, "type=ANOM_ABEND msg=audit(1.002:3): auid=4294967295 uid=1000 gid=1000 "
			"ses=4294967295 subj=docker-default (enforce) pid=77 comm=6120620A "
			"exe=2F746D702F61202864656C6574656429 sig=11 res=1");

	assert_int_equal(s->event.kind, AUDIT_EVENT_ABEND);
	assert_int_equal(s->event.pid, 77);
	assert_int_equal(s->event.sig, 11);
	assert_string_equal(s->comm, "a b\n");
	assert_string_equal(s->exe, "/tmp/a (deleted)");
	assert_string_equal(s->subj, "docker-default (enforce)");
}

static void test_seccomp(void **state)
{
	const struct seen *s =
		single(*state, "type=SECCOMP msg=audit(1.002:3): auid=1000 uid=1000 gid=1000 ses=3 "
			       "subj==unconfined pid=78 comm=\"x\" exe=\"/x\" sig=31 arch=c000003e "
			       "syscall=59 compat=0 ip=0x7f2b code=0x80000000" GS "AUID=\"alice\"");

	assert_int_equal(s->event.kind, AUDIT_EVENT_SECCOMP);
	assert_int_equal(s->event.sig, 31);
	assert_int_equal(s->event.action, 0x80000000);
	assert_int_equal(s->event.syscall, 59);
	assert_string_equal(s->subj, "=unconfined");
}

static void test_config(void **state)
{
	const struct seen *s =
		single(*state, "type=CONFIG_CHANGE msg=audit(1.002:3): auid=1000 ses=2 "
			       "subj=unconfined op=remove_rule key=\"exeunt\" list=4 res=1");

	assert_string_equal(s->op, "remove_rule");
	assert_string_equal(s->key, "exeunt");
	assert_int_equal(s->event.list, 4);
	assert_true(s->event.res);
}

/* A label with blanks at the very end, and in front of the key. */
static void test_label(void **state)
{
	struct run *run = *state;

	run_line(run, "type=SYSCALL msg=audit(1.002:1): arch=c000003e syscall=231 a0=0 pid=1 "
		      "subj=my profile (complain) key=(null)");
	run_line(run,
		 "type=ANOM_ABEND msg=audit(1.002:2): pid=1 sig=6 subj=docker-default (enforce)");
	run_flush(run);
	assert_string_equal(run->seen[1].subj, "my profile (complain)");
	assert_string_equal(run->seen[0].subj, "docker-default (enforce)");
}

/* Several keys are joined by 0x01 and so in hexadecimal. */
static void test_keys(void **state)
{
	struct run *run = *state;

	run_line(run, "type=SYSCALL msg=audit(1.002:1): arch=c000003e syscall=231 a0=0 pid=1 "
		      "key=6B31016B32");
	run_flush(run);
	assert_string_equal(run->seen[0].key, "k1\001k2");
}

/*
 * The kernel always writes key= at the end: without it the record is cut, and so may be its last
 * field.
 */
static void test_cut_record(void **state)
{
	struct run *run = *state;

	run_line(run,
		 "type=SYSCALL msg=audit(1.002:1): arch=c000003e syscall=231 a0=0 pid=1 ses=3");
	run_line(run, "type=SYSCALL msg=audit(1.002:2): arch=c000003e syscall=231 a0=0 pid=1 "
		      "exe=\"/usr/bin/de");
	run_line(run, "type=SYSCALL msg=audit(1.002:3): arch=c000003e syscall=231 a0=0 pid=1 "
		      "exe=\"/usr/bin/demo\"");
	run_line(run,
		 "type=SYSCALL msg=audit(1.002:4): arch=c000003e syscall=231 a0=0 pid=1 key=(nul");
	run_line(run, "type=SYSCALL msg=audit(1.002:5): arch=c000003e sysc");
	run_flush(run);
	assert_int_equal(run->n, 4);
	assert_false(has(&run->seen[0], AUDIT_HAS_SES));
	assert_int_equal(run->seen[0].event.pid, 1);
	assert_false(has(&run->seen[1], AUDIT_HAS_EXE));
	assert_true(has(&run->seen[2], AUDIT_HAS_EXE));
	assert_false(has(&run->seen[3], AUDIT_HAS_KEY));
	assert_int_equal(counters(run)->unknown_call, 1);
	assert_int_equal(counters(run)->interpreted, 0);
}

/* Of a field that comes twice the first one counts, wherever the second one stands. */
static void test_twice(void **state)
{
	const struct seen *s =
		single(*state, "type=ANOM_ABEND msg=audit(1.002:3): auid=1 uid=2 uid=3 "
			       "gid=4 auid=5 ses=6 sig=7 pid=8 comm=\"a\" comm=\"b\" ses=9");

	assert_int_equal(s->event.auid, 1);
	assert_int_equal(s->event.uid, 2);
	assert_int_equal(s->event.gid, 4);
	assert_int_equal(s->event.ses, 6);
	assert_string_equal(s->comm, "a");
}

/* A name is as long as it is, also with a NUL in it. */
static void test_nul_in_name(void **state)
{
	static const char text[] = "audit(1.002:3): uid\0=5 gid\0\0\0\0\0=6 sig=7 auid=8 res=1";
	struct run *run = *state;

	audit_assemble_payload(run->window, AUDIT_ANOM_ABEND, text, sizeof(text) - 1, 0);
	assert_false(has(&run->seen[0], AUDIT_HAS_UID));
	assert_false(has(&run->seen[0], AUDIT_HAS_GID));
	assert_int_equal(run->seen[0].event.sig, 7);
	assert_int_equal(run->seen[0].event.auid, 8);
}

static void test_values_out_of_range(void **state)
{
	const struct seen *s =
		single(*state, "type=ANOM_ABEND msg=audit(1.002:3): auid=4294967296 uid=-1 "
			       "gid=-2 ses=99999999999999999999 pid=2147483648 sig=6 res=2");

	assert_false(has(s, AUDIT_HAS_AUID));
	assert_true(has(s, AUDIT_HAS_UID));
	assert_int_equal(s->event.uid, AUDIT_UNSET);
	assert_false(has(s, AUDIT_HAS_GID));
	assert_false(has(s, AUDIT_HAS_SES));
	assert_false(has(s, AUDIT_HAS_PID));
	assert_false(has(s, AUDIT_HAS_RES));
	assert_int_equal(s->event.sig, 6);
}

static void test_exec(void **state)
{
	struct run *run = *state;
	const struct seen *s = &run->seen[0];

	run_line(run, exec(1, 4242, "run.sh", "/usr/bin/dash", 2));
	run_line(run,
		 "type=EXECVE msg=audit(1700000000.100:1): argc=3 a0=\"/bin/sh\" a1=\"./run.sh\" "
		 "a2=C3A420C3B6");
	run_line(run, "type=CWD msg=audit(1700000000.100:1): cwd=\"/home/alice\"");
	run_line(
		run,
		"type=PATH msg=audit(1700000000.100:1): item=0 name=\"./run.sh\" inode=1 dev=fe:00 "
		"mode=0100755 ouid=0 ogid=0 rdev=00:00 nametype=NORMAL cap_fp=0");
	run_line(run, "type=PATH msg=audit(1700000000.100:1): item=1 name=\"/lib64/ld.so\" inode=2 "
		      "nametype=NORMAL");
	assert_int_equal(run->n, 0);
	run_line(run, title(1, "\"x\""));
	assert_int_equal(run->n, 1);
	assert_int_equal(s->event.kind, AUDIT_EVENT_EXEC);
	assert_int_equal(s->event.flags, 0);
	assert_string_equal(s->path, "./run.sh");
	assert_string_equal(s->cwd, "/home/alice");
	assert_string_equal(s->exe, "/usr/bin/dash");
	assert_int_equal(s->event.n_args, 3);
	assert_string_equal(s->args[2], "\xc3\xa4 \xc3\xb6");
	/* Not what failed, and not what is not an exec. */
	run_line(
		run,
		"type=SYSCALL msg=audit(1.002:2): arch=c000003e syscall=59 success=no exit=-2 a0=0 "
		"pid=1 key=(null)");
	run_line(run,
		 "type=SYSCALL msg=audit(1.002:3): arch=c000003e syscall=257 success=yes exit=3 "
		 "pid=1 key=(null)");
	run_flush(run);
	assert_int_equal(run->n, 1);
}

/* The title is there, but not yet all that the record said would come. */
static void test_exec_order(void **state)
{
	static const char *const records[] = {
		"PROCTITLE msg=audit(1700000000.100:1): proctitle=\"x\"",
		"CWD msg=audit(1700000000.100:1): cwd=\"/\"",
		"EXECVE msg=audit(1700000000.100:1): argc=1 a0=\"x\"",
		"PATH msg=audit(1700000000.100:1): item=0 name=\"x\" nametype=NORMAL",
	};
	const size_t n = ARRAY_SIZE(records);
	struct run *run = *state;

	for (size_t last = 0; last < n; last++) {
		const struct seen *s = &run->seen[last];

		run_line(run, exec(1, 4242, "x", "/usr/bin/x", 1));
		for (size_t i = 1; i <= n; i++) {
			assert_int_equal(run->n, last);
			run_line(run, text("type=%s", records[(last + i) % n]));
		}
		assert_int_equal(run->n, last + 1);
		assert_string_equal(s->path, "x");
		assert_string_equal(s->cwd, "/");
		assert_int_equal(s->event.flags, 0);
		run_line(run, eoe(1));
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_login),
		CASE(test_login_old),
		CASE(test_user),
		CASE(test_user_kinds),
		CASE(test_abend),
		CASE(test_seccomp),
		CASE(test_config),
		CASE(test_label),
		CASE(test_keys),
		CASE(test_cut_record),
		CASE(test_values_out_of_range),
		CASE(test_exec),
		CASE(test_exec_order),
		CASE(test_twice),
		CASE(test_nul_in_name),

	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
