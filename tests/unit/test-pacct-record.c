/* SPDX-License-Identifier: MIT */
/* What becomes of an accounting record in the record of an exit; and the exit status taken apart. */
#include "unit/test.h"

#include "decode/pacct_record.h"
#include "record/fields.h"
#include "record/status.h"
#include "unit/pacct.h"

static struct exeunt_record recorded(const struct mk_exit *x, enum mk_format f)
{
	static struct pacct_exit e;
	struct exeunt_record r;

	e = decoded(x, f);
	pacct_to_record(&e, &r);
	return r;
}

static void saturated_is_unknown(void **state)
{
	struct mk_exit x = base_exit();
	struct exeunt_record r;

	(void)state;
	x.mem = UINT64_C(40) << 30; /* 40 TiB, as programs built with a sanitizer reserve */
	x.minflt = UINT64_MAX;
	for (enum mk_format f = 0; f < MK_FORMATS; f++) {
		r = recorded(&x, f);
		assert_false(exeunt_has(&r, EXEUNT_F_VM_AT_EXIT));
		assert_false(exeunt_has(&r, EXEUNT_F_MINOR_FAULTS));
		assert_true(exeunt_has(&r, EXEUNT_F_MAJOR_FAULTS));
	}
}

static void a_name_of_16_bytes_without_nul(void **state)
{
	struct mk_exit x = base_exit();
	struct exeunt_record r;

	(void)state;
	memcpy(x.comm, "ABCDEFGHIJKLMNOP", 17);
	x.uid = UINT32_MAX;
	x.etime = UINT64_C(4000000000);
	for (enum mk_format f = MK_V1_LE; f < MK_FORMATS; f++) {
		struct pacct_exit e = decoded(&x, f);

		assert_string_equal(e.comm, "ABCDEFGHIJKLMNOP");
		assert_int_equal(e.comm_len, 16);
		assert_int_equal(e.uid, UINT32_MAX);
		pacct_to_record(&e, &r);
		assert_memory_equal(r.comm, "ABCDEFGHIJKLMNOP", sizeof(r.comm) > 16 ? 17 : 15);
		if (f >= MK_V3_LE)
			assert_int_equal(r.elapsed_us, UINT64_C(40000000000000));
	}
}

static void status_takes_exactly_one_way(void **state)
{
	static const struct {
		uint32_t status, code, signal;
		enum exeunt_cause cause;
	} cases[] = {
		{ 0x4d00, 77, 0, EXEUNT_CAUSE_EXITED },	   { 0, 0, 0, EXEUNT_CAUSE_EXITED },
		{ 0xff00, 255, 0, EXEUNT_CAUSE_EXITED },   { 9, 0, 9, EXEUNT_CAUSE_SIGNALED },
		{ 0x8b, 0, 11, EXEUNT_CAUSE_CORE_DUMPED }, { 0x0b, 0, 11, EXEUNT_CAUSE_SIGNALED },
		{ 64, 0, 64, EXEUNT_CAUSE_SIGNALED },
	};
	struct exeunt_record r = { 0 };

	(void)state;
	/* One record throughout: nothing of the last status may stay. */
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool by_signal = cases[i].signal != 0;

		record_set_status(&r, cases[i].status);
		assert_true(exeunt_has(&r, EXEUNT_F_EXIT_STATUS) &&
			    exeunt_has(&r, EXEUNT_F_EXIT_CAUSE));
		assert_int_equal(r.exit_status, cases[i].status);
		assert_int_equal(r.exit_cause, cases[i].cause);
		assert_int_equal(exeunt_has(&r, EXEUNT_F_EXIT_CODE), !by_signal);
		assert_int_equal(exeunt_has(&r, EXEUNT_F_EXIT_SIGNAL), by_signal);
		assert_int_equal(exeunt_has(&r, EXEUNT_F_EXIT_SIGNAL_NAME), by_signal);
		assert_int_equal(exeunt_has(&r, EXEUNT_F_EXIT_CORE_DUMPED), by_signal);
		assert_int_equal(r.exit_code, cases[i].code);
		assert_int_equal(r.exit_signal, cases[i].signal);
		assert_int_equal(r.exit_core_dumped, cases[i].cause == EXEUNT_CAUSE_CORE_DUMPED);
	}
	record_clear_status(&r);
	assert_int_equal(r.present[0] | r.present[1], 0);
}

static void the_record_of_an_exit(void **state)
{
	struct mk_exit x = base_exit();
	struct exeunt_record r;

	(void)state;
	x.status = 0x4d00;
	x.flag = PACCT_AFORK | PACCT_ASU;
	x.etime = 350;
	r = recorded(&x, MK_V3_BE);
	assert_int_equal(r.type, EXEUNT_TYPE_EXIT);
	assert_int_equal(r.sources, EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT));
	assert_int_equal(r.pid, 4242);
	assert_int_equal(r.parent_pid, 100);
	assert_int_equal(r.exit_code, 77);
	assert_string_equal(r.comm, "demo");
	assert_int_equal(r.tty.len, 5);
	assert_memory_equal(r.tty.data, "pts/0", 5);
	assert_true(r.forked_not_execed && r.used_privilege);
	assert_int_equal(r.creation_time_ns, ENDED * 1000000000);
	assert_int_equal(r.creation_precision_ns, 1000000000);
	assert_int_equal(r.exit_time_ns, (ENDED + 3) * 1000000000); /* the second it ended in */
	assert_int_equal(r.exit_precision_ns, 1000000000);
	assert_int_equal(r.elapsed_us, 3500000);
	assert_int_equal(r.cpu_user_us, 20000);
	assert_int_equal(r.vm_at_exit_bytes, 1024000);
	assert_int_equal(r.entity_start_ns, r.creation_time_ns + 10); /* its place in the file */
	assert_false(exeunt_has(&r, EXEUNT_F_EXIT_CERTAIN));
	assert_false(exeunt_has(&r, EXEUNT_F_READ_BYTES));
	assert_false(exeunt_has(&r, EXEUNT_F_RSS_PEAK));
	r = recorded(&x, MK_V2_LE);
	assert_false(exeunt_has(&r, EXEUNT_F_PID) || exeunt_has(&r, EXEUNT_F_PARENT_PID));
	assert_false(exeunt_has(&r, EXEUNT_F_ENTITY_ID));
	x.tty = 0;
	x.btime = 0;
	r = recorded(&x, MK_V3_LE);
	assert_false(exeunt_has(&r, EXEUNT_F_TTY));
	assert_false(exeunt_has(&r, EXEUNT_F_CREATION_TIME) || exeunt_has(&r, EXEUNT_F_EXIT_TIME));
}

static void elapsed_time_beyond_31_bits_of_ms(void **state)
{
	struct mk_exit x = base_exit();

	(void)state;
	x.btime = 1697000000;
	x.etime = 300000000;
	for (enum mk_format f = 0; f < MK_FORMATS; f++) {
		struct exeunt_record r = recorded(&x, f);
		int64_t off = r.exit_time_ns - ENDED * 1000000000;

		if (f >= MK_V3_LE)
			assert_int_equal(off, 0);
		assert_true(off < 0 ? -off < (int64_t)r.exit_precision_ns
				    : off < (int64_t)r.exit_precision_ns);
		assert_true(r.exit_precision_ns > 1000000000);
	}
}

static void an_end_that_does_not_fit_is_unknown(void **state)
{
	struct mk_exit x = base_exit();
	struct exeunt_record r;

	(void)state;
	x.etime = UINT64_C(1) << 41;
	r = recorded(&x, MK_V3_LE);
	assert_false(exeunt_has(&r, EXEUNT_F_EXIT_TIME));
	assert_true(exeunt_has(&r, EXEUNT_F_CREATION_TIME) && exeunt_has(&r, EXEUNT_F_ELAPSED));
}

static void contradiction_is_told(void **state)
{
	struct mk_exit x = base_exit();
	struct exeunt_record r;

	(void)state;
	x.flag = PACCT_AXSIG;
	x.status =
		0x300; /* exit_group() killed the other threads, or one was killed after the leader's end */
	r = recorded(&x, MK_V3_LE);
	assert_true(exeunt_has(&r, EXEUNT_F_EXIT_CERTAIN) && !r.exit_certain);
	assert_int_equal(r.exit_code, 3);
	x.status = 9;
	r = recorded(&x, MK_V3_LE);
	assert_false(exeunt_has(&r, EXEUNT_F_EXIT_CERTAIN));
	x.flag = 0; /* seccomp's strict mode kills so */
	r = recorded(&x, MK_V3_LE);
	assert_false(exeunt_has(&r, EXEUNT_F_EXIT_CERTAIN));
}

static void kernel_threads_and_phantoms(void **state)
{
	struct mk_exit x = base_exit();
	struct exeunt_record r;

	(void)state;
	x.mem = 0;
	for (enum mk_format f = MK_V1_LE; f < MK_FORMATS; f++)
		assert_true(decoded(&x, f).phantom);
	x.flag = PACCT_AFORK;
	x.status = UINT32_C(0xfffffffc); /* a kernel thread returned -EINTR: no wait status */
	assert_false(decoded(&x, MK_V3_LE).phantom);
	r = recorded(&x, MK_V3_LE);
	assert_false(exeunt_has(&r, EXEUNT_F_EXIT_STATUS) || exeunt_has(&r, EXEUNT_F_EXIT_CODE));
}

static void terminals(void **state)
{
	static const struct {
		uint16_t dev;
		const char *text;
	} cases[] = {
		{ 0, "" },
		{ 0x8800, "pts/0" },
		{ 0x892c, "pts/300" },
		{ 0x8fff, "pts/2047" },
		{ 0x0401, "tty1" },
		{ 0x0440, "ttyS0" },
		{ 0x04ff, "ttyS191" },
		{ 0xe500, "hvc0" },
		{ 0x0501, "console" },
		{ 0x0502, "5:2" },
		{ 0xffff, "255:255" },
	};
	char text[15];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(pacct_tty_text(text, cases[i].dev), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saturated_is_unknown),
		cmocka_unit_test(a_name_of_16_bytes_without_nul),
		cmocka_unit_test(status_takes_exactly_one_way),
		cmocka_unit_test(the_record_of_an_exit),
		cmocka_unit_test(elapsed_time_beyond_31_bits_of_ms),
		cmocka_unit_test(an_end_that_does_not_fit_is_unknown),
		cmocka_unit_test(contradiction_is_told),
		cmocka_unit_test(kernel_threads_and_phantoms),
		cmocka_unit_test(terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
