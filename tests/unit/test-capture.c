/* SPDX-License-Identifier: MIT */
/* The capture format: what was written comes back, however it is cut; damage costs what is damaged. */
#include "unit/test.h"

#include "base/util.h"
#include "decode/capture.h"

static void head_comes_back(void **state)
{
	struct capture_info in = { .host = "hosta",
				   .boot_id = "0123",
				   .kernel = "6.18.44",
				   .delay_accounting = true,
				   .started_ns = 1700000000123456789 };
	struct capture_info out;
	char buf[CAPTURE_INFO_MOST];
	size_t len = capture_write_info(buf, &in), used;

	(void)state;
	for (size_t cut = strlen(CAPTURE_MAGIC); cut < len; cut++)
		assert_int_equal(capture_read_info(buf, cut, &out, &used), 0);
	assert_int_equal(capture_read_info(buf, len, &out, &used), 1);
	assert_int_equal(used, len);
	assert_string_equal(out.host, in.host);
	assert_string_equal(out.boot_id, in.boot_id);
	assert_string_equal(out.kernel, in.kernel);
	assert_true(out.delay_accounting);
	assert_int_equal(out.started_ns, in.started_ns);
}

static int read_head(const char *text)
{
	struct capture_info info;
	size_t used;

	return capture_read_info(text, strlen(text), &info, &used);
}

static void heads_that_cannot_be_read_here(void **state)
{
	(void)state;
	assert_int_equal(read_head("EXEUNT CAPTURE 2\nhost a\n\n"), -EPROTONOSUPPORT);
	assert_int_equal(read_head("EXEUNT CAPTURE 1\nbyte_order middle\n\n"), -EPROTONOSUPPORT);
	assert_int_equal(read_head("EXEUNT CAPTURE 1\nnonsense\n\n"), -EBADMSG);
	assert_int_equal(read_head("something else"), -EBADMSG);
	assert_int_equal(read_head("EXEUNT CAPTURE 1\nfuture key\n\n"), 1);
}

static size_t write_frames(unsigned char *buf, int n)
{
	size_t at = 0;

	for (int i = 0; i < n; i++) {
		char data[32];
		struct frame f = { .source = EXEUNT_SOURCE_TASKSTATS,
				   .kind = FRAME_DATA,
				   .channel = i - 1,
				   .mono_ns = 1000 + i,
				   .real_ns = -5 + i,
				   .since_ns = 900 + i,
				   .data = data };

		f.len = (size_t)snprintf(data, sizeof(data), "frame %d", i);
		capture_write_frame(buf + at, &f);
		memcpy(buf + at + CAPTURE_FRAME_HEADER, data, f.len);
		at += CAPTURE_FRAME_HEADER + f.len;
	}
	return at;
}

static void frames_come_back(void **state)
{
	unsigned char buf[4096];
	size_t len = write_frames(buf, 5), at = 0, used;
	struct frame f;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(capture_read_frame(buf + at, len - at, &f, &used), 1);
		assert_int_equal(f.source, EXEUNT_SOURCE_TASKSTATS);
		assert_int_equal(f.kind, FRAME_DATA);
		assert_int_equal(f.channel, i - 1);
		assert_int_equal(f.mono_ns, 1000 + i);
		assert_int_equal(f.real_ns, -5 + i);
		assert_int_equal(f.since_ns, 900 + i);
		assert_int_equal(f.len, 7);
		at += used;
	}
	assert_int_equal(capture_read_frame(buf + at, 0, &f, &used), 0);
	assert_int_equal(capture_read_frame(buf, CAPTURE_FRAME_HEADER + 3, &f, &used), 0);
}

static void damage_costs_what_is_damaged(void **state)
{
	unsigned char buf[4096];
	size_t len = write_frames(buf, 5), one = len / 5, at = 0, used, lost = 0;
	int good = 0;
	struct frame f;

	(void)state;
	memset(buf + one, 0xff, 10);
	while (at < len) {
		int r = capture_read_frame(buf + at, len - at, &f, &used);

		assert_int_not_equal(r, 0);
		good += r > 0;
		lost += r < 0 ? used : 0;
		at += used;
	}
	assert_int_equal(good, 4);
	assert_int_equal(lost, one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_comes_back),
		cmocka_unit_test(heads_that_cannot_be_read_here),
		cmocka_unit_test(frames_come_back),
		cmocka_unit_test(damage_costs_what_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
