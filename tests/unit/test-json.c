/* SPDX-License-Identifier: MIT */
/* JSON Lines: the exact line for each type of record, and the cache of plans. */
#include "unit/test.h"

#include "record/fields.h"
#include "sink/json.h"

#define HOST "host.example"
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define BYTES(s) ((struct exeunt_bytes){ s, sizeof(s) - 1 })

static char line[1 << 20];

static struct json *new_json(void)
{
	struct json *j = NULL;

	assert_int_equal(json_new(&j, HOST, BOOT), 0);
	return j;
}

static const char *format(struct json *j, const struct exeunt_record *r)
{
	ssize_t n = json_format(j, r, line, sizeof(line) - 1);

	assert_true(n > 0);
	line[n] = '\0';
	return line;
}

#define HEAD(type, seq)                                                                     \
	"{\"schema\":\"exeunt/1\",\"type\":\"" type                                         \
	"\",\"time\":\"2026-01-02T03:04:05.678901234Z\",\"seq\":" seq                       \
	",\"host\":{\"name\":\"host.example\",\"boot_id\":\"01234567-89ab-cdef-0123-456789" \
	"abcdef\"}"

static struct exeunt_record record(enum exeunt_type type, uint64_t seq)
{
	return (struct exeunt_record){ .type = (uint16_t)type,
				       .seq = seq,
				       .time_ns = INT64_C(1767323045678901234) };
}

static void exit_line(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 41);
	struct exeunt_bytes args[] = { BYTES("make"), BYTES(""), BYTES("-j\"2\"") };
	struct json *j = new_json();

	(void)state;
	r.pid = 4242;
	r.parent_pid = 100;
	r.entity_start_ns = 0xabcdef01;
	strcpy(r.comm, "make");
	r.args = args;
	r.n_args = 3;
	r.exit_time_ns = r.time_ns - 678901234;
	r.exit_code = 2;
	r.exit_cause = EXEUNT_CAUSE_EXITED;
	r.exit_status = 512;
	r.uid = 1000;
	r.user = BYTES("alice");
	r.nice = -5;
	r.elapsed_us = 181220;
	r.cpu_user_us = 120000;
	r.delay[EXEUNT_DELAY_IRQ].total_ns = 7;
	r.sources =
		EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS) | EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT);
	r.inherited[EXEUNT_F_LOGIN_UID / 64] |= UINT64_C(1) << EXEUNT_F_LOGIN_UID % 64;
	r.inherited[0] |= UINT64_C(1) << EXEUNT_F_CGROUP;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		if (i == EXEUNT_F_PID || i == EXEUNT_F_PARENT_PID || i == EXEUNT_F_ENTITY_ID ||
		    i == EXEUNT_F_COMM || i == EXEUNT_F_ARGS || i == EXEUNT_F_EXIT_TIME ||
		    i == EXEUNT_F_EXIT_CODE || i == EXEUNT_F_EXIT_CAUSE ||
		    i == EXEUNT_F_EXIT_STATUS || i == EXEUNT_F_UID || i == EXEUNT_F_USER ||
		    i == EXEUNT_F_NICE || i == EXEUNT_F_ELAPSED || i == EXEUNT_F_CPU_USER ||
		    i == EXEUNT_F_DELAY + 4 * EXEUNT_DELAY_IRQ + 1 || i == EXEUNT_F_SOURCES ||
		    i == EXEUNT_F_MISSING || i == EXEUNT_F_INHERITED)
			field_set(&r, i);
	}
	assert_string_equal(
		format(j, &r),
		HEAD("exit",
		     "41") ",\"process\":{\"pid\":4242,\"parent_pid\":100,"
			   "\"entity_id\":\"0123456789abcdef0123456789abcdef-4242-abcdef01\",\"comm\":\"make\","
			   "\"command_args\":[\"make\",\"\",\"-j\\\"2\\\"\"],"
			   "\"exit\":{\"time\":\"2026-01-02T03:04:05.000000000Z\",\"code\":2,\"cause\":\"exited\","
			   "\"status\":512},\"user\":{\"id\":1000,\"name\":\"alice\"},\"nice\":-5},"
			   "\"usage\":{\"elapsed_us\":181220,\"cpu\":{\"user_us\":120000}},"
			   "\"delay\":{\"irq\":{\"total_ns\":7}},\"sources\":[\"taskstats\",\"pacct\"],"
			   "\"missing\":[],\"inherited\":[\"process.linux.cgroup\",\"audit.login_uid\"]}\n");
	json_free(j);
}

/* Absent is absent, the name of a signal comes with the signal, and a number that is no signal stays readable. */
static void killed_line(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	struct json *j = new_json();

	(void)state;
	assert_string_equal(format(j, &r), HEAD("exit", "1") "}\n");
	r.exit_signal = 11;
	r.exit_core_dumped = true;
	r.exit_cause = EXEUNT_CAUSE_CORE_DUMPED;
	field_set(&r, EXEUNT_F_EXIT_SIGNAL);
	field_set(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	field_set(&r, EXEUNT_F_EXIT_CAUSE);
	assert_string_equal(
		format(j, &r),
		HEAD("exit",
		     "1") ",\"process\":{\"exit\":{\"signal\":11,\"signal_name\":\"SIGSEGV\","
			  "\"core_dumped\":true,\"cause\":\"core_dumped\"}}}\n");
	r.exit_signal = 100;
	r.exit_core_dumped = false;
	r.exit_cause = EXEUNT_CAUSE_SIGNALED;
	field_set(&r, EXEUNT_F_EXIT_CERTAIN);
	field_set(&r, EXEUNT_F_BACKFILLED);
	r.backfilled = true;
	assert_string_equal(
		format(j, &r),
		HEAD("exit",
		     "1") ",\"process\":{\"exit\":{\"signal\":100,\"signal_name\":\"SIG100\","
			  "\"core_dumped\":false,\"cause\":\"signaled\",\"certain\":false}},"
			  "\"backfilled\":true}\n");
	json_free(j);
}

static void loss_line(void **state)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = 12,
				    .exact = true,
				    .cpu = 0,
				    .window_start_ns = INT64_C(1767323045000000001),
				    .window_end_ns = INT64_C(1767323046000000002),
				    .backfilled = 3 };
	struct exeunt_record r = record(EXEUNT_TYPE_LOSS, 2);
	struct json *j = new_json();

	(void)state;
	r.loss = &loss;
	assert_string_equal(
		format(j, &r),
		HEAD("loss",
		     "2") ",\"loss\":{\"source\":\"taskstats\",\"count\":12,\"exact\":true,"
			  "\"cause\":\"socket_overflow\",\"cpu\":0,\"window\":{"
			  "\"start\":\"2026-01-02T03:04:05.000000001Z\","
			  "\"end\":\"2026-01-02T03:04:06.000000002Z\"},\"backfilled\":3}}\n");
	loss = (struct exeunt_loss){ .source = EXEUNT_SOURCE_OUTPUT,
				     .cause = EXEUNT_LOSS_SLOW_SINK,
				     .count = 1,
				     .cpu = -1 };
	assert_string_equal(
		format(j, &r),
		HEAD("loss", "2") ",\"loss\":{\"source\":\"output\",\"count\":1,\"exact\":false,"
				  "\"cause\":\"slow_sink\",\"backfilled\":0}}\n");
	json_free(j);
}

static void start_line(void **state)
{
	struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS,
		  .state = EXEUNT_STATE_OPEN,
		  .version = 16,
		  .messages = 10,
		  .bytes = 4400,
		  .lost = 1,
		  .receive_buffer = 8388608,
		  .sockets = 2 },
		{ .source = EXEUNT_SOURCE_AUDIT,
		  .state = EXEUNT_STATE_REFUSED,
		  .error = EPERM,
		  .reason = "not \"permitted\"\n",
		  .remedy = "run as root" },
	};
	struct exeunt_status status = { .version = "0.1.0",
					.kernel_release = "6.12",
					.started_ns = INT64_C(1767323045000000000),
					.delay_accounting = true,
					.balance = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 },
					.sources = sources,
					.n_sources = 2 };
	struct exeunt_record r = record(EXEUNT_TYPE_START, 1);
	struct json *j = new_json();

	(void)state;
	r.status = &status;
	assert_string_equal(
		format(j, &r),
		HEAD("start",
		     "1") ",\"exeunt\":{\"version\":\"0.1.0\",\"started\":\"2026-01-02T03:04:05.000000000Z\","
			  "\"sources\":[{\"name\":\"taskstats\",\"state\":\"open\",\"version\":16,\"messages\":10,"
			  "\"bytes\":4400,\"lost\":1,\"receive_buffer_bytes\":8388608,\"sockets\":2},"
			  "{\"name\":\"audit\",\"state\":\"refused\",\"errno\":1,"
			  "\"reason\":\"not \\\"permitted\\\"\\n\",\"remedy\":\"run as root\",\"messages\":0,"
			  "\"bytes\":0,\"lost\":0,\"sockets\":0}]},\"kernel\":{\"release\":\"6.12\"},"
			  "\"delay_accounting\":true,\"balance\":{\"exits\":1,\"threads_seen\":2,\"amends\":3,"
			  "\"backfilled\":4,\"lost\":5,\"lost_output\":6,\"filtered\":7,\"unparsable\":8,"
			  "\"evicted\":9,\"unmatched\":10,\"pending\":11,\"unfinished\":12,\"records\":13}}\n");
	json_free(j);
}

static void hosts(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	char name[300] = { 0 };
	struct json *j = NULL;

	(void)state;
	assert_int_equal(json_new(&j, NULL, NULL), 0);
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_ENTITY_ID);
	assert_non_null(strstr(format(j, &r),
			       "\"seq\":1,\"process\":{\"pid\":0,\"entity_id\":\"00000000000000000"
			       "000000000000000-0-0\"}}\n"));
	json_free(j);
	assert_int_equal(json_new(&j, "a\"\xff", ""), 0);
	assert_non_null(
		strstr(format(j, &r),
		       ",\"host\":{\"name\":\"a\\\"\xef\xbf\xbd\",\"name_hex\":\"6122ff\"},"));
	json_free(j);
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(json_new(&j, name, NULL), -EINVAL);
	json_free(NULL);
}

static void large_numbers(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, UINT64_C(9007199254740991));
	struct json *j = new_json();

	(void)state;
	r.exe_inode = UINT64_C(9007199254740992);
	r.exe_dev = UINT64_MAX;
	r.pid = INT32_MIN;
	r.uid = UINT32_MAX;
	field_set(&r, EXEUNT_F_EXE_INODE);
	field_set(&r, EXEUNT_F_EXE_DEV);
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_UID);
	assert_non_null(strstr(format(j, &r), "\"seq\":9007199254740991,\"host\""));
	assert_non_null(strstr(line,
			       "\"pid\":-2147483648,\"executable\":{\"dev\":9007199254740991,"
			       "\"dev_hex\":\"ffffffffffffffff\",\"inode\":9007199254740991,"
			       "\"inode_hex\":\"20000000000000\"},\"user\":{\"id\":4294967295}}"));
	json_free(j);
}

/* More sets of fields than the cache has plans, in changing order: always the line that a new handle makes. */
static void plan_cache_changes_nothing(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	struct json *j = new_json();
	char *want = malloc(sizeof(line));
	uint64_t x = 1;

	(void)state;
	assert_non_null(want);
	r.pid = 77;
	r.elapsed_us = 123456789012;
	r.user = BYTES("u");
	r.exe_path = BYTES("/bin/x");
	strcpy(r.comm, "x");
	for (int i = 0; i < 3000; i++) {
		struct json *fresh = new_json();

		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* 256 sets; every other time one of four. */
		r.present[0] = (x >> 33) % (i & 1 ? 256 : 4) * UINT64_C(0x0101010101010101);
		r.present[1] = (x >> 33) % 7;
		r.type = (uint16_t)(EXEUNT_TYPE_EXIT + i % 3);
		strcpy(want, format(fresh, &r));
		assert_string_equal(format(j, &r), want);
		json_free(fresh);
	}
	free(want);
	json_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_line),
		cmocka_unit_test(killed_line),
		cmocka_unit_test(loss_line),
		cmocka_unit_test(start_line),
		cmocka_unit_test(hosts),
		cmocka_unit_test(large_numbers),
		cmocka_unit_test(plan_cache_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
