/* SPDX-License-Identifier: MIT */
/* join/context-args.h: bounds, redaction, and that no secret stays in memory. */
#include "unit/test.h"

#include <string.h>

#include "base/util.h"
#include "join/context-args.h"

#define RULES(...) \
	(const char *const[]){ __VA_ARGS__ }, ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ }))

static struct args_rules *rules(const char *const *patterns, size_t n, uint32_t bytes,
				uint32_t args)
{
	struct args_rules *r;

	assert_int_equal(args_rules_new(&r, patterns, n, bytes, args, NULL), 0);
	return r;
}

/* `text` with '|' for NUL goes in; comes out the same way, each argument followed by '|'. */
static const char *take(struct args_rules *r, const char *text, bool trim)
{
	static char out[8192];
	struct args_list list;
	size_t size, n = 0, len;
	char *buf = args_buffer(r, &size);

	len = MIN(strlen(text), size);
	for (size_t i = 0; i < len; i++)
		buf[i] = text[i] == '|' ? '\0' : text[i];
	assert_true(args_take(r, len, trim, &list) == list.n_parts);
	for (uint16_t i = 0; i < list.n_parts; i++) {
		assert_ptr_equal(list.parts[i].data, list.data + n);
		memcpy(out + n, list.parts[i].data, list.parts[i].len);
		n += list.parts[i].len;
		assert_int_equal(list.data[n], '\0');
		out[n++] = '|';
	}
	assert_int_equal(n, list.len);
	out[n] = '\0';
	return out;
}

static void test_plain(void **state)
{
	struct args_rules *r = rules(NULL, 0, 64, 8);

	(void)state;
	assert_string_equal(take(r, "ls|-l|", false), "ls|-l|");
	assert_string_equal(take(r, "ls||/etc|", false), "ls||/etc|");
	assert_string_equal(take(r, "ls||", false), "ls||");
	assert_string_equal(take(r, "|", false), "|");
	assert_string_equal(take(r, "title: no nul", false), "title: no nul|");
	assert_string_equal(take(r, "", false), "");
	assert_string_equal(take(r, "a b|c|", false), "a b|c|");
	assert_string_equal(take(r, "a\n\x01\xff|", false), "a\n\x01\xff|");
	/* the padding that a process leaves when it writes a shorter title */
	assert_string_equal(take(r, "sshd: x||||||", true), "sshd: x|");
	assert_string_equal(take(r, "|||", true), "|");
	args_rules_free(r);
}

static void test_bounds(void **state)
{
	struct args_rules *r = rules(NULL, 0, 8, 3);

	(void)state;
	assert_string_equal(take(r, "abcd|fg|", false), "abcd|fg|"); /* 8 bytes fit */
	assert_string_equal(take(r, "abcd|fgh|", false), "abcd|fgh|...|");
	assert_string_equal(take(r, "abcdefghij|", false), "abcdefgh|...|");
	assert_string_equal(take(r, "a|b|c|", false), "a|b|c|");
	assert_string_equal(take(r, "a|b|c|d|", false), "a|b|c|...|");
	args_rules_free(r);
	assert_int_equal(args_rules_new(&r, NULL, 0, 0, 1, NULL), -EINVAL);
	assert_int_equal(args_rules_new(&r, NULL, 0, 1, 0, NULL), -EINVAL);
	args_rules_free(NULL);
}

static void test_redact(void **state)
{
	struct args_rules *r =
		rules(RULES("--password[= ][^ ]+", "^gh[ps]_.*$", "token=[^&]*"), 256, 16);

	(void)state;
	assert_string_equal(take(r, "x|--password=hunter2|y|", false), "x|***|y|");
	/* a secret that is an argument of its own: the two become one */
	assert_string_equal(take(r, "x|--password|hunter2|y|", false), "x|***|y|");
	assert_string_equal(take(r, "x|--password|hunter2|", false), "x|***|");
	/* anchored: a whole argument */
	assert_string_equal(take(r, "x|ghp_abc def|ghs_|a ghp_z|", false), "x|***|***|a ghp_z|");
	assert_string_equal(take(r, "u?token=a&v=1|token=b|", false), "u?***&v=1|***|");
	assert_string_equal(take(r, "nothing|here|", false), "nothing|here|");
	/* bytes that are no text in any locale */
	assert_string_equal(take(r, "--password=\xff\xfe\x80z|k|", false), "***|k|");
	args_rules_free(r);
}

static void test_odd_patterns(void **state)
{
	struct args_rules *r = rules(RULES("a*"), 64, 8);

	(void)state;
	assert_string_equal(take(r, "xaay|a||b|", false),
			    "x***y|***||b|"); /* matches nothing, too */
	args_rules_free(r);
	r = rules(RULES(".*"), 64, 8);
	assert_string_equal(take(r, "a|b|c|", false), "***|");
	args_rules_free(r);
	/* what replaces is longer than what matched: still bounded */
	r = rules(RULES(".", "[*]", "[*]"), 16, 8);
	assert_string_equal(take(r, "abcdefgh|", false), "****************|...|");
	args_rules_free(r);
}

static void test_bad_pattern(void **state)
{
	struct args_rules *r;
	size_t bad = 99;

	(void)state;
	assert_int_equal(args_rules_new(&r, RULES("ok", "(", "ok"), 64, 8, &bad), -EINVAL);
	assert_int_equal(bad, 1);
	assert_null(r);
}

/* A cut may leave half a secret, which no pattern knows. */
static void test_half_a_secret(void **state)
{
	struct args_rules *r = rules(RULES("key-[0-9]{8}"), 13, 8);

	(void)state;
	assert_string_equal(take(r, "prog|key-12345678|", false), "prog|...|");
	assert_string_equal(take(r, "key-12345678|", false), "***|");
	assert_string_equal(take(r, "a-key-12345678|", false), "...|");
	args_rules_free(r);
	/* cut by the number of arguments, those that are kept are whole */
	r = rules(RULES("key-[0-9]{8}"), 64, 2);
	assert_string_equal(take(r, "p|key-12345678|z|", false), "p|***|...|");
	args_rules_free(r);
}

/* Nothing of the secret is left in the buffers. */
static void test_secret_is_wiped(void **state)
{
	static const char raw[] = "x\0secret123456789012345\0z";
	struct args_rules *r = rules(RULES("secret[0-9]+"), 64, 8);
	struct args_list list;
	size_t size;
	char *first = args_buffer(r, &size), *second;

	(void)state;
	memcpy(first, raw, sizeof(raw));
	assert_int_equal(args_take(r, sizeof(raw), false, &list), 3);
	second = args_buffer(r, &size);
	assert_null(memmem(first, size, "secret", 6));
	assert_null(memmem(first, size, "2345", 4));
	assert_null(memmem(second, size, "secret", 6));
	assert_null(memmem(second, size, "2345", 4));
	args_rules_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_redact),		cmocka_unit_test(test_odd_patterns),
		cmocka_unit_test(test_bad_pattern),	cmocka_unit_test(test_half_a_secret),
		cmocka_unit_test(test_secret_is_wiped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
