/* SPDX-License-Identifier: MIT */
/* record_copy(): what was handed over is kept, whatever becomes of what it pointed to. */
#include "test.h"

#include "any-record.h"
#include "base/util.h"
#include "record/copy.h"
#include "sink/json.h"

static struct json *json;

static void format(const struct exeunt_record *r, char *buf)
{
	ssize_t n = json_format(json, r, buf, 65536);

	assert_true(n > 0 && n < 65536);
	buf[n] = '\0';
}

static void expect_same(struct exeunt_record *r, void *behind, size_t behind_size)
{
	static char before[65536], after[65536];
	size_t size = record_copy_size(r);
	void *room = malloc(size + 1);
	struct exeunt_record *copy;

	assert_non_null(room);
	((char *)room)[size] = 0x5a;
	format(r, before);
	copy = record_copy(room, r);
	assert_ptr_equal(copy, room);
	assert_int_equal(((char *)room)[size], 0x5a);
	memset(behind, 0xee, behind_size);
	format(copy, after);
	assert_string_equal(before, after);
	free(room);
}

static void any_record_is_kept(void **state)
{
	struct any_record a;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		any_record(&a);
		expect_same(&a.r, &a, sizeof(a));
	}
}

static void a_status_is_kept(void **state)
{
	char version[] = "1", kernel[] = "6.1", reason[] = "no such thing", remedy[] = "make it",
	     detail[] = "here";
	struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS,
		  .state = EXEUNT_STATE_OPEN,
		  .version = 16,
		  .detail = detail },
		{ .source = EXEUNT_SOURCE_PACCT,
		  .state = EXEUNT_STATE_REFUSED,
		  .reason = reason,
		  .remedy = remedy },
	};
	struct behind {
		struct exeunt_status status;
		struct exeunt_record r;
	} b = { .status = { .version = version,
			    .kernel_release = kernel,
			    .started_ns = 5,
			    .balance = { .exits = 7 },
			    .sources = sources,
			    .n_sources = 2 } };
	static char before[65536], after[65536];
	void *room;
	struct exeunt_record *copy;

	(void)state;
	b.r = (struct exeunt_record){ .size = sizeof(b.r),
				      .version = EXEUNT_RECORD_VERSION,
				      .type = EXEUNT_TYPE_START,
				      .status = &b.status };
	room = malloc(record_copy_size(&b.r));
	assert_non_null(room);
	format(&b.r, before);
	copy = record_copy(room, &b.r);
	memset(&b, 0xee, sizeof(b));
	memset(sources, 0xee, sizeof(sources));
	memset(version, 'x', sizeof(version) - 1);
	memset(reason, 'x', sizeof(reason) - 1);
	memset(detail, 'x', sizeof(detail) - 1);
	format(copy, after);
	assert_string_equal(before, after);
	free(room);
}

static void what_is_absent_takes_no_room(void **state)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .args = (const struct exeunt_bytes *)1,
				   .n_args = 9 };

	(void)state;
	assert_true(record_copy_size(&r) < sizeof(r) + 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_record_is_kept),
		cmocka_unit_test(a_status_is_kept),
		cmocka_unit_test(what_is_absent_takes_no_room),
	};
	int failed;

	if (json_new(&json, "host", "00000000-0000-0000-0000-000000000001") < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_free(json);
	return failed;
}
