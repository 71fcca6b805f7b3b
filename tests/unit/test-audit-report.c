/* SPDX-License-Identifier: MIT */
/* source/audit_report: what the state of audit means, what changed, what was lost. */
#include "unit/test.h"

#include <libaudit.h>
#include <string.h>

#include "base/util.h"
#include "source/audit_report.h"
#include "source/audit_rule.h"

static struct audit_facts fine(void)
{
	return (struct audit_facts){ .rules_known = true,
				     .exit_rule = true,
				     .rules = 1,
				     .enabled = 1,
				     .failure = 1,
				     .pid = 100,
				     .owner = "auditd",
				     .backlog_limit = 8192 };
}

static const struct audit_finding *finding(const struct audit_report *r, enum audit_finding_id id)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->findings[i].id == id)
			return &r->findings[i];
	return NULL;
}

static struct audit_report judge(const struct audit_facts *facts)
{
	struct audit_report r = { .facts = *facts };

	audit_report_judge(&r, 0);
	for (size_t i = 0; i < r.n; i++) {
		assert_true(strlen(r.findings[i].reason) > 10);
		assert_true(strlen(r.findings[i].reason) < sizeof(r.findings[i].reason) - 1);
	}
	return r;
}

static void test_fine(void **state)
{
	struct audit_facts f = fine();
	struct audit_report r = judge(&f);

	(void)state;
	assert_int_equal(r.n, 1);
	assert_int_equal(r.findings[0].id, AUDIT_FINDING_OWNER);
	assert_string_equal(r.findings[0].reason, "audit belongs to auditd (pid 100)");
	assert_null(audit_report_worst(&r));
	audit_report_judge(&r, 100); /* that is us */
	assert_int_equal(r.n, 0);
}

static void test_obstacles(void **state)
{
	struct audit_facts f = fine();
	struct audit_report r;

	(void)state;
	f.enabled = 0;
	r = judge(&f);
	assert_int_equal(audit_report_worst(&r)->id, AUDIT_FINDING_OFF);
	assert_string_equal(audit_report_worst(&r)->remedy, "auditctl -e 1");
	f = fine();
	f.never_task = true;
	r = judge(&f);
	assert_int_equal(audit_report_worst(&r)->id, AUDIT_FINDING_NEVER_TASK);
	f.rules_known = false; /* nothing is said of what is not known */
	f.exit_rule = false;
	r = judge(&f);
	assert_null(audit_report_worst(&r));
	assert_null(finding(&r, AUDIT_FINDING_NO_EXIT_RULE));
	f = fine();
	f.rate_limit = 50;
	r = judge(&f);
	assert_int_equal(audit_report_worst(&r)->id, AUDIT_FINDING_RATE_LIMIT);
}

static void test_others(void **state)
{
	struct audit_facts f = fine();
	struct audit_report r;

	(void)state;
	f.pid = 0;
	f.exit_rule = false;
	f.enabled = 2;
	f.failure = 2;
	f.lost = 7;
	r = judge(&f);
	assert_non_null(finding(&r, AUDIT_FINDING_NO_OWNER));
	assert_non_null(finding(&r, AUDIT_FINDING_NO_EXIT_RULE));
	assert_non_null(finding(&r, AUDIT_FINDING_LOCKED));
	assert_non_null(finding(&r, AUDIT_FINDING_PANIC));
	assert_string_equal(finding(&r, AUDIT_FINDING_LOST)->reason,
			    "audit lost 7 records since it counts");
	assert_null(audit_report_worst(&r));
}

static void test_errors(void **state)
{
	static const struct {
		int error;
		enum audit_finding_id id;
		bool in_the_way;
	} cases[] = {
		{ -EPROTONOSUPPORT, AUDIT_FINDING_ABSENT, true },
		{ -EPERM, AUDIT_FINDING_UNREADABLE, false },
		{ -ECONNREFUSED, AUDIT_FINDING_UNREADABLE, false },
		{ -ETIME, AUDIT_FINDING_STUCK, false },
		{ -ENOBUFS, AUDIT_FINDING_UNREADABLE, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct audit_facts f = { .error = cases[i].error };
		struct audit_report r = judge(&f);

		assert_int_equal(r.n, 1);
		assert_int_equal(r.findings[0].id, cases[i].id);
		assert_int_equal(r.findings[0].in_the_way, cases[i].in_the_way);
	}
}

static void test_boot(void **state)
{
	static const struct {
		const char *line;
		bool off, on;
	} cases[] = {
		{ "", false, false },
		{ "quiet noaudit=0 auditing=1", false, false },
		{ "quiet audit=0", true, false },
		{ "audit=off quiet", true, false },
		{ "audit=1", false, true },
		{ "audit=on audit_backlog_limit=8192", false, true },
		{ "audit=0 quiet audit=1", false, true },
		{ "audit=", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct audit_facts f = { 0 };

		audit_report_boot(&f, cases[i].line);
		assert_int_equal(f.booted_off, cases[i].off);
		assert_int_equal(f.booted_on, cases[i].on);
	}
}

static void test_booted_off(void **state)
{
	struct audit_facts f = { .error = -EPROTONOSUPPORT, .booted_off = true };
	struct audit_report r = judge(&f);

	(void)state;
	assert_int_equal(r.n, 1);
	assert_int_equal(r.findings[0].id, AUDIT_FINDING_BOOTED_OFF);
}

/* All that is said about the change, joined by '|'. */
static const char *changes(const struct audit_facts *before, const struct audit_facts *now)
{
	static char all[1024];
	unsigned int step = 0;
	char buf[200];
	const char *text;
	int level = 0;

	all[0] = '\0';
	while ((text = audit_report_change(before, now, &step, &level, buf, sizeof(buf)))) {
		assert_true(level == 4 || level == 6);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s|", text);
	}
	return all;
}

static void test_changes(void **state)
{
	struct audit_facts a = fine(), b = fine();

	(void)state;
	assert_string_equal(changes(&a, &b), "");
	b.pid = 0;
	b.owner[0] = '\0';
	assert_string_equal(changes(&a, &b), "auditd (pid 100) no longer reads audit|");
	assert_string_equal(changes(&b, &a), "audit now belongs to auditd (pid 100)|");
	b = a;
	b.enabled = 0;
	b.exit_rule = false;
	assert_string_equal(changes(&a, &b), "audit was switched off; auditctl -e 1 switches it on|"
					     "the audit rule that told of exits was removed|");
	assert_string_equal(changes(&b, &a),
			    "audit was switched on|an audit rule now tells of exits|");
	b = a;
	b.enabled = 2;
	assert_string_equal(changes(&a, &b), "the rules and settings of audit are locked now, "
					     "until the next boot|");
	assert_string_equal(changes(&b, &b), "");
}

/* Rules that are loaded again need no word about their absence; that they were gone is told elsewhere. */
static void test_kept_rules(void **state)
{
	struct audit_facts a = fine(), b = fine();

	(void)state;
	a.own_rules = a.kept = a.kept_loaded = b.kept = 2;
	b.exit_rule = false;
	assert_string_equal(changes(&a, &b), "");
	assert_string_equal(changes(&b, &a), "");
	b.never_task = true;
	assert_non_null(strstr(changes(&a, &b), "never,task was loaded"));
}

static void test_rule_changes(void **state)
{
	struct audit_facts a = fine(), b = fine();

	(void)state;
	a.own_rules = 2;
	b.exit_rule = false;
	assert_non_null(strstr(changes(&a, &b), "removed by somebody else"));
	b.rules_known = false;
	assert_string_equal(changes(&a, &b), "");
	b = a;
	b.never_task = true;
	assert_non_null(strstr(changes(&a, &b), "never,task was loaded"));
	assert_non_null(strstr(changes(&b, &a), "never,task was removed"));
	b.error = -EPERM;
	assert_string_equal(changes(&a, &b), "");
}

static void test_lost(void **state)
{
	struct audit_facts a = fine(), b = fine();

	(void)state;
	a.lost = 10;
	b.lost = 10;
	assert_int_equal(audit_report_lost(&a, &b), 0);
	b.lost = 17;
	assert_int_equal(audit_report_lost(&a, &b), 7);
	a.lost = UINT32_MAX;
	b.lost = 3; /* reset, or wrapped: at least so many */
	assert_int_equal(audit_report_lost(&a, &b), 3);
	a.error = -ETIME;
	assert_int_equal(audit_report_lost(&a, &b), 0);
}

/* audit=1 and no owner: the kernel counts what it cannot keep for one, and multicast has had it. */
static void test_lost_without_owner(void **state)
{
	struct audit_facts a = fine(), b = fine();

	(void)state;
	b.lost = 5;
	a.booted_on = b.booted_on = true;
	assert_int_equal(audit_report_lost(&a, &b), 5);
	a.pid = 0;
	assert_int_equal(audit_report_lost(&a, &b), 0);
	a.booted_on = b.booted_on = false;
	assert_int_equal(audit_report_lost(&a, &b), 5);
}

static void add(struct audit_facts *f, const char *text)
{
	struct audit_rule_data *rule = NULL;
	char error[128];

	assert_int_equal(audit_rule_parse(&rule, text, error, sizeof(error)), 1);
	audit_report_add_rule(f, rule);
	audit_rule_free(rule);
}

static void test_rules(void **state)
{
	struct audit_rule_data never = { .flags = AUDIT_FILTER_TASK, .action = AUDIT_NEVER };
	struct audit_facts f = { 0 };

	(void)state;
	add(&f, "-a always,exit -S execve -k exeunt-x");
	assert_false(f.exit_rule);
	assert_int_equal(f.own_rules, 1);
	add(&f, "-a always,exit -S exit -k exeunt-x"); /* a thread's end */
	assert_false(f.exit_rule);
	add(&f, "-a always,exit -S exit_group -F a0!=0 -k exeunt-x");
	assert_true(f.exit_rule);
	assert_false(f.exit_all);
	add(&f, "-a always,exit -S exit_group -k exeunt-x");
	assert_true(f.exit_all);
	assert_false(f.never_task);
	audit_report_add_rule(&f, &never);
	assert_true(f.never_task);
	assert_int_equal(f.rules, 5);
	assert_int_equal(f.own_rules, 4);
	f.never_task = false;
	never.field_count = 1; /* only some */
	never.fields[0] = AUDIT_UID;
	audit_report_add_rule(&f, &never);
	assert_false(f.never_task);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fine),
		cmocka_unit_test(test_obstacles),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_boot),
		cmocka_unit_test(test_booted_off),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_rule_changes),
		cmocka_unit_test(test_kept_rules),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_without_owner),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
