/* SPDX-License-Identifier: MIT */
/*
 * What the strings of a record point to: the context table lets its own go, accounts are looked up anew, and an amendment
 * may come seconds later. With a sanitizer a read of what is gone is seen.
 */
#include "unit/test.h"

#include "unit/proctree.h"

#include "join/join.h"
#include "record/fields.h"

#define BIT(source) EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_##source)
#define T0 (1000 * S)
#define R0 (1700000000 * S)

static struct {
	uint16_t type;
	char exe[64], cwd[64], arg[64], unit[64], user[64], key[64];
} seen[8];
static size_t n_seen;
static char user[] = "alice";
static struct ledger *ledger;
static struct joiner *joiner;
static struct context *context;

static void copy(char to[64], const struct exeunt_record *r, enum exeunt_field field)
{
	const struct exeunt_bytes *b = field_ptr(r, field);

	if (exeunt_has(r, field))
		snprintf(to, 64, "%.*s", (int)b->len, b->data);
}

static void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	assert_true(n_seen < ARRAY_SIZE(seen));
	seen[n_seen].type = r->type;
	/* as the engine adds names, from a cache that will not wait */
	if (!exeunt_has(r, EXEUNT_F_USER)) {
		r->user = (struct exeunt_bytes){ user, (uint32_t)strlen(user) };
		field_set(r, EXEUNT_F_USER);
	}
	copy(seen[n_seen].exe, r, EXEUNT_F_EXE_PATH);
	copy(seen[n_seen].cwd, r, EXEUNT_F_CWD);
	copy(seen[n_seen].unit, r, EXEUNT_F_UNIT);
	copy(seen[n_seen].user, r, EXEUNT_F_USER);
	copy(seen[n_seen].key, r, EXEUNT_F_AUDIT_KEY);
	if (exeunt_has(r, EXEUNT_F_ARGS))
		snprintf(seen[n_seen].arg, 64, "%.*s", (int)r->args[1].len, r->args[1].data);
	n_seen++;
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)loss;
	(void)userdata;
}

static int begin(void **state)
{
	struct join_options o = { .emit = on_emit };

	(void)state;
	n_seen = 0;
	memset(seen, 0, sizeof(seen));
	strcpy(user, "alice");
	if (ledger_new(&ledger, on_loss, NULL))
		return -1;
	o.ledger = ledger;
	if (join_new(&joiner, &o))
		return -1;
	context = make(NULL);
	join_set_context(joiner, context);
	join_set_sources(joiner, BIT(TASKSTATS) | BIT(PACCT) | BIT(AUDIT) | BIT(PROCEVENTS),
			 BIT(PACCT) | BIT(AUDIT));
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

static struct frame frame_at(int64_t at_ms)
{
	return (struct frame){ .mono_ns = T0 + at_ms * MS,
			       .real_ns = R0 + at_ms * MS,
			       .since_ns = T0 + at_ms * MS - MS };
}

static void put_task(int32_t pid, int64_t at_ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = pid,
			       .tgid = pid,
			       .flag = TASK_GROUP,
			       .uid = 1000,
			       .comm = "sh",
			       .btime = 1700000000 };
	struct frame f = frame_at(at_ms);

	t.tgetime_us = t.etime_us = (uint64_t)at_ms * 1000;
	join_task(joiner, &t, &f);
}

static void put_audit(int32_t pid, const char *key, int64_t at_ms)
{
	struct audit_event e = { .kind = AUDIT_EVENT_EXIT,
				 .has = 1ull << AUDIT_HAS_PID | 1ull << AUDIT_HAS_CODE |
					1ull << AUDIT_HAS_KEY,
				 .pid = pid,
				 .time_ns = R0 + at_ms * MS,
				 .key = { key, (uint32_t)strlen(key) } };
	struct frame f = frame_at(at_ms);

	join_audit(joiner, &e, &f);
}

static void all_quiet_at(int64_t at_ms)
{
	for (int s = 0; s < EXEUNT_SOURCE_OUTPUT; s++)
		join_horizon(joiner, (enum exeunt_source)s, T0 + at_ms * MS);
}

/* The shell of proctree.h, begun at T0 and read at its EXEC. */
static void be_born(int32_t pid)
{
	struct process p = shell;

	p.pid = pid;
	p.start_ns = T0;
	show(&p);
	context_fork(context, 99, pid, T0);
	context_exec(context, pid, T0 + MS);
	hide(pid);
}

static void check_strings(size_t i, uint16_t type)
{
	assert_int_equal(seen[i].type, type);
	assert_string_equal(seen[i].exe, "/bin/sh");
	assert_string_equal(seen[i].cwd, "/home");
	assert_string_equal(seen[i].arg, "-l");
	assert_string_equal(seen[i].unit, "session-3.scope");
	assert_string_equal(seen[i].user, "alice");
}

static void an_amendment_outlives_the_context(void **state)
{
	(void)state;
	be_born(100);
	put_task(100, 10);
	all_quiet_at(2000); /* nobody else tells of it in time */
	assert_int_equal(n_seen, 1);
	check_strings(0, EXEUNT_TYPE_EXIT);
	context_tick(context, T0 + 3000 * MS);
	assert_int_equal(stats_of(context).entries, 0);
	strcpy(user, "mallo");
	put_audit(100, "late", 10);
	assert_int_equal(n_seen, 2);
	check_strings(1, EXEUNT_TYPE_AMEND);
	assert_string_equal(seen[1].key, "late");
}

/* What audit told before the record was out, and what the record has from others, are kept together. */
static void what_audit_told_is_kept_too(void **state)
{
	struct pacct_exit e = { .present = PACCT_HAS_PID | PACCT_HAS_UID | PACCT_HAS_MEM,
				.pid = 100,
				.uid = 1000,
				.btime_s = 1700000000,
				.etime_us = 10000,
				.comm = "sh",
				.comm_len = 2 };
	char key[] = "first";
	struct frame f;

	(void)state;
	be_born(100);
	put_task(100, 10);
	put_audit(100, key, 11);
	memset(key, 'x', sizeof(key) - 1);
	all_quiet_at(2000);
	context_tick(context, T0 + 3000 * MS);
	f = frame_at(3500);
	join_pacct(joiner, &e, &f);
	assert_int_equal(n_seen, 2);
	check_strings(1, EXEUNT_TYPE_AMEND);
	assert_string_equal(seen[1].key, "first");
}

/* The bytes that are kept for amendments are bounded, whoever wrote long arguments. */
static void what_is_kept_is_bounded(void **state)
{
	char *key = malloc(1 << 20);

	(void)state;
	assert_non_null(key);
	memset(key, 'k', (1 << 20) - 1);
	key[(1 << 20) - 1] = '\0';
	for (int i = 1; i <= 20; i++) {
		n_seen = 0;
		put_task(100 + i, 100 * i);
		put_audit(100 + i, key, 100 * i);
		all_quiet_at(100 * i + 90);
		assert_int_equal(n_seen, 1);
		assert_int_equal(seen[0].type, EXEUNT_TYPE_EXIT);
	}
	free(key);
	assert_true(join_kept_bytes(joiner) <= 9u << 20);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_amendment_outlives_the_context),
		TEST(what_audit_told_is_kept_too),
		TEST(what_is_kept_is_bounded),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
