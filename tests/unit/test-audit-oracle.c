/* SPDX-License-Identifier: MIT */
/*
 * libauparse as the oracle: the same SYSCALL records, whole and damaged, go through it and through
 * our scanner, and each field must come out the same. Lines are made from a fixed seed;
 * EXEUNT_ORACLE_LINES says how many (30,000).
 *
 * Where auparse 3.0.9 is wrong, or less exact, and we differ on purpose: 1. It splits at blanks,
 * quoted or not: comm="a b is comm="a to it, and the rest makes fields of its own. The kernel never
 * writes a blank within quotes, so we take all up to the closing quote. 2. What is glued to a
 * closing quote stays in the value: key="exit"ARCH=x86_64 (handed case C031). 3. A label's second
 * word is lost: subj=docker-default (enforce) is docker-default. 4. A field without a value, or one
 * whose quotes do not close, is a value to it or is left out; for us it is unknown. 5. "old auid=1
 * new auid=2" are two fields named auid, and the first one, the old value, is found. 6. Values are
 * text: 4294967296 as a uid, or 0x10, are handed on; to us what no kernel writes is unknown. 7. A
 * record that broke off (no key=) looks whole, and its last number may be half of one; we leave
 * that one out. 8. It takes hexadecimal in lower case for a string; audit_log_n_hex() writes upper
 * case only. 9. A bare word that is no hexadecimal, comm=demo, is decoded to garbage; to us it is
 * unknown. 10. Several keys in one are told apart, into fields of one name; we keep them in one
 * value, joined by 0x01. 11. A key that is written as "(null)" is a value; we know it for none.
 */
#include "unit/test.h"

#include <auparse.h>
#include <libaudit.h>

#include "base/util.h"
#include "decode/audit_event.h"
#include "decode/audit_line.h"
#include "unit/audit-lines.h"

/* What a text stands for by the kernel's rule: 1 and the bytes, or 0 for unknown. */
static int reference_string(const char *s, char *out, size_t *len)
{
	size_t n = strlen(s);

	if (n >= 2 && s[0] == '"' && strchr(s + 1, '"') == s + n - 1) {
		*len = n - 2;
		memcpy(out, s + 1, n - 2);
		return 1;
	}
	if (n == 0 || n % 2 || strspn(s, "0123456789ABCDEF") != n)
		return 0;
	for (size_t i = 0; i < n; i += 2) {
		char pair[3] = { s[i], s[i + 1], 0 };

		out[i / 2] = (char)strtoul(pair, NULL, 16);
	}
	*len = n / 2;
	return 1;
}

static bool is_none(const char *s)
{
	return !strcmp(s, "(null)") || !strcmp(s, "(none)") || !strcmp(s, "?") || !*s;
}

struct comparison {
	auparse_state_t *au;
	const struct audit_event *event;
	const char *line;
	char last[64]; /* the last field, which we distrust if the record has no key */
	bool cut;
	uint64_t compared, skipped;
};

static void fail_field(const struct comparison *c, const char *name, const char *theirs)
{
	print_error("field %s, auparse: %s\n%s\n", name, theirs ? theirs : "(absent)", c->line);
	fail();
}

/* The first field of that name, or NULL. False if their walk is not to be compared with ours. */
static bool theirs_of(struct comparison *c, const char *name, const char **ret)
{
	*ret = NULL;
	if (c->cut && !strcmp(c->last, name)) {
		c->skipped++;
		return false;
	}
	auparse_first_record(c->au);
	*ret = auparse_find_field(c->au, name);
	c->compared++;
	return true;
}

static void compare_number(struct comparison *c, const char *name, enum audit_has what,
			   uint64_t ours, int base, uint64_t max)
{
	bool has = audit_event_has(c->event, what);
	const char *s, *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	unsigned long long v;

	if (!theirs_of(c, name, &s))
		return;
	if (s && !strcmp(s, "-1") && max == UINT32_MAX && base == 10)
		s = "4294967295";
	if (s && base == 16 && !strncmp(s, "0x", 2))
		s += 2;
	/* The number of a call may be -1, where a tracer took it away. */
	if (s && *s == '-' && max == INT64_MAX)
		return;
	/* A number in quotes is what no kernel writes; either reading of it is good. */
	if (s && *s == '"')
		return;
	errno = 0;
	v = s && *s && strspn(s, digits) == strlen(s) ? strtoull(s, NULL, base) : 0;
	if (!s || !*s || strspn(s, digits) != strlen(s) || errno || v > max) {
		if (has)
			fail_field(c, name, s);
	} else if (!has || ours != v) {
		fail_field(c, name, s);
	}
}

static void compare_string(struct comparison *c, const char *name, enum audit_has what,
			   const struct exeunt_bytes *ours)
{
	bool has = audit_event_has(c->event, what);
	char value[256];
	const char *s;
	size_t len = 0;

	if (!theirs_of(c, name, &s))
		return;
	if (!s || is_none(s) || !reference_string(s, value, &len)) {
		if (has)
			fail_field(c, name, s);
	} else if (!has || ours->len != len || memcmp(ours->data, value, len) != 0) {
		fail_field(c, name, s);
	}
}

static void compare_word(struct comparison *c, const char *name, enum audit_has what,
			 const struct exeunt_bytes *ours)
{
	bool has = audit_event_has(c->event, what);
	const char *s;

	if (!theirs_of(c, name, &s))
		return;
	if (s && *s == '"')
		return;
	if (!s || is_none(s)) {
		if (has)
			fail_field(c, name, s);
	} else if (!has || ours->len != strlen(s) || memcmp(ours->data, s, ours->len) != 0) {
		fail_field(c, name, s);
	}
}

/* What stands behind key= in the line, as reference_string() reads it. */
static int key_in_line(const char *line, char *out, size_t *len)
{
	const char *p = strstr(line, " key=");
	char word[256];
	size_t n;

	if (!p)
		return 0;
	n = strcspn(p + 5, " \n\x1d");
	if (n >= sizeof(word))
		return 0;
	memcpy(word, p + 5, n);
	word[n] = 0;
	return reference_string(word, out, len);
}

/*
 * auparse decodes keys while it reads, so points 9 and 10 hide what stood there: it must agree
 * where it can.
 */
static void compare_key(struct comparison *c)
{
	const struct exeunt_bytes *ours = &c->event->key;
	bool has = audit_event_has(c->event, AUDIT_HAS_KEY);
	char value[256], theirs[256];
	size_t len = 0, their_len = 0;
	const char *s;

	if (!theirs_of(c, "key", &s))
		return;
	if (!key_in_line(c->line, value, &len)) {
		if (has)
			fail_field(c, "key", s);
		return;
	}
	if (!has || ours->len != len || memcmp(ours->data, value, len) != 0)
		fail_field(c, "key", s);
	if (memchr(value, 1, len) || !s || !reference_string(s, theirs, &their_len))
		return;
	if (their_len != strnlen(value, len) || memcmp(theirs, value, their_len) != 0)
		fail_field(c, "key", s);
}

static void compare_fields(struct comparison *c)
{
	const struct audit_event *e = c->event;

	compare_number(c, "arch", AUDIT_HAS_ARCH, e->arch, 16, UINT64_MAX);
	compare_number(c, "syscall", AUDIT_HAS_SYSCALL, (uint64_t)e->syscall, 10, INT64_MAX);
	compare_number(c, "a0", AUDIT_HAS_A0, e->a0, 16, UINT64_MAX);
	compare_number(c, "ppid", AUDIT_HAS_PPID, (uint64_t)e->ppid, 10, INT32_MAX);
	compare_number(c, "pid", AUDIT_HAS_PID, (uint64_t)e->pid, 10, INT32_MAX);
	compare_number(c, "auid", AUDIT_HAS_AUID, e->auid, 10, UINT32_MAX);
	compare_number(c, "uid", AUDIT_HAS_UID, e->uid, 10, UINT32_MAX);
	compare_number(c, "gid", AUDIT_HAS_GID, e->gid, 10, UINT32_MAX);
	compare_number(c, "euid", AUDIT_HAS_EUID, e->euid, 10, UINT32_MAX);
	compare_number(c, "fsgid", AUDIT_HAS_FSGID, e->fsgid, 10, UINT32_MAX);
	compare_number(c, "ses", AUDIT_HAS_SES, e->ses, 10, UINT32_MAX);
	compare_word(c, "tty", AUDIT_HAS_TTY, &e->tty);
	compare_string(c, "comm", AUDIT_HAS_COMM, &e->comm);
	compare_string(c, "exe", AUDIT_HAS_EXE, &e->exe);
	compare_key(c);
}

/* Points 1, 2 and 4: quotes that do not stand at both ends of a word. The walks part there. */
static bool has_odd_quotes(const struct exeunt_bytes *raw)
{
	const char *p = raw->data, *end = p + raw->len;

	while ((p = memchr(p, '"', (size_t)(end - p)))) {
		const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));

		if (p[-1] != '=' || !close || memchr(p, ' ', (size_t)(close - p)) ||
		    (close + 1 < end && close[1] != ' '))
			return true;
		p = close + 1;
	}
	return false;
}

/* Point 12 */
static bool has_odd_end(const struct exeunt_bytes *raw)
{
	const char *p = raw->data, *end = p + raw->len;

	while (p < end) {
		const char *stop = memchr(p, ' ', (size_t)(end - p));
		const char *value = memchr(p, '=', (size_t)(end - p));

		stop = stop ? stop : end;
		value = value && value < stop ? value + 1 : p;
		if (stop > p && memchr(")',;:", stop[-1], 5) &&
		    (stop - value != 6 ||
		     (memcmp(value, "(none)", 6) != 0 && memcmp(value, "(null)", 6) != 0)))
			return true;
		p = stop + 1;
	}
	return false;
}

/* A value that starts with a quote of the other kind belongs to messages of programs. */
static bool is_comparable(const struct audit_line *line)
{
	const struct exeunt_bytes *raw = &line->raw;

	/* Point 4: it finds the second of two fields if the first one is empty. */
	if (memmem(raw->data, raw->len, "= ", 2) || (raw->len && raw->data[raw->len - 1] == '='))
		return false;
	return !has_odd_quotes(raw) && !has_odd_end(raw) && !memmem(raw->data, raw->len, " (", 2) &&
	       !memmem(raw->data, raw->len, "='", 2) && !memmem(raw->data, raw->len, "==", 2);
}

static void read_last(struct comparison *c)
{
	const char *key;

	auparse_first_record(c->au);
	auparse_first_field(c->au);
	do
		snprintf(c->last, sizeof(c->last), "%s", auparse_get_field_name(c->au));
	while (auparse_next_field(c->au) > 0);
	auparse_first_record(c->au);
	key = auparse_find_field(c->au, "key");
	c->cut = !key;
}

static bool compare_line(struct comparison *c, const struct buffer *b)
{
	static char pool[8192];
	struct audit_pool at = { .at = pool, .end = pool + sizeof(pool) };
	struct audit_event event;
	struct audit_line line;
	const au_event_t *stamp;

	assert_int_equal(audit_line_parse(&line, b->text, b->len, 0), 0);
	if (!is_comparable(&line))
		return false;
	assert_int_equal(auparse_new_buffer(c->au, b->text, b->len), 0);
	assert_true(auparse_next_event(c->au) > 0);
	stamp = auparse_get_timestamp(c->au);
	assert_int_equal(stamp->sec, line.sec);
	assert_int_equal(stamp->milli, line.msec);
	assert_int_equal(stamp->serial, line.serial);
	assert_int_equal(auparse_get_type(c->au), line.type);
	assert_int_equal(stamp->host ? strlen(stamp->host) : 0, line.node.len);
	audit_event_begin(&event, &line, AUDIT_EVENT_EXIT);
	audit_event_syscall(&event, &line, &at);
	c->event = &event;
	c->line = b->text;
	read_last(c);
	compare_fields(c);
	return true;
}

static void test_same_fields(void **state)
{
	static struct fields all;
	static struct buffer line;
	const char *wanted = getenv("EXEUNT_ORACLE_LINES");
	unsigned long lines = wanted ? strtoul(wanted, NULL, 10) : 30000, done = 0;
	struct comparison c = { .au = auparse_init(AUSOURCE_BUFFER, " \n") };

	(void)state;
	assert_non_null(c.au);
	seed = UINT64_C(0x5eed5eed5eed5eed);
	for (unsigned long i = 0; i < lines; i++) {
		make_fields(&all);
		if (i % 2) {
			damage_fields(&all);
			join_line(&line, &all, (unsigned int)i);
			damage_line(&line);
		} else {
			join_line(&line, &all, (unsigned int)i);
		}
		add(&line, "\n");
		done += compare_line(&c, &line);
	}
	auparse_destroy(c.au);
	print_message("%lu lines made, %lu compared, %llu fields\n", lines, done,
		      (unsigned long long)c.compared);
	/* The generator must not have drifted into what cannot be compared. */
	assert_true(done > lines / 10 * 9);
	assert_true(c.compared > done * 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_fields) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
