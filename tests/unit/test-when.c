/* SPDX-License-Identifier: MIT */
/* Times as people write them, against a fixed now in a fixed zone. */
#include "test.h"

#include <stdlib.h>
#include <time.h>

#include "base/util.h"
#include "cmd/values.h"

/* 2026-03-29 12:34:56 in Berlin, the day on which 02:00 becomes 03:00; UTC+2 */
#define NOW INT64_C(1774780496)

static void expect(const char *text, int64_t seconds)
{
	int64_t ns;

	if (value_when(text, NOW * NS_PER_SEC, &ns) < 0)
		fail_msg("'%s' is not understood", text);
	if (ns != seconds * NS_PER_SEC)
		fail_msg("'%s' is %lld, and not %lld", text, (long long)(ns / NS_PER_SEC),
			 (long long)seconds);
}

static void what_people_write(void **state)
{
	(void)state;
	expect("now", NOW);
	expect("today", 1774738800);
	expect("yesterday", 1774652400); /* a day of 23 hours lies between that and tomorrow */
	expect("tomorrow", 1774821600);
	expect("2026-03-29", 1774738800);
	expect("2026-03-29 12:34:56", NOW);
	expect("2026-03-29T12:34:56", NOW);
	expect("2026-03-29T10:34:56Z", NOW);
	expect("2026-03-29T10:34Z", NOW - 56);
	expect("12:34:56", NOW);
	expect("12:34", NOW - 56);
	expect("01:30", 1774744200); /* before the clock was put on */
	expect("@1774780496", NOW);
	expect("@0", 0);
	expect("2h ago", NOW - 7200);
	expect("90 ago", NOW - 90);
	expect("1.5m ago", NOW - 90);
	expect("1d  ago", NOW - 86400);
	expect("1969-12-31T23:59:59Z", -1);
}

static void what_nobody_understands(void **state)
{
	static const char *const wrong[] = { "",
					     "ago",
					     " ago",
					     "x ago",
					     "25:00",
					     "12:60",
					     "2026-13-01",
					     "2026-02-30",
					     "2026-03-29x",
					     "2026-03-29 12",
					     "@",
					     "@x",
					     "@12x",
					     "@99999999999999999999",
					     "@9223372036854775807",
					     "yesterday!",
					     "12:34Zx",
					     "-1h ago" };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (value_when(wrong[i], NOW * NS_PER_SEC, &ns) >= 0)
			fail_msg("'%s' is taken to be %lld", wrong[i], (long long)ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_people_write),
		cmocka_unit_test(what_nobody_understands),
	};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
