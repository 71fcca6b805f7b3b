/* SPDX-License-Identifier: MIT */
/* The taskstats decoder: every version by its own offsets, any length, hostile attributes. Cases C004, C005, C009, C046. */
#include "unit/test.h"

#include "decode/taskstats.h"
#include "unit/build-taskstats.h"

#include <errno.h>

static int decode(const struct built *b, struct task_exit *t)
{
	size_t used;

	return taskstats_decode(b->bytes, b->len, true, t, &used);
}

/* Sizes of struct taskstats by version (facts of the kernel's history). */
static const struct {
	uint16_t version;
	size_t size;
} sizes[] = { { 8, 328 },  { 9, 344 },	{ 10, 352 }, { 11, 368 }, { 12, 400 }, { 13, 416 },
	      { 14, 432 }, { 16, 560 }, { 17, 688 }, { 17, 656 }, { 99, 1024 } };

static void every_version_has_its_fields_and_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct task_exit t;
		struct built b;
		uint16_t v = sizes[i].version;

		build_message(&b, v, sizes[i].size, 4243, 0);
		build_members(&b, 4243, 4242, 0x4D00, TASK_GROUP);
		assert_int_equal(decode(&b, &t), 1);
		assert_int_equal(t.version, v);
		assert_int_equal(t.pid, 4243);
		assert_int_equal(t.ppid, 100);
		assert_int_equal(t.exit_code, 0x4D00);
		assert_int_equal(t.nice, -5);
		assert_string_equal(t.comm, "demo");
		assert_int_equal(t.uid, 1000);
		assert_int_equal(t.gid, 1001);
		assert_int_equal(t.etime_us, 2500000);
		assert_int_equal(t.utime_us, 12000);
		assert_int_equal(t.stime_us, 8000);
		assert_int_equal(t.minflt, 77);
		assert_int_equal(t.majflt, 3);
		assert_int_equal(!!(t.has & TASK_HAS_BTIME64), v >= 10);
		assert_int_equal(!!(t.has & TASK_HAS_TGID), v >= 12);
		assert_int_equal(t.tgid, v >= 12 ? 4242 : 0);
		assert_int_equal(!!(t.delay_kinds & 1u << EXEUNT_DELAY_THRASHING), v >= 9);
		assert_int_equal(!!(t.delay_kinds & 1u << EXEUNT_DELAY_COMPACT), v >= 11);
		assert_int_equal(!!(t.delay_kinds & 1u << EXEUNT_DELAY_WPCOPY), v >= 13);
		assert_int_equal(!!(t.delay_kinds & 1u << EXEUNT_DELAY_IRQ), v >= 14);
		assert_int_equal(!!(t.has & TASK_HAS_DELAY_RANGE), v >= 16);
	}
}

/* 6.14.0 to 6.14.8: the same size as version 16, other places. */
static void version_15_has_its_own_layout(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 15, 560, 7, 0);
	put32(b.stats + 4, 0x8B);
	b.stats[8] = TASK_GROUP | TASK_XSIG;
	put64(b.stats + 16, 5);	 /* cpu_count */
	put64(b.stats + 32, 99); /* cpu_delay_max */
	put64(b.stats + 120, 4242);
	memcpy(b.stats + 128, "fifteen", 7);
	put32(b.stats + 168, 11);
	put32(b.stats + 172, 12);
	put32(b.stats + 176, 7);
	put32(b.stats + 180, 6);
	put64(b.stats + 192, 1000);
	put64(b.stats + 200, 2000);
	put64(b.stats + 208, 3000);
	put64(b.stats + 216, 4);
	put64(b.stats + 248, 640);
	put64(b.stats + 264, 1024);
	put64(b.stats + 296, 4096);
	put64(b.stats + 320, 21);
	put64(b.stats + 328, 22);
	put64(b.stats + 424, 1700000001);
	put32(b.stats + 464, 7);
	put64(b.stats + 472, 9000);
	put64(b.stats + 480, 1);
	put64(b.stats + 488, 2);
	put64(b.stats + 528, 31); /* irq_count */
	assert_int_equal(decode(&b, &t), 1);
	assert_string_equal(t.comm, "fifteen");
	assert_int_equal(t.uid, 11);
	assert_int_equal(t.gid, 12);
	assert_int_equal(t.pid, 7);
	assert_int_equal(t.ppid, 6);
	assert_int_equal(t.etime_us, 1000);
	assert_int_equal(t.utime_us, 2000);
	assert_int_equal(t.stime_us, 3000);
	assert_int_equal(t.run_ns, 4242);
	assert_int_equal(t.minflt, 4);
	assert_int_equal(t.hiwater_rss_kb, 640);
	assert_int_equal(t.read_chars, 1024);
	assert_int_equal(t.read_bytes, 4096);
	assert_int_equal(t.nvcsw, 21);
	assert_int_equal(t.nivcsw, 22);
	assert_int_equal(t.btime, 1700000001);
	assert_int_equal(t.tgid, 7);
	assert_int_equal(t.tgetime_us, 9000);
	assert_int_equal(t.exe_dev, 1);
	assert_int_equal(t.exe_inode, 2);
	assert_int_equal(t.delay[EXEUNT_DELAY_CPU].count, 5);
	assert_int_equal(t.delay[EXEUNT_DELAY_CPU].max_ns, 99);
	assert_int_equal(t.delay[EXEUNT_DELAY_IRQ].count, 31);
}

static void version_16_has_ranges_at_the_end(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 16, 560, 7, 0);
	build_members(&b, 7, 7, 0, TASK_GROUP);
	for (int k = 0; k < 8; k++) {
		put64(b.stats + 432 + 16 * k, 1000u + (unsigned int)k);
		put64(b.stats + 440 + 16 * k, 10u + (unsigned int)k);
	}
	assert_int_equal(decode(&b, &t), 1);
	for (unsigned int k = 0; k < 8; k++) {
		assert_int_equal(t.delay[k].max_ns, 1000 + k);
		assert_int_equal(t.delay[k].min_ns, 10 + k);
	}
}

static void too_short_is_refused(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 16, 100, 7, 0);
	assert_int_equal(decode(&b, &t), -EBADMSG);
	build_message(&b, 16, 560, 7, 0);
	build_members(&b, 7, 7, 0, 0);
	for (size_t len = 0; len < b.len; len++) {
		size_t used;

		assert_true(taskstats_decode(b.bytes, len, true, &t, &used) <= 0);
		assert_int_equal(used, len);
	}
}

/* A struct cut in the middle keeps what is there and lacks what is not. */
static void a_shorter_struct_lacks_its_end(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 16, 248, 7, 0);
	build_members(&b, 7, 0, 0, 0);
	assert_int_equal(decode(&b, &t), 1);
	assert_true(t.has & TASK_HAS_MEMORY);
	assert_false(t.has & (TASK_HAS_IO | TASK_HAS_SWITCHES | TASK_HAS_TGID | TASK_HAS_BTIME64));
}

static void padding_and_aggregate(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 13, 416, 4243, 1);
	build_members(&b, 4243, 4242, 0x300, TASK_GROUP);
	build_aggregate(&b, 4242, 416);
	assert_int_equal(decode(&b, &t), 1);
	assert_true(t.has & TASK_HAS_AGGREGATE);
	assert_int_equal(t.pid, 4243);
	assert_int_equal(t.tgid, 4242);
	/* before version 12 the aggregate alone has the tgid */
	build_message(&b, 8, 328, 4243, 0);
	build_members(&b, 4243, 0, 0x300, 0);
	build_aggregate(&b, 4242, 328);
	assert_int_equal(decode(&b, &t), 1);
	assert_int_equal(t.tgid, 4242);
	assert_false(t.has & TASK_HAS_TGID);
}

static void delays_that_are_not_kept_are_absent(void **state)
{
	struct task_exit t;
	struct built b;
	size_t used;

	(void)state;
	build_message(&b, 16, 560, 7, 0);
	build_members(&b, 7, 7, 0, TASK_GROUP);
	assert_int_equal(taskstats_decode(b.bytes, b.len, false, &t, &used), 1);
	assert_int_equal(t.delay_kinds, 1u << EXEUNT_DELAY_CPU);
	assert_int_equal(taskstats_decode(b.bytes, b.len, true, &t, &used), 1);
	assert_int_equal(t.delay_kinds, 0xff);
	/* switched on after we looked: what is not 0 was kept */
	put64(b.stats + 32, 4);
	assert_int_equal(taskstats_decode(b.bytes, b.len, false, &t, &used), 1);
	assert_int_equal(t.delay_kinds, 0xff);
}

static void other_messages_are_nothing(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 16, 560, 7, 0);
	put16(b.bytes + 4, 2); /* NLMSG_ERROR */
	assert_int_equal(decode(&b, &t), 0);
	build_message(&b, 16, 560, 7, 0);
	b.bytes[16] = 1; /* TASKSTATS_CMD_GET */
	assert_int_equal(decode(&b, &t), 0);
}

static void attributes_that_lie_about_their_length(void **state)
{
	static const size_t places[] = { 0, 20, 24, 32 };
	struct task_exit t;
	struct built b;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (uint32_t value = 0; value < 0x10000; value += 7) {
			build_message(&b, 16, 560, 7, 0);
			build_members(&b, 7, 7, 0, TASK_GROUP);
			put16(b.bytes + places[i], (uint16_t)value);
			decode(&b, &t); /* under the sanitizers: no byte beyond the end is read */
		}
	}
	build_message(&b, 16, 560, 7, 0);
	put16(b.bytes + 20, 3); /* an attribute shorter than its header */
	assert_int_equal(decode(&b, &t), -EBADMSG);
	build_message(&b, 16, 560, 7, 0);
	put16(b.bytes + 20, 2000); /* runs over the end */
	assert_int_equal(decode(&b, &t), -EBADMSG);
}

static void name_without_nul_is_cut(void **state)
{
	struct task_exit t;
	struct built b;

	(void)state;
	build_message(&b, 16, 560, 7, 0);
	build_members(&b, 7, 7, 0, TASK_GROUP);
	memset(b.stats + 80, 'x', 32);
	assert_int_equal(decode(&b, &t), 1);
	assert_int_equal(strlen(t.comm), 15);
}

static void two_messages_in_one_datagram(void **state)
{
	unsigned char both[4096];
	struct task_exit t;
	struct built b;
	size_t used;

	(void)state;
	build_message(&b, 16, 560, 7, 0);
	build_members(&b, 7, 7, 0, TASK_GROUP);
	memcpy(both, b.bytes, b.len);
	put32(b.stats + 128, 8);
	memcpy(both + b.len, b.bytes, b.len);
	assert_int_equal(taskstats_decode(both, 2 * b.len, true, &t, &used), 1);
	assert_int_equal(t.pid, 7);
	assert_int_equal(used, b.len);
	assert_int_equal(taskstats_decode(both + used, 2 * b.len - used, true, &t, &used), 1);
	assert_int_equal(t.pid, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_has_its_fields_and_no_more),
		cmocka_unit_test(version_15_has_its_own_layout),
		cmocka_unit_test(version_16_has_ranges_at_the_end),
		cmocka_unit_test(too_short_is_refused),
		cmocka_unit_test(a_shorter_struct_lacks_its_end),
		cmocka_unit_test(padding_and_aggregate),
		cmocka_unit_test(delays_that_are_not_kept_are_absent),
		cmocka_unit_test(other_messages_are_nothing),
		cmocka_unit_test(attributes_that_lie_about_their_length),
		cmocka_unit_test(name_without_nul_is_cut),
		cmocka_unit_test(two_messages_in_one_datagram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
