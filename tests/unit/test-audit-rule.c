/* SPDX-License-Identifier: MIT */
/* source/audit_rule: what a rule of ours may be, and what the kernel gets of it. */
#include "unit/test.h"

#include <libaudit.h>
#include <string.h>

#include "base/util.h"
#include "source/audit_rule.h"

static struct audit_rule_data *parse(const char *text)
{
	struct audit_rule_data *rule = NULL;
	char error[160] = "";
	int r = audit_rule_parse(&rule, text, error, sizeof(error));

	if (r != 1)
		print_error("%s: %d %s\n", text, r, error);
	assert_int_equal(r, 1);
	return rule;
}

static void assert_refused(const char *text, const char *word)
{
	struct audit_rule_data *rule = NULL;
	char error[160] = "";

	assert_int_equal(audit_rule_parse(&rule, text, error, sizeof(error)), -EINVAL);
	assert_null(rule);
	if (!strstr(error, word))
		print_error("%s: %s\n", text, error);
	assert_non_null(strstr(error, word));
}

static bool has_call(const struct audit_rule_data *rule, const char *name, int machine)
{
	int nr = audit_name_to_syscall(name, machine);

	assert_true(nr >= 0);
	return rule->mask[AUDIT_WORD(nr)] & AUDIT_BIT(nr);
}

static void test_whole(void **state)
{
	struct audit_rule_data *rule = parse(
		"  -a always,exit -F arch=b64 -S exit,exit_group -F a0!=0 -k exeunt-failed\n");
	int machine = audit_determine_machine("b64");
	size_t len;

	(void)state;
	assert_int_equal(rule->flags, AUDIT_FILTER_EXIT);
	assert_int_equal(rule->action, AUDIT_ALWAYS);
	assert_int_equal(rule->field_count, 3);
	assert_int_equal(rule->fields[0], AUDIT_ARCH);
	assert_int_equal(rule->values[0], audit_machine_to_elf(machine));
	assert_int_equal(rule->fields[1], AUDIT_ARG0);
	assert_int_equal(rule->fieldflags[1], AUDIT_NOT_EQUAL);
	assert_int_equal(rule->fields[2], AUDIT_FILTERKEY);
	assert_true(has_call(rule, "exit", machine) && has_call(rule, "exit_group", machine));
	assert_false(has_call(rule, "execve", machine));
	assert_memory_equal(audit_rule_key(rule, &len), "exeunt-failed", 13);
	assert_int_equal(len, 13);
	assert_true(audit_rule_is_ours(rule));
	audit_rule_free(rule);
}

/* libaudit keeps variables between rules; a second rule must not see the first. */
static void test_independent(void **state)
{
	struct audit_rule_data *a = parse("-a exit,always -F arch=b64 -S exit -k exeunt-a");
	struct audit_rule_data *b = parse("-a exit,always -F arch=b64 -S exit -F key=exeunt-a");
	struct audit_rule_data *c = parse("-a exit,always -F arch=b64 -S execve -k exeunt-a");

	(void)state;
	assert_true(audit_rule_equal(a, b));
	assert_false(audit_rule_equal(a, c));
	audit_rule_free(a);
	audit_rule_free(b);
	audit_rule_free(c);
}

static void test_unequal(void **state)
{
	static const char *const others[] = {
		"-a always,exit -F arch=b64 -S exit -F a0!=0 -k exeunt-a",
		"-a always,exit -F arch=b64 -S exit -F a0=0 -k exeunt-b",
		"-a always,exit -F arch=b64 -S exit -F a0=1 -k exeunt-a",
		"-a always,exit -S exit -F a0=0 -k exeunt-a",
		"-a always,exit -F arch=b64 -F a0=0 -S exit -k exeunt-a -F auid!=unset",
	};
	struct audit_rule_data *a = parse("-a always,exit -F arch=b64 -S exit -F a0=0 -k exeunt-a");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct audit_rule_data *b = parse(others[i]);

		assert_false(audit_rule_equal(a, b));
		audit_rule_free(b);
	}
	audit_rule_free(a);
}

static void test_nothing(void **state)
{
	static const char *const lines[] = { "", "\n", "   \t\n", "# -D", "  # x\n" };
	struct audit_rule_data *rule = NULL;
	char error[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(audit_rule_parse(&rule, lines[i], error, sizeof(error)), 0);
}

static void test_refused(void **state)
{
	char *long_line = calloc(1, 3000);

	(void)state;
	assert_refused("-D", "-D");
	assert_refused("-e 0", "-e");
	assert_refused("-b 8192", "-b");
	assert_refused("-A always,exit -S exit -k exeunt-x", "-A");
	assert_refused("-d always,exit -S exit -k exeunt-x", "-d");
	assert_refused("-w /etc/passwd -k exeunt-x", "-w");
	assert_refused("-a never,task -k exeunt-x", "never,task");
	assert_refused("-a never,exit -S exit -k exeunt-x", "never,exit");
	assert_refused("-a always,exclude -F msgtype=CWD", "exclude");
	assert_refused("-a always,exit -F arch=b64 -S exit", "-k");
	assert_refused("-a always,exit -S exit -k mine", "exeunt-");
	assert_refused("-a always,exit -S exit -F key=my-exeunt-", "exeunt-");
	assert_refused("-a always,exit -S exit -k exeunt-a -k exeunt-b", "one key");
	assert_refused("-a always,exit -F arch=b64 -k exeunt-x", "-S");
	assert_refused("-S exit -k exeunt-x", "-a");
	assert_refused("-a always,exit -S nosuchcall -k exeunt-x", "nosuchcall");
	assert_refused("-a always,exit -S exit -F arch=b64 -k exeunt-x", "in front");
	assert_refused("-a always,exit -S exit -F nosuchfield=1 -k exeunt-x", "nosuchfield");
	assert_refused("-a always,exit -S exit -k", "missing");
	assert_refused("always,exit", "always,exit");
	memset(long_line, 'x', 2000);
	assert_refused(long_line, "long");
	free(long_line);
}

static void test_key_too_long(void **state)
{
	char line[512] = "-a always,exit -S exit -k exeunt-", *p = line + strlen(line);

	(void)state;
	memset(p, 'x', AUDIT_MAX_KEY_LEN);
	assert_refused(line, "too long");
	p[AUDIT_MAX_KEY_LEN - strlen("exeunt-")] = '\0';
	audit_rule_free(parse(line));
}

/* A rule as the kernel lists it: other texts in front of the key, several keys. */
static void test_foreign_keys(void **state)
{
	union {
		struct audit_rule_data head; /* its text lies behind it */
		char bytes[sizeof(struct audit_rule_data) + 64];
	} r = { .head = { .flags = AUDIT_FILTER_EXIT, .field_count = 2 } };
	size_t len;

	(void)state;
	r.head.fields[0] = AUDIT_EXE;
	r.head.values[0] = 8;
	r.head.fields[1] = AUDIT_FILTERKEY;
	memcpy(r.bytes + sizeof(r.head),
	       "/bin/cat"
	       "mine\1exeunt-x",
	       21);
	r.head.buflen = 21;
	r.head.values[1] = 13;
	assert_memory_equal(audit_rule_key(&r.head, &len), "mine\1exeunt-x", 13);
	assert_int_equal(len, 13);
	assert_true(audit_rule_is_ours(&r.head));
	r.head.values[1] = 4;
	assert_false(audit_rule_is_ours(&r.head));
	r.head.values[1] = 14; /* more than there is */
	assert_null(audit_rule_key(&r.head, &len));
	r.head.field_count = 1;
	assert_null(audit_rule_key(&r.head, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	     cmocka_unit_test(test_independent),
		cmocka_unit_test(test_unequal),	     cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_refused),	     cmocka_unit_test(test_key_too_long),
		cmocka_unit_test(test_foreign_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
