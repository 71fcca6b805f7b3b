/* SPDX-License-Identifier: MIT */
/* source/audit_rules: files of rules, their names and what they say of themselves; a whole folder. */
#include "unit/test.h"

#include <libaudit.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "source/audit_rule.h"
#include "source/audit_rules.h"

#define GOOD "-a always,exit -S exit_group -k exeunt-x\n"

static char dir[] = "/tmp/test-audit-rules.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void test_file(void **state)
{
	struct audit_ruleset s;
	char error[256];

	(void)state;
	put("10-exeunt-some.rules", "#  what it is for  \n# more\n\n" GOOD GOOD);
	assert_int_equal(
		audit_ruleset_read(&s, path_of("10-exeunt-some.rules"), error, sizeof(error)), 0);
	assert_string_equal(s.name, "some");
	assert_string_equal(s.summary, "what it is for  ");
	assert_int_equal(s.n, 2);
	assert_true(audit_rule_equal(s.rules[0], s.rules[1]));
	audit_ruleset_done(&s);
	unlink(path_of("10-exeunt-some.rules"));
}

static void test_names(void **state)
{
	struct audit_ruleset *sets, one;
	char error[256] = "", names[300];
	size_t n;

	(void)state;
	put("10-exeunt-some.rules", GOOD);
	put("20-exeunt-more.rules", GOOD GOOD);
	snprintf(names, sizeof(names), "more,%s", path_of("10-exeunt-some.rules"));
	assert_int_equal(audit_rulesets_find(&sets, &n, dir, names, error, sizeof(error)), 0);
	assert_int_equal(n, 2);
	assert_int_equal(sets[0].n, 2);
	assert_string_equal(sets[1].name, "some");
	audit_rulesets_free(sets, n);
	assert_int_equal(audit_ruleset_find(&one, dir, "some", error, sizeof(error)), 0);
	assert_int_equal(one.n, 1);
	audit_ruleset_done(&one);
	assert_int_equal(audit_rulesets_find(&sets, &n, dir, "some,none", error, sizeof(error)),
			 -ENOENT);
	assert_non_null(strstr(error, "'none'"));
	assert_int_equal(n, 0);
	assert_true(audit_rulesets_find(&sets, &n, dir, "some,", error, sizeof(error)) < 0);
	unlink(path_of("10-exeunt-some.rules"));
	unlink(path_of("20-exeunt-more.rules"));
}

static void assert_bad(const char *text, const char *word)
{
	struct audit_ruleset s;
	char error[256] = "";

	put("bad", text);
	assert_true(audit_ruleset_read(&s, path_of("bad"), error, sizeof(error)) < 0);
	assert_non_null(strstr(error, word));
	unlink(path_of("bad"));
}

static void test_bad(void **state)
{
	struct audit_ruleset s;
	char error[256] = "";

	(void)state;
	assert_bad("", "no rule");
	assert_bad("# only words\n", "no rule");
	assert_bad("# words\n" GOOD "-D\n", "line 3: -D");
	assert_bad(GOOD "-a always,exit -S exit -k theirs\n", "line 2");
	assert_int_equal(audit_ruleset_read(&s, path_of("nothing"), error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, "nothing"));
	assert_int_equal(audit_ruleset_read(&s, dir, error, sizeof(error)), -EIO);
}

static void test_folder(void **state)
{
	struct audit_ruleset *sets;
	char error[256];
	size_t n;

	(void)state;
	put("20-exeunt-b.rules", GOOD);
	put("10-exeunt-a.rules", "# first\n" GOOD);
	put("README", "no rules at all");
	put(".hidden.rules", "-D");
	assert_int_equal(audit_rulesets_read(&sets, &n, dir, error, sizeof(error)), 0);
	assert_int_equal(n, 2);
	assert_string_equal(sets[0].name, "a");
	assert_string_equal(sets[0].summary, "first");
	assert_string_equal(sets[1].name, "b");
	assert_string_equal(sets[1].summary, "");
	audit_rulesets_free(sets, n);
	put("30-c.rules", "-D\n");
	assert_int_equal(audit_rulesets_read(&sets, &n, dir, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "30-c.rules, line 1"));
	unlink(path_of("20-exeunt-b.rules"));
	unlink(path_of("10-exeunt-a.rules"));
	unlink(path_of("30-c.rules"));
	unlink(path_of("README"));
	unlink(path_of(".hidden.rules"));
	assert_int_equal(audit_rulesets_read(&sets, &n, path_of("no"), error, sizeof(error)),
			 -ENOENT);
}

static void test_loaded(void **state)
{
	struct audit_rule_data *a, *b;
	struct audit_loaded l = { .n = 0 };
	char error[256];

	(void)state;
	assert_int_equal(audit_rule_parse(&a, GOOD, error, sizeof(error)), 1);
	assert_int_equal(
		audit_rule_parse(&b, "-a always,exit -S exit -k exeunt-x", error, sizeof(error)),
		1);
	assert_false(audit_loaded_has(&l, a));
	l = (struct audit_loaded){ .rules = &a, .n = 1 };
	assert_true(audit_loaded_has(&l, a));
	assert_false(audit_loaded_has(&l, b));
	audit_rule_free(a);
	audit_rule_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),   cmocka_unit_test(test_names),
		cmocka_unit_test(test_bad),    cmocka_unit_test(test_folder),
		cmocka_unit_test(test_loaded),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
