/* SPDX-License-Identifier: MIT */
/* The status rule, on situations that were seen on kernels, in every order of their records. */
#include "unit/test.h"

#include "base/util.h"
#include "join/verdict.h"

#define LEADER 100

struct step {
	int32_t pid;
	uint32_t code;
	uint8_t flag;
	uint64_t at_us;
	uint64_t exe;
};

static bool judge_order(const struct step *steps, const int *order, size_t n, uint32_t *status)
{
	struct verdict v = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[order[i]];
		struct task_exit t = { .pid = s->pid,
				       .tgid = LEADER,
				       .exit_code = s->code,
				       .flag = s->flag,
				       .exe_inode = s->exe,
				       .tgetime_us = s->at_us };

		verdict_add(&v, &t);
	}
	return verdict_decide(&v, status);
}

/* Asserts the same verdict for all orders of arrival of up to four records. */
static void judge(const struct step *steps, size_t n, uint32_t status, bool certain)
{
	int order[4] = { 0, 1, 2, 3 };
	uint32_t got;

	for (int a = 0; a < (int)n; a++) {
		for (int b = 0; b < (int)n; b++) {
			int tmp = order[a];

			order[a] = order[b];
			order[b] = tmp;
			assert_int_equal(judge_order(steps, order, n, &got), certain);
			assert_int_equal(got, status);
		}
	}
}

#define JUDGE(status, certain, ...)                               \
	do {                                                      \
		const struct step steps[] = { __VA_ARGS__ };      \
		judge(steps, ARRAY_SIZE(steps), status, certain); \
	} while (0)

static void exits_of_whole_groups(void **state)
{
	(void)state;
	JUDGE(0x300, true, { LEADER, 0x300, TASK_GROUP, 5, 1 });
	/* exit(11) by a worker: the siblings carry it with XSIG, the caller without */
	JUDGE(0xb00, true, { 101, 0xb00, 0, 5, 1 },
	      { LEADER, 0xb00, TASK_XSIG | TASK_GROUP, 5, 1 });
	JUDGE(0xb00, true, { 101, 0xb00, TASK_GROUP, 5, 1 }, { LEADER, 0xb00, TASK_XSIG, 5, 1 });
	/* exit(0) likewise */
	JUDGE(0, true, { 101, 0, TASK_GROUP, 5, 1 }, { LEADER, 0, TASK_XSIG, 5, 1 });
}

static void signals(void **state)
{
	(void)state;
	JUDGE(9, true, { LEADER, 9, TASK_XSIG, 5, 1 }, { 101, 9, TASK_XSIG | TASK_GROUP, 5, 1 });
	/* the dumping thread alone has the core bit */
	JUDGE(0x8b, true, { LEADER, 0x0b, TASK_XSIG | TASK_GROUP, 5, 1 },
	      { 101, 0x8b, TASK_XSIG | TASK_CORE, 5, 1 }, { 102, 0x0b, TASK_XSIG, 5, 1 });
	/* killed while a worker was in its own exit and became the last */
	JUDGE(9, true, { LEADER, 9, TASK_XSIG, 5, 1 }, { 101, 0, TASK_GROUP, 5, 1 });
	/* seccomp's strict mode kills without XSIG */
	JUDGE(9, true, { LEADER, 9, TASK_FORK | TASK_GROUP, 5, 1 });
}

static void leader_gone_long_before(void **state)
{
	(void)state;
	JUDGE(0x500, true, { LEADER, 0x900, 0, 5, 1 }, { 101, 0x500, TASK_GROUP, 9000, 1 });
	JUDGE(0x500, true, { LEADER, 0, 0, 5, 1 }, { 101, 0x500, TASK_GROUP, 9000, 1 });
}

static void races_are_told_as_uncertain(void **state)
{
	(void)state;
	/* the worker was in its own SYS_exit(0) when the leader called exit_group(3): wait said 3, and nothing tells */
	JUDGE(0, false, { LEADER, 0x300, 0, 5, 1 }, { 101, 0, TASK_GROUP, 5, 1 });
	/* all by SYS_exit, the last with 6: wait said 6 */
	JUDGE(0x600, false, { LEADER, 0x900, 0, 5, 1 }, { 101, 0x400, 0, 5, 1 },
	      { 102, 0x600, TASK_GROUP, 6, 1 });
	/* an audit record may hold up the one that ended the process, and its record comes behind the last */
	JUDGE(0, false, { LEADER, 0x300, 0, 200, 1 }, { 101, 0, TASK_GROUP, 5, 1 });
	/* a program that joins its threads and fails */
	JUDGE(0x100, true, { 101, 0, 0, 5, 1 }, { 102, 0, 0, 40, 1 },
	      { LEADER, 0x100, TASK_GROUP, 90, 1 });
	JUDGE(0x100, false, { 101, 0, 0, 80, 1 }, { LEADER, 0x100, TASK_GROUP, 90, 1 });
	/* agreement is certain */
	JUDGE(0, true, { LEADER, 0, 0, 5, 1 }, { 101, 0, TASK_GROUP, 5, 1 });
}

static void exec_by_a_worker(void **state)
{
	(void)state;
	/* the old leader fell to the exec; the new program ended with 7 at once */
	JUDGE(0x700, true, { LEADER, 0, TASK_XSIG, 5, 1 }, { LEADER, 0x700, TASK_GROUP, 6, 2 });
	/* the same program again: two records of the leader prove the exec */
	JUDGE(0x700, true, { LEADER, 0, TASK_XSIG, 5, 1 }, { LEADER, 0x700, TASK_GROUP, 6, 1 });
	/* the leader exec'ed, its siblings fell */
	JUDGE(0x700, true, { 101, 0, TASK_XSIG, 5, 1 }, { LEADER, 0x700, TASK_GROUP, 6, 2 });
	JUDGE(0x700, false, { 101, 0, TASK_XSIG, 5, 1 }, { LEADER, 0x700, TASK_GROUP, 6, 1 });
	JUDGE(0x700, true, { 101, 0, TASK_XSIG, 5, 1 }, { LEADER, 0x700, TASK_GROUP, 400, 1 });
	JUDGE(0x700, true, { 101, 0, TASK_XSIG, 5, 1 }, { LEADER, 0x700, TASK_GROUP, 6000, 1 });
	/* the new program was killed */
	JUDGE(0x0f, true, { LEADER, 0, TASK_XSIG, 5, 1 },
	      { LEADER, 0x0f, TASK_GROUP | TASK_XSIG, 6, 2 });
}

/* exit(0) by one thread while a worker was in its own SYS_exit(4) and became the last. */
static void exit_zero_races_with_a_worker(void **state)
{
	(void)state;
	JUDGE(0, false, { LEADER, 0, TASK_XSIG, 5, 1 }, { 101, 0x400, TASK_GROUP, 5, 1 });
}

static void without_the_end_nothing_is_certain(void **state)
{
	(void)state;
	JUDGE(0, false, { LEADER, 0, TASK_XSIG, 5, 1 });
	JUDGE(0x200, false, { 101, 0x200, 0, 5, 1 });
	/* but a signal is */
	JUDGE(9, true, { 101, 9, TASK_XSIG, 5, 1 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exits_of_whole_groups),
		cmocka_unit_test(signals),
		cmocka_unit_test(leader_gone_long_before),
		cmocka_unit_test(races_are_told_as_uncertain),
		cmocka_unit_test(exec_by_a_worker),
		cmocka_unit_test(exit_zero_races_with_a_worker),
		cmocka_unit_test(without_the_end_nothing_is_certain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
