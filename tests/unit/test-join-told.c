/* SPDX-License-Identifier: MIT */
/*
 * Ends joined with what audit told of their EXEC, where nothing but audit tells who a process was.
 */
#include "unit/test.h"

#include "unit/proctree.h"

#include "join/join.h"
#include "record/fields.h"

#define T EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS)
#define A EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT)
#define T0 (1000 * S)
#define R0 (1700000000 * S)
#define BYTES(s) ((struct exeunt_bytes){ (s), sizeof(s) - 1 })

static struct exeunt_record seen[8];
static char exe[8][64], arg[8][64];
static size_t n_seen;
static struct ledger *ledger;
static struct joiner *joiner;
static struct context *context;

static void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	assert_true(n_seen < ARRAY_SIZE(seen));
	snprintf(exe[n_seen], 64, "%.*s",
		 exeunt_has(r, EXEUNT_F_EXE_PATH) ? (int)r->exe_path.len : 0,
		 r->exe_path.data ? r->exe_path.data : "");
	arg[n_seen][0] = '\0';
	if (exeunt_has(r, EXEUNT_F_ARGS))
		snprintf(arg[n_seen], 64, "%.*s", (int)r->args[1].len, r->args[1].data);
	seen[n_seen++] = *r;
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)loss;
	(void)userdata;
}

static int begin(uint32_t sources)
{
	struct join_options o = { .emit = on_emit };
	const struct context_options none = { .proc_path = "" };

	n_seen = 0;
	if (ledger_new(&ledger, on_loss, NULL))
		return -1;
	o.ledger = ledger;
	if (join_new(&joiner, &o) || context_new(&context, &none, NULL))
		return -1;
	join_set_context(joiner, context);
	join_set_sources(joiner, sources, 0);
	join_set_told(joiner, true);
	return 0;
}

static int begin_with_taskstats(void **state)
{
	(void)state;
	return begin(T | A);
}

static int begin_alone(void **state)
{
	(void)state;
	return begin(A);
}

static int end(void **state)
{
	(void)state;
	join_free(joiner);
	context_free(context);
	ledger_free(ledger);
	return 0;
}

static void tell_exec(int32_t pid, const char *path, const char *first, int64_t at_ms)
{
	struct exeunt_bytes what = { path, (uint32_t)strlen(path) };
	struct exeunt_bytes args[] = { what, { first, (uint32_t)strlen(first) } };
	struct context_told t = { .tgid = pid,
				  .mono_ns = T0 + at_ms * MS,
				  .exe = &what,
				  .cwd = &what,
				  .args = args,
				  .n_args = 2 };

	context_told_exec(context, &t);
}

/* A process that lived for 100 ms. */
static void put_task(int32_t pid, bool forked_only, int64_t at_ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = pid,
			       .tgid = pid,
			       .flag = TASK_GROUP | (forked_only ? TASK_FORK : 0),
			       .tgetime_us = 100000,
			       .etime_us = 100000,
			       .btime = 1700000000,
			       .comm = "demo" };
	struct frame f = { .mono_ns = T0 + at_ms * MS,
			   .real_ns = R0 + at_ms * MS,
			   .since_ns = T0 + at_ms * MS - MS };

	join_task(joiner, &t, &f);
}

static void put_end(int32_t pid, const char *path, const struct exeunt_bytes *title, uint32_t n,
		    int64_t at_ms)
{
	struct audit_event e = { .kind = AUDIT_EVENT_EXIT,
				 .pid = pid,
				 .time_ns = R0 + at_ms * MS,
				 .exe = { path, (uint32_t)strlen(path) },
				 .args = title,
				 .n_args = n };
	struct frame f = { .mono_ns = T0 + at_ms * MS, .real_ns = R0 + at_ms * MS };

	e.has = 1ull << AUDIT_HAS_PID | 1ull << AUDIT_HAS_CODE | 1ull << AUDIT_HAS_EXE;
	if (n) {
		e.has |= 1ull << AUDIT_HAS_ARGS;
		e.flags = AUDIT_EVENT_ARGS_TITLE;
	}
	join_audit(joiner, &e, &f);
}

static void read_until(enum exeunt_source source, int64_t at_ms)
{
	join_horizon(joiner, source, T0 + at_ms * MS);
}

static void test_program_of_an_end(void **state)
{
	(void)state;
	tell_exec(42, "/bin/demo", "--now", 10);
	put_task(42, false, 100);
	assert_int_equal(n_seen, 1);
	assert_string_equal(exe[0], "/bin/demo");
	assert_string_equal(arg[0], "--now");
	assert_false(exeunt_has(&seen[0], EXEUNT_F_INHERITED));
}

/* Audit's records come through a thread of the kernel's, and may be read behind the end. */
static void test_waits_for_what_will_be_told(void **state)
{
	(void)state;
	put_task(42, false, 100);
	read_until(EXEUNT_SOURCE_TASKSTATS, 105);
	read_until(EXEUNT_SOURCE_AUDIT, 105);
	assert_int_equal(n_seen, 0);
	tell_exec(42, "/bin/demo", "--now", 10);
	read_until(EXEUNT_SOURCE_AUDIT, 110);
	assert_int_equal(n_seen, 1);
	assert_string_equal(exe[0], "/bin/demo");
	/* one that called no exec is not waited for, and one of which nothing comes not for long */
	put_task(43, true, 200);
	assert_int_equal(n_seen, 2);
	put_task(44, false, 200);
	read_until(EXEUNT_SOURCE_AUDIT, 200 + 39);
	assert_int_equal(n_seen, 2);
	read_until(EXEUNT_SOURCE_AUDIT, 200 + 41);
	assert_int_equal(n_seen, 3);
	assert_string_equal(exe[2], "");
}

/* Its pid had another owner before, of whose end nobody told. */
static void test_earlier_owner_of_the_pid(void **state)
{
	(void)state;
	tell_exec(42, "/bin/old", "--old", 0);
	put_task(42, false, 5000);
	read_until(EXEUNT_SOURCE_AUDIT, 5100);
	assert_int_equal(n_seen, 1);
	assert_string_equal(exe[0], "");
	/* and this one cannot have called exec */
	tell_exec(43, "/bin/old", "--old", 5990);
	put_task(43, true, 6000);
	assert_int_equal(n_seen, 2);
	assert_string_equal(exe[1], "");
}

/* The next owner of its pid calls exec before its own record is whole. */
static void test_next_owner_of_the_pid(void **state)
{
	(void)state;
	put_task(42, false, 100);
	tell_exec(42, "/bin/next", "--next", 120);
	read_until(EXEUNT_SOURCE_AUDIT, 200);
	assert_int_equal(n_seen, 1);
	assert_string_equal(exe[0], "");
	put_task(42, false, 210);
	read_until(EXEUNT_SOURCE_AUDIT, 300);
	assert_int_equal(n_seen, 2);
	assert_string_equal(exe[1], "/bin/next");
}

/* Audit alone: the title proves whose the arguments are; without one they are doubtful. */
static void test_title(void **state)
{
	const struct exeunt_bytes same[] = { BYTES("/bin/demo"), BYTES("--n"), BYTES("...") };
	const struct exeunt_bytes other[] = { BYTES("/bin/demo"), BYTES("other") };

	(void)state;
	tell_exec(42, "/bin/demo", "--now", 0);
	put_end(42, "/bin/demo", same, 3, 100);
	assert_string_equal(arg[0], "--now");
	assert_false(exeunt_has(&seen[0], EXEUNT_F_INHERITED));
	tell_exec(43, "/bin/demo", "--now", 0);
	put_end(43, "/bin/demo", other, 2, 100);
	assert_string_equal(arg[1], "other");
	assert_false(is_inherited(&seen[1], EXEUNT_F_ARGS));
	assert_true(is_inherited(&seen[1], EXEUNT_F_CWD));
	tell_exec(44, "/bin/demo", "--now", 0);
	put_end(44, "/bin/demo", NULL, 0, 100);
	assert_string_equal(arg[2], "--now");
	assert_true(is_inherited(&seen[2], EXEUNT_F_ARGS));
	/* of another executable: nothing of it */
	tell_exec(45, "/bin/demo", "--now", 0);
	put_end(45, "/bin/other", NULL, 0, 100);
	assert_int_equal(n_seen, 4);
	assert_false(exeunt_has(&seen[3], EXEUNT_F_ARGS) || exeunt_has(&seen[3], EXEUNT_F_CWD));
	assert_string_equal(exe[3], "/bin/other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_program_of_an_end, begin_with_taskstats, end),
		cmocka_unit_test_setup_teardown(test_waits_for_what_will_be_told,
						begin_with_taskstats, end),
		cmocka_unit_test_setup_teardown(test_earlier_owner_of_the_pid, begin_with_taskstats,
						end),
		cmocka_unit_test_setup_teardown(test_next_owner_of_the_pid, begin_with_taskstats,
						end),
		cmocka_unit_test_setup_teardown(test_title, begin_alone, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
