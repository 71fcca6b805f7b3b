/* SPDX-License-Identifier: MIT */
/*
 * Heads of audit records, the walk over their fields, untrusted strings, and the tables of types
 * and system calls.
 */
#include "unit/test.h"

#include <libaudit.h>

#include "base/util.h"
#include "decode/audit_arch.h"
#include "decode/audit_field.h"
#include "decode/audit_line.h"
#include "decode/audit_types.h"

static void assert_slice(struct exeunt_bytes v, const char *expected)
{
	assert_int_equal(v.len, strlen(expected));
	assert_memory_equal(v.data, expected, v.len);
}

static int parse(struct audit_line *line, const char *s)
{
	return audit_line_parse(line, s, strlen(s), 0);
}

static void test_head(void **state)
{
	struct audit_line line;

	(void)state;
	assert_int_equal(parse(&line, "type=SYSCALL msg=audit(1700000000.123:42): a=1 b=2\n"), 0);
	assert_int_equal(line.type, AUDIT_SYSCALL);
	assert_int_equal(line.sec, 1700000000);
	assert_int_equal(line.msec, 123);
	assert_int_equal(line.serial, 42);
	assert_int_equal(line.node.len, 0);
	assert_slice(line.raw, " a=1 b=2");
	assert_slice(line.enriched, "");
	assert_int_equal(line.flags, 0);

	assert_int_equal(parse(&line, "node=a.b type=UNKNOWN[1425] msg=audit(1.002:3): x=1\x1dX=2"),
			 0);
	assert_int_equal(line.type, 1425);
	assert_slice(line.node, "a.b");
	assert_slice(line.raw, " x=1");
	assert_slice(line.enriched, "X=2");

	assert_int_equal(parse(&line, "type=NEVER_HEARD msg=audit(1.002:3): x=1"), 0);
	assert_int_equal(line.type, -1);
	assert_int_equal(parse(&line, "type=EOE msg=audit(1.002:3):"), 0);
	assert_slice(line.raw, "");
	/* The largest serial of the kernel and beyond. */
	assert_int_equal(parse(&line, "type=EOE msg=audit(1.002:4294967295): "), 0);
	assert_int_equal(line.serial, UINT32_MAX);
}

static void test_foreign_heads(void **state)
{
	struct audit_line line;

	(void)state;
	assert_int_equal(
		parse(&line, "Nov 14 h kernel: audit: type=1326 audit(1.002:3): pid=1 sig=31"), 0);
	assert_int_equal(line.type, AUDIT_SECCOMP);
	assert_int_equal(line.flags, AUDIT_LINE_PREFIXED);
	/* A record that broke off where the next one starts. */
	assert_int_equal(parse(&line, "type=SYSCALL msg=audit(17000type=EOE msg=audit(1.002:3): "),
			 0);
	assert_int_equal(line.type, AUDIT_EOE);
	assert_int_equal(line.flags, AUDIT_LINE_PREFIXED);
	/* Escaped separators within quotes are part of a value. */
	assert_int_equal(
		parse(&line,
		      "type=SYSCALL msg=audit(1.002:3): comm=\"a#035B\" key=(null)#035ARCH=x"),
		0);
	assert_slice(line.raw, " comm=\"a#035B\" key=(null)");
	assert_slice(line.enriched, "ARCH=x");
}

static void test_refused_heads(void **state)
{
	static const struct {
		const char *text;
		int error;
	} rows[] = {
		{ "", -ENODATA },
		{ " \t\r\n", -ENODATA },
		{ "hello", -EBADMSG },
		{ "type=", -EBADMSG },
		{ "type=SYSCALL", -ENOMSG },
		{ "type=SYSCALL msg=audit", -ENOMSG },
		{ "type=EOE msg=audit(179606133", -ENOMSG },
		{ "type=EOE msg=audit(1796061333.12", -ENOMSG },
		{ "type=EOE msg=audit(1796061333.123:45", -ENOMSG },
		{ "type=EOE msg=audit(.123:45): ", -EBADMSG },
		{ "type=EOE msg=audit(1.1234:45): ", -EBADMSG },
		{ "type=EOE msg=audit(99999999999999999999.123:45): ", -EBADMSG },
		{ "type=EOE msg=audit(9999999999.123:45): ", -EBADMSG },
		{ "type=EOE msg=audit(1.123:45", -ENOMSG },
		{ "type=EOE msg=audit(11/14/2023 22:13:20.100:3) : ", -EPROTONOSUPPORT },
		{ "type=EOE msg=audit(2023-11-14 22:13:20.100:3) : ", -EPROTONOSUPPORT },
		{ "node= type=EOE msg=audit(1.123:45): x", 0 },
		{ "node=a", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct audit_line line;

		assert_int_equal(parse(&line, rows[i].text), rows[i].error);
	}
}

static void test_payload(void **state)
{
	static const char text[] = "audit(1700000000.100:7): pid=1 msg='x\x1dUID=\"root\"'\n\0";
	struct audit_line line;

	(void)state;
	assert_int_equal(audit_line_parse_payload(&line, AUDIT_SYSCALL, text, sizeof(text) - 1), 0);
	assert_int_equal(line.serial, 7);
	/* A program wrote that byte: it separates nothing. */
	assert_slice(line.raw, " pid=1 msg='x\x1dUID=\"root\"'");
	assert_int_equal(line.enriched.len, 0);
	assert_int_equal(audit_line_parse_payload(&line, AUDIT_EOE, "audit(1.1:2", 11), -ENOMSG);
	assert_int_equal(audit_line_parse_payload(&line, AUDIT_EOE, "pid=1", 5), -EBADMSG);
	assert_int_equal(audit_line_parse_payload(&line, AUDIT_EOE, "\0", 1), -ENODATA);
}

/* Lists the fields as "name|value|quote|words before". */
static void walk(char *out, size_t size, const char *text, struct audit_cursor *c)
{
	struct exeunt_bytes v = { .data = text, .len = (uint32_t)strlen(text) };
	struct audit_field f;
	size_t n = 0;

	out[0] = 0;
	audit_fields_begin(c, v);
	while (audit_field_next(c, &f))
		n += (size_t)snprintf(out + n, size - n, "%.*s|%.*s|%d|%.*s;", (int)f.name.len,
				      f.name.data, (int)f.value.len, f.value.data, (int)f.quote,
				      (int)f.before.len, f.before.data ? f.before.data : "");
}

static void test_walk(void **state)
{
	static const struct {
		const char *text, *fields;
	} rows[] = {
		{ "", "" },
		{ "    ", "" },
		{ "a=1 bb=22  ccc=333", "a|1|0|;bb|22|0|;ccc|333|0|;" },
		{ "a=\"x y\" b=", "a|x y|1|;b||0|;" },
		{ "a= b=2", "a||0|;b|2|0|;" },
		{ "old auid=1 new auid=2", "auid|1|0|old;auid|2|0|new;" },
		{ "averylongname=1 b=\"2", "averylongname|1|0|;b|2|2|;" },
		{ "op=x msg='a=\"b\" it's=c' z=1", "op|x|0|;msg|a=\"b\" it's=c|1|;z|1|0|;" },
		{ "msg='a=b", "msg|a=b|2|;" },
		{ "=1 a=2", "a|2|0|=1;" },
		{ "=uid=1 uid=2", "uid|2|0|=uid=1;" },
		{ "words only here", "" },
		{ "a=b=c", "a|b=c|0|;" },
		{ "key=\"exit\"ARCH=x", "key|exit|1|;" },
		{ "key=(null)ARCH=x", "key|(null)|0|;" },
		{ "key=(null) ARCH=x", "key|(null)|0|;ARCH|x|0|;" },
		{ "tty=(none)x", "tty|(none)x|0|;" },
		{ "tty=(none)Ab=1 c=\"d\"E f=2", "tty|(none)Ab=1|0|;c|d|1|;f|2|0|E;" },
		{ "aaaaaaa=1 aaaaaaaa=2 aaaaaaaaa=3",
		  "aaaaaaa|1|0|;aaaaaaaa|2|0|;aaaaaaaaa|3|0|;" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct audit_cursor c;
		char out[512];

		walk(out, sizeof(out), rows[i].text, &c);
		assert_string_equal(out, rows[i].fields);
		if (strstr(rows[i].text, ")ARCH") || strstr(rows[i].text, "\"ARCH"))
			assert_slice(c.glued, "ARCH=x");
		if (!strncmp(rows[i].text, "words", 5))
			assert_slice(c.tail, "words only here");
	}
}

static void test_untrusted(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *value;
	} rows[] = {
		{ "c=\"demo\"", 0, "demo" },
		{ "c=\"(null)\"", 0, "(null)" },
		{ "c=\"\"", 0, "" },
		{ "c=6120620A", 0, "a b\n" },
		{ "c=00", 0, "" },
		{ "c=(null)", -ENODATA, NULL },
		{ "c=(none)", -ENODATA, NULL },
		{ "c=?", -ENODATA, NULL },
		{ "c=", -ENODATA, NULL },
		{ "c=612", -EBADMSG, NULL },
		{ "c=6a", -EBADMSG, NULL }, /* the kernel writes upper case */
		{ "c=demo", -EBADMSG, NULL },
		{ "c=\"de", -EBADMSG, NULL },
		{ "c=41414141414141414141", -ENOBUFS, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct exeunt_bytes v = { .data = rows[i].text,
					  .len = (uint32_t)strlen(rows[i].text) };
		struct audit_cursor c;
		struct audit_field f;
		struct exeunt_bytes out;
		char buf[8];

		audit_fields_begin(&c, v);
		assert_true(audit_field_next(&c, &f));
		assert_int_equal(audit_decode_untrusted(&out, &f, buf, sizeof(buf)), rows[i].error);
		if (rows[i].error == 0 && i != 4)
			assert_slice(out, rows[i].value);
		if (i == 4)
			assert_true(out.len == 1 && out.data[0] == 0);
	}
}

/* The buffer may be the value's own memory. */
static void test_untrusted_in_place(void **state)
{
	char text[] = "c=64656D6F20";
	struct exeunt_bytes out, v = { .data = text, .len = sizeof(text) - 1 };
	struct audit_cursor c;
	struct audit_field f;

	(void)state;
	audit_fields_begin(&c, v);
	assert_true(audit_field_next(&c, &f));
	assert_int_equal(audit_decode_untrusted(&out, &f, text + 2, sizeof(text) - 3), 0);
	assert_slice(out, "demo ");
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int decimal, hex;
	} rows[] = {
		{ "0", 0, 0 },
		{ "4294967295", 0, 0 },
		{ "12345678", 0, 0 },
		{ "123456789", 0, 0 },
		{ "1234567x", -EBADMSG, -EBADMSG },
		{ "", -EBADMSG, -EBADMSG },
		{ "-1", -EBADMSG, -EBADMSG },
		{ "ff", -EBADMSG, 0 },
		{ "FF", -EBADMSG, -EBADMSG },
		{ "12345678901234567890", -ERANGE, -ERANGE },
		{ "/", -EBADMSG, -EBADMSG },
		{ "1234567:", -EBADMSG, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct exeunt_bytes v = { .data = rows[i].text,
					  .len = (uint32_t)strlen(rows[i].text) };
		uint64_t n = 0;

		assert_int_equal(audit_decode_u64(&n, &v), rows[i].decimal);
		if (rows[i].decimal == 0)
			assert_int_equal(n, strtoull(rows[i].text, NULL, 10));
		assert_int_equal(audit_decode_hex(&n, &v), rows[i].hex);
		if (rows[i].hex == 0)
			assert_int_equal(n, strtoull(rows[i].text, NULL, 16));
	}
}

/* libaudit is the oracle for the names of types. */
static void test_types(void **state)
{
	unsigned int named = 0;

	(void)state;
	for (int type = 1000; type < 3000; type++) {
		const char *name = audit_msg_type_to_name(type);

		if (!name)
			continue;
		named++;
		assert_int_equal(audit_type_number(name, strlen(name)), type);
		assert_string_equal(audit_type_name(type), name);
	}
	assert_true(named > 180);
	assert_int_equal(audit_type_number("SYSCAL", 6), -1);
	assert_int_equal(audit_type_number("SYSCALLS", 8), -1);
	assert_int_equal(audit_type_number("syscall", 7), -1);
	assert_int_equal(audit_type_number("1300", 4), AUDIT_SYSCALL);
	assert_int_equal(audit_type_number("UNKNOWN[1300]", 13), AUDIT_SYSCALL);
	assert_int_equal(audit_type_number("UNKNOWN[]", 9), -1);
	assert_int_equal(audit_type_number("UNKNOWN[9999999]", 16), -1);
	assert_int_equal(audit_type_number("", 0), -1);
	assert_null(audit_type_name(1));
}

/* And for the numbers of system calls, where it knows the machine. */
static void test_calls(void **state)
{
	static const struct {
		uint32_t arch;
		int machine;
	} rows[] = {
		{ AUDIT_ARCH_X86_64, MACH_86_64 },    { AUDIT_ARCH_I386, MACH_X86 },
		{ AUDIT_ARCH_PPC64LE, MACH_PPC64LE }, { AUDIT_ARCH_PPC64, MACH_PPC64 },
		{ AUDIT_ARCH_PPC, MACH_PPC },	      { AUDIT_ARCH_S390X, MACH_S390X },
		{ AUDIT_ARCH_S390, MACH_S390 },	      { AUDIT_ARCH_ARM, MACH_ARM },
		{ AUDIT_ARCH_AARCH64, MACH_AARCH64 },
	};
	static const struct {
		const char *name;
		int call;
	} calls[] = {
		{ "exit", AUDIT_CALL_EXIT },	 { "exit_group", AUDIT_CALL_EXIT_GROUP },
		{ "execve", AUDIT_CALL_EXECVE }, { "execveat", AUDIT_CALL_EXECVEAT },
		{ "read", AUDIT_CALL_OTHER },
	};
	unsigned int known = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(calls); k++) {
			int number = audit_name_to_syscall(calls[k].name, rows[i].machine);

			if (number < 0)
				continue;
			known++;
			assert_int_equal(audit_arch_call(rows[i].arch, number), calls[k].call);
		}
	}
	assert_true(known >= 20);
}

/* Where it does not: from asm/unistd.h of each. */
static void test_calls_elsewhere(void **state)
{
	static const struct {
		uint32_t arch;
		int64_t exit_group, execve;
	} rows[] = {
		{ AUDIT_ARCH_X86_64, 0x40000000 + 231, 0x40000000 + 520 }, /* x32 */
		{ AUDIT_ARCH_MIPSEL, 4246, 4011 },
		{ AUDIT_ARCH_MIPSEL64, 5205, 5057 },
		{ AUDIT_ARCH_MIPSEL64N32, 6205, 6057 },
		{ 0xc00000f3, 94, 221 }, /* riscv64 */
		{ 0xc0000102, 94, 221 }, /* loongarch64 */
		{ AUDIT_ARCH_SPARC64, 188, 59 },
		{ AUDIT_ARCH_ALPHA, 405, 59 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(audit_arch_call(rows[i].arch, rows[i].exit_group),
				 AUDIT_CALL_EXIT_GROUP);
		assert_int_equal(audit_arch_call(rows[i].arch, rows[i].execve), AUDIT_CALL_EXECVE);
		assert_int_equal(audit_arch_call(rows[i].arch, 0), AUDIT_CALL_OTHER);
	}
	assert_int_equal(audit_arch_call(0x12345678, 231), -ENOENT);
	assert_int_equal(audit_arch_call(0, 231), -ENOENT);
	/* 59 is execve on x86_64, but not with the bit of x32. */
	assert_int_equal(audit_arch_call(AUDIT_ARCH_X86_64, 0x40000000 + 59), AUDIT_CALL_OTHER);
	assert_int_equal(audit_arch_call(AUDIT_ARCH_X86_64, -1), AUDIT_CALL_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_foreign_heads),
		cmocka_unit_test(test_refused_heads),
		cmocka_unit_test(test_payload),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_untrusted),
		cmocka_unit_test(test_untrusted_in_place),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
