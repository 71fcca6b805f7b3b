/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them. */
#include "unit/test.h"

#include "base/cpulist.h"
#include "base/util.h"

static void lists_of_real_hosts(void **state)
{
	struct cpu_list l;

	(void)state;
	assert_int_equal(cpu_list_parse(&l, "0\n"), 0);
	assert_int_equal(l.n, 1);
	cpu_list_done(&l);
	assert_int_equal(cpu_list_parse(&l, "0-3,8,10-11\n"), 0);
	assert_int_equal(l.n, 7);
	assert_int_equal(l.cpu[3], 3);
	assert_int_equal(l.cpu[4], 8);
	assert_int_equal(l.cpu[6], 11);
	cpu_list_done(&l);
	assert_int_equal(cpu_list_parse(&l, "0-8191"), 0);
	assert_int_equal(l.n, 8192);
	cpu_list_done(&l);
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = { "",	  "\n",	  "a",	 "1-",	       "-1",
					   "3-1", "1,,2", "1 2", "0-99999999", "1;2" };
	struct cpu_list l = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_true(cpu_list_parse(&l, bad[i]) < 0);
		assert_null(l.cpu);
	}
}

static void this_host_has_cpus(void **state)
{
	struct cpu_list l;

	(void)state;
	assert_int_equal(cpu_list_possible(&l), 0);
	assert_true(l.n >= (int)sysconf(_SC_NPROCESSORS_ONLN));
	cpu_list_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_real_hosts),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(this_host_has_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
