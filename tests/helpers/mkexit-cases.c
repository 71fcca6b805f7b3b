/* SPDX-License-Identifier: MIT */
/*
 * The table of mkexit's cases: a new way to die is a row here and, if it needs one, a function of
 * the child.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "helpers/mkexit.h"

#define EXIT(code)                                           \
	{                                                    \
		"exit-" #code, "exit code", child_exit, code \
	}
#define SIGNAL(name)                                                            \
	{                                                                       \
		"signal-" #name, "killed by SIG" #name, child_signal, SIG##name \
	}
#define THREADS(name_, what_, shape)               \
	{                                          \
		name_, what_, child_threads, shape \
	}
#define NAME(name_, text_)                                         \
	{                                                          \
		"name-" name_, "an odd name", child_name, 3, text_ \
	}

const struct mk_case mk_cases[] = {
	EXIT(0),
	EXIT(1),
	EXIT(2),
	EXIT(77),
	EXIT(126),
	EXIT(127),
	EXIT(128),
	EXIT(137),
	EXIT(255),
	SIGNAL(HUP),
	SIGNAL(INT),
	SIGNAL(QUIT),
	SIGNAL(ILL),
	SIGNAL(TRAP),
	SIGNAL(ABRT),
	SIGNAL(BUS),
	SIGNAL(FPE),
	SIGNAL(KILL),
	SIGNAL(USR1),
	SIGNAL(SEGV),
	SIGNAL(USR2),
	SIGNAL(PIPE),
	SIGNAL(ALRM),
	SIGNAL(TERM),
	SIGNAL(STKFLT),
	SIGNAL(XCPU),
	SIGNAL(XFSZ),
	SIGNAL(VTALRM),
	SIGNAL(PROF),
	SIGNAL(IO),
	SIGNAL(PWR),
	SIGNAL(SYS),
	{ "signal-32", "killed by the first real-time signal", child_signal, 32 },
	{ "signal-33", "killed by a real-time signal", child_signal, 33 },
	{ "signal-34", "killed by the first real-time signal of the C library", child_signal, 34 },
	{ "signal-50", "killed by a real-time signal", child_signal, 50 },
	{ "signal-64", "killed by the last signal", child_signal, 64 },
	{ "fault-SEGV", "touches a page it may not", child_fault, SIGSEGV },
	{ "fault-BUS", "touches a mapping behind the end of its file", child_fault, SIGBUS },
	{ "fault-FPE", "divides by zero", child_fault, SIGFPE },
	{ "fault-ILL", "runs into an invalid instruction", child_fault, SIGILL },
	{ "core-SEGV", "leaves a core", child_signal, SIGSEGV, .flags = CASE_CORE },
	{ "core-ABRT", "leaves a core", child_signal, SIGABRT, .flags = CASE_CORE },
	{ "core-QUIT", "leaves a core", child_signal, SIGQUIT, .flags = CASE_CORE },
	{ "nocore-SEGV", "would leave a core, RLIMIT_CORE is 0", child_signal, SIGSEGV },
	{ "nocore-ABRT", "would leave a core, RLIMIT_CORE is 0", child_signal, SIGABRT },
	{ "nocore-QUIT", "would leave a core, RLIMIT_CORE is 0", child_signal, SIGQUIT },
	{ "kill-read", "SIGKILL while in read(2)", child_block, .after = AFTER_KILL_ASLEEP },
	{ "kill-spin", "SIGKILL in its own code", child_spin, .after = AFTER_KILL },
	{ "seccomp-strict", "killed by seccomp's strict mode", child_seccomp, 1 },
	{ "seccomp-filter", "killed by a seccomp filter", child_seccomp, 2 },
	{ "exec", "exit code of a new image", child_exec_plain, 12 },
	{ "vfork", "born by vfork, exit at once", NULL, 13, .flags = CASE_VFORK },
	{ "vfork-exec", "its child is born by vfork and execs", child_vfork_exec, 14 },
	{ "orphan", "its child lives on and is mkexit's then", child_orphan, 15,
	  .after = AFTER_GO },
	{ "orphan-init", "its child lives on and is init's then", child_orphan, 16, "init",
	  AFTER_GO, CASE_ALONE },
	{ "autoreap", "its child is waited for by nobody, SIGCHLD ignored", child_autoreap, 17 },
	{ "setuid", "all ids 65534", child_setuid, 18 },
	{ "setresuid", "real, effective and saved ids differ", child_setresuid, 19 },
	{ "userns", "in a user namespace of its own", child_userns, 20 },
	{ "pidns", "pid 1 of a pid namespace of its own", child_exit, 21, .flags = CASE_NEWPID },
	{ "pinned", "on one CPU, whose number is the code", child_pinned },
	NAME("newline", "a\nb\nc"),
	NAME("quote", "a\"b\\c'd"),
	NAME("esc", "\033[31mred\033[0m"),
	NAME("ff", "a\xff\xfe"
		   "b"),
	NAME("spaces", "  a  b  "),
	NAME("15", "fifteen-bytes-x"),
	NAME("16", "sixteen-bytes-xy"),
	NAME("empty", ""),
	NAME("stat", "a) R 1 ("),
	NAME("tab", "\ta\rb\x01\x1f"),
	NAME("del", "a\x7f"
		    "b"),
	NAME("c1", "a\xc2\x9b"
		   "31mb"),
	NAME("utf8", "gr\xc3\xbc\xc3\x9f"
		     "e"),
	NAME("utf8-cut", "12345678901234\xc3\xbc"),
	NAME("surrogate", "a\xed\xa0\x80"
			  "b"),
	NAME("overlong", "a\xc0\xaf"
			 "b"),
	NAME("json", "\",\"pid\":1,\"x\":\""),
	NAME("bidi", "a\xe2\x80\xae"
		     "b"),
	THREADS("leader-first", "pthread_exit of the leader, the last worker ends it",
		SHAPE_LEADER_FIRST),
	THREADS("leader-first-raw", "every thread by exit(2), the leader first",
		SHAPE_LEADER_FIRST_RAW),
	THREADS("leader-early", "the leader ends long before the process", SHAPE_LEADER_EARLY),
	THREADS("leader-last", "the leader joins all, then exits", SHAPE_LEADER_LAST),
	THREADS("worker-exit", "a worker calls exit", SHAPE_WORKER_EXIT),
	THREADS("threads-race", "the leader exits while workers are in their own exit(2)",
		SHAPE_RACE),
	THREADS("threads-sysexit", "all by exit(2) with codes of their own, at once",
		SHAPE_SYSEXIT),
	{ "threads-sigkill", "SIGKILL with threads", child_threads, SHAPE_BUSY,
	  .after = AFTER_KILL },
	THREADS("segv-worker", "a worker faults", SHAPE_SEGV),
	{ "core-worker", "a worker faults and a core is left", child_threads, SHAPE_SEGV,
	  .flags = CASE_CORE },
	THREADS("exec-worker", "a worker execs", SHAPE_EXEC_WORKER),
	THREADS("exec-leader", "the leader execs, with live siblings", SHAPE_EXEC_LEADER),
	THREADS("exec-orphaned", "a worker execs after the leader's end", SHAPE_EXEC_ORPHANED),
	THREADS("seccomp-thread", "a worker alone is killed by seccomp", SHAPE_SECCOMP),
	{ "usage", "known work on every thread; reports its own usage", child_usage, 0 },
	{ "usage-leader-first", "the same; the leader leaves first", child_usage, 1 },
	{ "burst", "exit at once, with the low byte of its number", child_burst,
	  .flags = CASE_HIDDEN },
	{ "random", "random threads and ends, by --seed", child_random, .flags = CASE_HIDDEN },
};

const size_t mk_n_cases = ARRAY_SIZE(mk_cases);

static int number_case(const char *name, const char *prefix, int max, struct mk_case *ret)
{
	size_t len = strlen(prefix);
	char *end;
	long n;

	if (strncmp(name, prefix, len))
		return -ENOENT;
	n = strtol(name + len, &end, 10);
	if (!name[len] || *end || n < 0 || n > max)
		return -ENOENT;
	ret->name = name;
	ret->arg = (int)n;
	return 0;
}

int case_find(const char *name, struct mk_case *ret)
{
	size_t i;

	for (i = 0; i < mk_n_cases; i++) {
		if (!strcmp(name, mk_cases[i].name)) {
			*ret = mk_cases[i];
			return 0;
		}
	}
	*ret = (struct mk_case){ .what = "exit code", .child = child_exit };
	if (!number_case(name, "exit-", 255, ret))
		return 0;
	*ret = (struct mk_case){ .what = "killed by a signal", .child = child_signal };
	return number_case(name, "signal-", 64, ret);
}

void case_list(void)
{
	size_t i;

	for (i = 0; i < mk_n_cases; i++)
		printf("%-20s %s\n", mk_cases[i].name, mk_cases[i].what);
}
