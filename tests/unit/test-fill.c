/* SPDX-License-Identifier: MIT */
/* record_fill(): what one lacks and the other has; and that two accounts of an end never become one that nobody gave. */
#include "test.h"

#include "base/util.h"
#include "record/fields.h"
#include "record/fill.h"
#include "record/status.h"

static struct exeunt_record ended(uint32_t wait_status)
{
	struct exeunt_record r = { .size = sizeof(r) };

	record_set_status(&r, wait_status);
	return r;
}

static void what_is_missing_is_filled(void **state)
{
	struct exeunt_record to = { .pid = 7 }, from = { .pid = 8, .uid = 33 };

	(void)state;
	field_set(&to, EXEUNT_F_PID);
	field_set(&from, EXEUNT_F_PID);
	field_set(&from, EXEUNT_F_UID);
	from.inherited[EXEUNT_F_UID / 64] = UINT64_C(1) << EXEUNT_F_UID % 64;
	record_fill(&to, &from);
	assert_int_equal(to.pid, 7);
	assert_int_equal(to.uid, 33);
	assert_true(exeunt_has(&to, EXEUNT_F_UID));
	assert_int_equal(to.inherited[EXEUNT_F_UID / 64], from.inherited[EXEUNT_F_UID / 64]);
}

static void an_end_of_another_is_not_mixed_in(void **state)
{
	static const uint32_t others[] = { 9, 11 | 0x80, 4 << 8, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct exeunt_record to = ended(3 << 8), from = ended(others[i]), before = to;

		field_set(&from, EXEUNT_F_UID);
		record_fill(&to, &from);
		assert_true(exeunt_has(&to, EXEUNT_F_UID));
		field_clear(&to, EXEUNT_F_UID);
		assert_memory_equal(to.present, before.present, sizeof(to.present));
		assert_int_equal(to.exit_code, 3);
	}
}

static void a_signal_and_its_core(void **state)
{
	struct exeunt_record to = { .exit_signal = 11 }, other = { .exit_signal = 6 },
			     from = ended(11 | 0x80);

	(void)state;
	field_set(&to, EXEUNT_F_EXIT_SIGNAL);
	field_set(&other, EXEUNT_F_EXIT_SIGNAL);
	record_fill(&to, &from);
	assert_true(exeunt_has(&to, EXEUNT_F_EXIT_CORE_DUMPED) && to.exit_core_dumped);
	assert_int_equal(to.exit_status, 11 | 0x80);
	record_fill(&other, &from);
	assert_false(exeunt_has(&other, EXEUNT_F_EXIT_CORE_DUMPED));
	assert_false(exeunt_has(&other, EXEUNT_F_EXIT_STATUS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_filled),
		cmocka_unit_test(an_end_of_another_is_not_mixed_in),
		cmocka_unit_test(a_signal_and_its_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
