/* SPDX-License-Identifier: MIT */
/* Lines back into records: what was written comes back, whatever is in it; what is no line of ours is refused. */
#include "unit/test.h"

#include "base/util.h"
#include "decode/json_record.h"
#include "record/fields.h"
#include "sink/json.h"

#define HOST "host.example"
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define TIME INT64_C(1767323045678901234)

static char line[1 << 16], again[1 << 16];
static struct json *json;
static struct json_record *reader;

static int setup(void **state)
{
	(void)state;
	srandom(5);
	return json_new(&json, HOST, BOOT) < 0 || json_record_new(&reader) < 0;
}

static int teardown(void **state)
{
	(void)state;
	json_free(json);
	json_record_free(reader);
	return 0;
}

/* Written, read, written again. */
static const struct exeunt_record *there_and_back(const struct exeunt_record *r)
{
	ssize_t len = json_format(json, r, line, sizeof(line) - 1), n;
	const struct exeunt_record *back = NULL;

	assert_true(len > 0);
	line[len] = '\0';
	assert_int_equal(json_record_parse(reader, line, (size_t)len - 1, &back), 0);
	n = json_format(json, back, again, sizeof(again) - 1);
	assert_true(n > 0);
	again[n] = '\0';
	assert_string_equal(line, again);
	return back;
}

static uint64_t any(void)
{
	uint64_t v = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();

	return v >> random() % 64;
}

/* All bytes, some more often than others. */
static struct exeunt_bytes any_bytes(char *buf, size_t most)
{
	static const char often[] = "\"\\\n\t\x1b\x7f\xc3\xa4\xff \0/";
	uint32_t len = (uint32_t)((size_t)random() % most);

	for (uint32_t i = 0; i < len; i++)
		buf[i] = random() % 2 ? often[(size_t)random() % sizeof(often)] : (char)random();
	return (struct exeunt_bytes){ buf, len };
}

static void fill(struct exeunt_record *r, int field, char *buf, struct exeunt_bytes *args)
{
	void *member = (char *)r + field_table[field].offset;
	struct exeunt_bytes b;

	switch (field_table[field].kind) {
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_SIGNAL_NAME:
		*(uint32_t *)member = (uint32_t)any();
		break;
	case FIELD_U64:
	case FIELD_ENTITY:
		*(uint64_t *)member = any();
		break;
	case FIELD_TIME:
		*(int64_t *)member = random() % 2 ? TIME + random() : (int64_t)any() / 2;
		break;
	case FIELD_BOOL:
		*(bool *)member = random() % 2;
		break;
	case FIELD_CAUSE:
		*(enum exeunt_cause *)member = (enum exeunt_cause)(random() % 3);
		break;
	case FIELD_SOURCES:
		*(uint32_t *)member = (uint32_t)random() % 32;
		break;
	case FIELD_PATHS:
		((uint64_t *)member)[0] = any();
		((uint64_t *)member)[1] = any() % (UINT64_C(1) << (EXEUNT_F_COUNT - 64));
		break;
	case FIELD_COMM:
		b = any_bytes(buf, sizeof(r->comm));
		memcpy(member, b.data, b.len);
		break;
	case FIELD_BYTES:
		b = any_bytes(buf, 64);
		memcpy(member, &b, sizeof(b));
		break;
	case FIELD_ARGS:
		r->n_args = (uint32_t)random() % 4;
		for (uint32_t i = 0; i < r->n_args; i++)
			args[i] = any_bytes(buf + (i + 1) * 64, 64);
		r->args = args;
		break;
	}
}

static void any_record_comes_back(void **state)
{
	static const enum exeunt_type types[] = { EXEUNT_TYPE_EXIT, EXEUNT_TYPE_THREAD,
						  EXEUNT_TYPE_AMEND, EXEUNT_TYPE_INTERIM };
	static char bufs[EXEUNT_F_COUNT][512];
	struct exeunt_bytes args[4];

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		struct exeunt_record r = { .type = types[round % 4],
					   .seq = (uint64_t)random(),
					   .time_ns = TIME };
		const struct exeunt_record *back;

		for (int i = 0; i < EXEUNT_F_COUNT; i++) {
			if (round % 3 && random() % 2)
				continue;
			fill(&r, i, bufs[i], args);
			field_set(&r, (enum exeunt_field)i);
		}
		/* the name goes with the number */
		if (exeunt_has(&r, EXEUNT_F_EXIT_SIGNAL))
			field_set(&r, EXEUNT_F_EXIT_SIGNAL_NAME);
		back = there_and_back(&r);
		assert_int_equal(back->type, r.type);
		assert_int_equal(back->seq, r.seq);
		assert_memory_equal(back->present, r.present, sizeof(r.present));
	}
}

static void bytes_come_back(void **state)
{
	struct exeunt_bytes args[] = { { "a\xff", 2 }, { "", 0 }, { "\0b", 2 } };
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT,
				   .time_ns = TIME,
				   .comm = "x\"\n\xfe",
				   .exe_path = { "/tmp/\0\x80", 7 },
				   .args = args,
				   .n_args = 3 };
	const struct exeunt_record *back;

	(void)state;
	field_set(&r, EXEUNT_F_COMM);
	field_set(&r, EXEUNT_F_EXE_PATH);
	field_set(&r, EXEUNT_F_ARGS);
	back = there_and_back(&r);
	assert_memory_equal(back->comm, r.comm, sizeof(r.comm));
	assert_int_equal(back->exe_path.len, 7);
	assert_memory_equal(back->exe_path.data, r.exe_path.data, 7);
	assert_int_equal(back->n_args, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(back->args[i].len, args[i].len);
		assert_memory_equal(back->args[i].data, args[i].data, args[i].len);
	}
}

static void losses_come_back(void **state)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_OUTPUT,
				    .cause = EXEUNT_LOSS_SLOW_SINK,
				    .count = UINT64_MAX,
				    .exact = true,
				    .cpu = -1 };
	struct exeunt_record r = { .type = EXEUNT_TYPE_LOSS, .time_ns = TIME, .loss = &loss };

	(void)state;
	assert_true(there_and_back(&r)->loss->count == UINT64_MAX);
	loss.cpu = 3;
	loss.window_start_ns = TIME - 1;
	loss.window_end_ns = TIME;
	loss.backfilled = 7;
	loss.exact = false;
	assert_int_equal(there_and_back(&r)->loss->window_start_ns, TIME - 1);
}

static void statuses_come_back(void **state)
{
	struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS,
		  .state = EXEUNT_STATE_OPEN,
		  .version = 17,
		  .messages = 5,
		  .bytes = UINT64_C(1) << 60,
		  .receive_buffer = 65536,
		  .sockets = 2,
		  .detail = "x" },
		{ .source = EXEUNT_SOURCE_AUDIT,
		  .state = EXEUNT_STATE_REFUSED,
		  .error = 1,
		  .reason = "a \"reason\"\n",
		  .remedy = "do" },
	};
	struct exeunt_status status = { .version = "1.2",
					.kernel_release = "6.18",
					.started_ns = TIME - 5,
					.delay_accounting = true,
					.balance = { .exits = 1, .lost = 2, .records = 3 },
					.sources = sources,
					.n_sources = 2 };
	struct exeunt_record r = { .type = EXEUNT_TYPE_START, .time_ns = TIME, .status = &status };

	(void)state;
	there_and_back(&r);
	r.type = EXEUNT_TYPE_STOP;
	status.kernel_release = NULL;
	status.n_sources = 0;
	assert_int_equal(there_and_back(&r)->status->balance.lost, 2);
	assert_string_equal(json_record_text(reader, "host.name"), HOST);
	assert_string_equal(json_record_text(reader, "host.boot_id"), BOOT);
	assert_null(json_record_text(reader, "host.none"));
	assert_null(json_record_text(reader, "host"));
	assert_null(json_record_text(reader, "schema.x"));
}

static int parse(const char *text)
{
	const struct exeunt_record *r;

	return json_record_parse(reader, text, strlen(text), &r);
}

#define HEAD \
	"{\"schema\":\"exeunt/1\",\"type\":\"exit\",\"time\":\"2026-01-02T03:04:05.678901234Z\",\"seq\":1"

static void other_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"null",
		"{}",
		"{\"schema\":\"exeunt/2\",\"type\":\"exit\"}",
		"{\"schema\":\"exeunt/1\"}",
		"{\"schema\":\"exeunt/1\",\"type\":7}",
		"{\"schema\":\"exeunt/1\",\"type\":\"exit\",\"seq\":1}",
		"{\"schema\":\"exeunt/1\",\"type\":\"exit\",\"time\":\"today\",\"seq\":1}",
		HEAD,
		HEAD "} x",
		HEAD ",\"seq\":2}",
		HEAD ",\"process\":{\"pid\":\"7\"}}",
		HEAD ",\"process\":{\"pid\":2147483648}}",
		HEAD ",\"process\":{\"comm\":\"longer than any name is\"}}",
		HEAD ",\"process\":{\"comm\":\"x\",\"comm_hex\":\"7\"}}",
		HEAD ",\"process\":{\"comm\":\"x\",\"comm_hex\":\"zz\"}}",
		HEAD ",\"process\":{\"command_args\":[\"x\"],\"command_args_hex\":[]}}",
		HEAD ",\"process\":{\"command_args\":[1]}}",
		HEAD ",\"process\":{\"exit\":{\"time\":\"2026-01-02T03:04:05Z\"}}}",
		HEAD ",\"process\":{\"exit\":{\"cause\":\"boredom\"}}}",
		HEAD ",\"process\":{\"entity_id\":\"none\"}}",
		HEAD ",\"process\":{\"user\":{\"id\":-1}}}",
		HEAD ",\"usage\":{\"elapsed_us\":1,\"elapsed_us_hex\":\"1ffffffffffffffff\"}}",
		HEAD ",\"sources\":\"taskstats\"}",
		HEAD ",\"loss\":{}}",
		HEAD ",\"exeunt\":{}}",
		"{\"schema\":\"exeunt/1\",\"type\":\"loss\",\"time\":\"2026-01-02T03:04:05.678901234Z\",\"seq\":1}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parse(bad[i]) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(parse(HEAD ",\"later\":[1],\"process\":{\"pid\":7,\"later\":{}}}"), 0);
	assert_int_equal(parse(HEAD ",\"process\":7}"), 0);
}

static void other_types_are_no_records(void **state)
{
	(void)state;
	assert_int_equal(
		parse("{\"schema\":\"exeunt/1\",\"type\":\"error\",\"error\":{\"message\":\"x\"}}"),
		1);
	assert_string_equal(json_record_text(reader, "error.message"), "x");
}

/* Every line cut anywhere, and with a byte changed: no harm, whatever it is taken for. */
static void damaged_lines_do_no_harm(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .time_ns = TIME };
	static char bufs[EXEUNT_F_COUNT][512];
	struct exeunt_bytes args[4];
	const struct exeunt_record *back;
	size_t len;

	(void)state;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		fill(&r, i, bufs[i], args);
		field_set(&r, (enum exeunt_field)i);
	}
	there_and_back(&r);
	len = strlen(line) - 1;
	for (size_t i = 0; i < len; i++) {
		char was = line[i];

		assert_int_equal(json_record_parse(reader, line, i, &back), -EINVAL);
		line[i] = (char)random();
		json_record_parse(reader, line, len, &back);
		line[i] = was;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_record_comes_back),
		cmocka_unit_test(bytes_come_back),
		cmocka_unit_test(losses_come_back),
		cmocka_unit_test(statuses_come_back),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(other_types_are_no_records),
		cmocka_unit_test(damaged_lines_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
