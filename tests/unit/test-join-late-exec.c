/* SPDX-License-Identifier: MIT */
/* An execution that audit tells of when the exit record is out: it amends what could not be read in time. */
#include "unit/test.h"

#include "unit/proctree.h"

#include "join/join.h"
#include "record/fields.h"

#define BIT(source) EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_##source)
#define T0 (1000 * S)
#define R0 (1700000000 * S)

static struct exeunt_record seen[8];
static char exe[8][64], args[8][64];
static size_t n_seen;
static struct ledger *ledger;
static struct joiner *joiner;
static struct context *context;

static void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	assert_true(n_seen < ARRAY_SIZE(seen));
	exe[n_seen][0] = args[n_seen][0] = '\0';
	if (exeunt_has(r, EXEUNT_F_EXE_PATH))
		snprintf(exe[n_seen], 64, "%.*s", (int)r->exe_path.len, r->exe_path.data);
	if (exeunt_has(r, EXEUNT_F_ARGS))
		snprintf(args[n_seen], 64, "%.*s", (int)r->args[0].len, r->args[0].data);
	seen[n_seen++] = *r;
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)loss;
	(void)userdata;
}

static int begin(void **state)
{
	struct join_options o = { .emit = on_emit };
	const struct context_options none = { .proc_path = "" };

	(void)state;
	n_seen = 0;
	if (ledger_new(&ledger, on_loss, NULL))
		return -1;
	o.ledger = ledger;
	if (join_new(&joiner, &o) || context_new(&context, &none, NULL))
		return -1;
	join_set_context(joiner, context);
	join_set_sources(joiner, BIT(TASKSTATS) | BIT(AUDIT) | BIT(PROCEVENTS), 0);
	join_set_told(joiner, true);
	return 0;
}

static int end(void **state)
{
	(void)state;
	join_free(joiner);
	context_free(context);
	ledger_free(ledger);
	return 0;
}

static struct frame at(int64_t ms)
{
	return (struct frame){ .mono_ns = T0 + ms * MS,
			       .real_ns = R0 + ms * MS,
			       .since_ns = T0 + ms * MS - MS };
}

/* Born, execs so many times, and ends 20 ms later; out without its program, which nobody read. */
static void live(int32_t pid, int execs, int64_t ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = pid,
			       .tgid = pid,
			       .flag = TASK_GROUP,
			       .uid = 1000,
			       .tgetime_us = 20000,
			       .etime_us = 20000,
			       .btime = 1700000000,
			       .comm = "demo" };
	struct frame f = at(ms + 20);

	context_fork(context, 1, pid, T0 + ms * MS);
	for (int i = 0; i < execs; i++) {
		context_exec(context, pid, T0 + (ms + 5 + i) * MS);
		/* /proc, had there been one, was read too late */
		((struct context_entry *)(uintptr_t)context_lookup(context, pid, T0 + ms * MS))
			->inherited = CONTEXT_EXE | CONTEXT_ARGS | CONTEXT_CWD;
	}
	join_task(joiner, &t, &f);
	for (int64_t wait = 20; wait <= 100; wait += 5)
		for (int s = 0; s < EXEUNT_SOURCE_OUTPUT; s++)
			join_horizon(joiner, (enum exeunt_source)s, T0 + (ms + wait) * MS);
}

static void tell(int32_t pid, uint32_t uid, const char *first, int64_t told_ms, int64_t read_ms)
{
	struct exeunt_bytes list[] = { { first, (uint32_t)strlen(first) } };
	struct audit_event e = { .kind = AUDIT_EVENT_EXEC,
				 .has = 1ull << AUDIT_HAS_PID | 1ull << AUDIT_HAS_UID |
					1ull << AUDIT_HAS_EXE | 1ull << AUDIT_HAS_ARGS |
					1ull << AUDIT_HAS_AUID | 1ull << AUDIT_HAS_SES |
					1ull << AUDIT_HAS_CWD,
				 .pid = pid,
				 .uid = uid,
				 .auid = 500,
				 .ses = 7,
				 .exe = { "/bin/demo", 9 },
				 .cwd = { "/", 1 },
				 .args = list,
				 .n_args = 1,
				 .time_ns = R0 + told_ms * MS };
	struct frame f = at(read_ms);

	if (join_awaits_exec(joiner, pid))
		join_exec(joiner, &e, &f);
}

/* Who became another user since its exec is still the one. */
static void a_late_one_amends(void **state)
{
	(void)state;
	live(42, 1, 0);
	assert_int_equal(n_seen, 1);
	assert_string_equal(args[0], "");
	tell(42, 0, "--late", 4, 700);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[1].type, EXEUNT_TYPE_AMEND);
	assert_string_equal(exe[1], "/bin/demo");
	assert_string_equal(args[1], "--late");
	assert_int_equal(seen[1].login_uid, 500);
	assert_int_equal(seen[1].uid, 1000);
	assert_false(exeunt_has(&seen[1], EXEUNT_F_INHERITED));
	tell(42, 0, "--again", 4, 701);
	assert_int_equal(n_seen, 2);
}

/* The next owner of the pid executes something, and that is not for the one before. */
static void of_the_next_owner(void **state)
{
	(void)state;
	live(42, 1, 0);
	tell(42, 1000, "--next", 300, 700);
	assert_int_equal(n_seen, 1);
	tell(42, 1000, "--late", 4, 701);
	assert_string_equal(args[1], "--late");
}

/* Which of two is meant nobody knows. */
static void after_two_executions(void **state)
{
	(void)state;
	live(42, 2, 0);
	assert_int_equal(n_seen, 1);
	tell(42, 1000, "--first", 4, 700);
	tell(42, 1000, "--second", 4, 700);
	assert_int_equal(n_seen, 1);
}

static void forgotten_in_time(void **state)
{
	(void)state;
	live(42, 1, 0);
	join_horizon(joiner, EXEUNT_SOURCE_TASKSTATS, T0 + 10 * S);
	assert_false(join_awaits_exec(joiner, 42));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_late_one_amends),
		TEST(of_the_next_owner),
		TEST(after_two_executions),
		TEST(forgotten_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
