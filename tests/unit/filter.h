/* SPDX-License-Identifier: MIT */
/* What the tests of the filter language share: two records, and lists of expressions with one verdict. */
#ifndef UNIT_FILTER_H
#define UNIT_FILTER_H

#include "unit/test.h"

#include <signal.h>

#include "base/util.h"
#include "record/fields.h"
#include "record/filter.h"

#define TEXT(literal) ((struct exeunt_bytes){ "" literal, sizeof(literal) - 1 })

static const struct exeunt_bytes arguments[] = { TEXT("rm"), TEXT("-rf"), TEXT("--token=x"),
						 TEXT("") };

static inline void set_all(struct exeunt_record *r, const enum exeunt_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		field_set(r, fields[i]);
}

/* A process of many fields that ended by itself with code 3. */
static inline struct exeunt_record ended(void)
{
	static const enum exeunt_field fields[] = {
		EXEUNT_F_PID,	     EXEUNT_F_COMM,
		EXEUNT_F_EXE_PATH,   EXEUNT_F_ARGS,
		EXEUNT_F_EXIT_TIME,  EXEUNT_F_EXIT_CODE,
		EXEUNT_F_EXIT_CAUSE, EXEUNT_F_UID,
		EXEUNT_F_USER,	     EXEUNT_F_NICE,
		EXEUNT_F_ELAPSED,    EXEUNT_F_CPU_RUN,
		EXEUNT_F_RSS_PEAK,   EXEUNT_F_LOGIN_UID,
		EXEUNT_F_SOURCES,    EXEUNT_F_USED_PRIVILEGE,
	};
	struct exeunt_record r = {
		.type = EXEUNT_TYPE_EXIT,
		.pid = 4242,
		.comm = "ssh-agent",
		.exe_path = TEXT("/usr/bin/ssh-agent"),
		.args = arguments,
		.n_args = ARRAY_SIZE(arguments),
		.exit_time_ns = INT64_C(1767323045500000000), /* 2026-01-02T03:04:05.5Z */
		.exit_code = 3,
		.exit_cause = EXEUNT_CAUSE_EXITED,
		.uid = 1000,
		.user = TEXT("alice"),
		.nice = -5,
		.elapsed_us = 1500000,
		.cpu_run_ns = 2500,
		.rss_peak_bytes = 100 << 20,
		.login_uid = UINT32_MAX,
		.sources = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS) |
			   EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT),
		.used_privilege = true,
	};

	set_all(&r, fields, ARRAY_SIZE(fields));
	return r;
}

/* A process that SIGSEGV ended with a core. */
static inline struct exeunt_record killed(void)
{
	static const enum exeunt_field fields[] = {
		EXEUNT_F_EXIT_SIGNAL,
		EXEUNT_F_EXIT_SIGNAL_NAME,
		EXEUNT_F_EXIT_CORE_DUMPED,
		EXEUNT_F_EXIT_CAUSE,
	};
	struct exeunt_record r = {
		.type = EXEUNT_TYPE_EXIT,
		.exit_signal = SIGSEGV,
		.exit_core_dumped = true,
		.exit_cause = EXEUNT_CAUSE_CORE_DUMPED,
	};

	set_all(&r, fields, ARRAY_SIZE(fields));
	return r;
}

static inline bool passes(const char *expr, const struct exeunt_record *r)
{
	char error[FILTER_ERROR_SIZE];
	struct filter *f;
	bool result;

	if (filter_new(&f, expr, error, sizeof(error)) != 0)
		fail_msg("%s", error);
	assert_string_equal(error, "");
	result = filter_match(f, r);
	filter_free(f);
	return result;
}

enum verdict { IS_FALSE, IS_UNKNOWN, IS_TRUE };

/* Of each expression of a list with semicolons between: what it and its opposite let pass. */
static inline void all_are(enum verdict wanted, const char *list, const struct exeunt_record *r)
{
	_cleanup_free_
	char *copy = strdup(list);
	char *rest = copy;

	assert_non_null(copy);
	for (char *expr; (expr = strsep(&rest, ";"));) {
		char opposite[256];
		bool yes = passes(expr, r), no;

		snprintf(opposite, sizeof(opposite), "not (%s)", expr);
		no = passes(opposite, r);
		if (yes != (wanted == IS_TRUE) || no != (wanted == IS_FALSE))
			fail_msg("not as wanted: %s (passes %d, its opposite %d)", expr, yes, no);
	}
}

static inline void all_true(const struct exeunt_record *r, const char *list)
{
	all_are(IS_TRUE, list, r);
}

static inline void all_false(const struct exeunt_record *r, const char *list)
{
	all_are(IS_FALSE, list, r);
}

static inline void all_unknown(const struct exeunt_record *r, const char *list)
{
	all_are(IS_UNKNOWN, list, r);
}

#endif
