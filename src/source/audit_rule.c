/* SPDX-License-Identifier: MIT */
/*
 * See audit_rule.h. Fields of the kernel are parsed by libaudit; architecture, calls and key are put in here, because
 * libaudit keeps what it has seen of them in variables of the process, which it never clears.
 */
#include "source/audit_rule.h"

#include <libaudit.h>
#include <stdarg.h>

#include "base/util.h"
#include "source/audit_report.h"

#define LINE_MOST 1024
#define KEY_SEPARATOR '\1'

/* One rule while it is built. */
struct builder {
	struct audit_rule_data *rule;
	int machine; /* -1: no arch= yet */
	bool list, call, key, foreign;
	char *error;
	size_t error_size;
};

PRINTF(2, 3)
static int complain(struct builder *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(b->error, b->error_size, format, ap);
	va_end(ap);
	return -EINVAL;
}

void audit_rule_free(struct audit_rule_data *rule)
{
	audit_rule_free_data(rule);
}

static int take_list(struct builder *b, const char *value)
{
	if (strcmp(value, "always,exit") != 0 && strcmp(value, "exit,always") != 0)
		return complain(b, "-a %s: only always,exit is taken here", value);
	b->list = true;
	return 0;
}

static int add_field(struct builder *b, uint32_t field, uint32_t op, uint32_t value)
{
	struct audit_rule_data *rule = b->rule;

	if (rule->field_count >= AUDIT_MAX_FIELDS)
		return complain(b, "too many fields");
	rule->fields[rule->field_count] = field;
	rule->fieldflags[rule->field_count] = op;
	rule->values[rule->field_count++] = value;
	return 0;
}

static int take_arch(struct builder *b, const char *name)
{
	int machine = audit_determine_machine(name);

	if (b->call || b->machine >= 0)
		return complain(b, "arch=%s: comes once, and in front of -S", name);
	/* b32 on a machine without 32-bit programs, or the other way: nothing can match it */
	if (machine < 0) {
		b->foreign = true;
		return 0;
	}
	b->machine = machine;
	return add_field(b, AUDIT_ARCH, AUDIT_EQUAL, audit_machine_to_elf(machine));
}

static int take_key(struct builder *b, const char *key)
{
	size_t len = strlen(key), old = b->rule->buflen;
	struct audit_rule_data *grown;

	if (b->key)
		return complain(b, "-k %s: one key is taken here", key);
	if (strncmp(key, AUDIT_KEY_PREFIX, strlen(AUDIT_KEY_PREFIX)) != 0)
		return complain(b, "-k %s: the key has to begin with %s", key, AUDIT_KEY_PREFIX);
	if (len > AUDIT_MAX_KEY_LEN)
		return complain(b, "-k: the key is too long");
	grown = realloc(b->rule, sizeof(*b->rule) + old + len);
	if (!grown)
		return -ENOMEM;
	b->rule = grown;
	memcpy(b->rule->buf + old, key, len);
	b->rule->buflen = (uint32_t)(old + len);
	b->key = true;
	return add_field(b, AUDIT_FILTERKEY, AUDIT_EQUAL, (uint32_t)len);
}

static int take_field(struct builder *b, const char *pair)
{
	int r;

	if (!strncmp(pair, "arch=", 5))
		return take_arch(b, pair + 5);
	if (!strncmp(pair, "key=", 4))
		return take_key(b, pair + 4);
	r = audit_rule_fieldpair_data(&b->rule, pair, AUDIT_FILTER_EXIT);
	return r ? complain(b, "-F %s: audit does not take it", pair) : 0;
}

static int take_call(struct builder *b, const char *name)
{
	int machine = b->machine >= 0 ? b->machine : audit_detect_machine();
	int nr = audit_name_to_syscall(name, machine);

	if (b->foreign)
		return 0;
	if (nr < 0)
		return complain(b, "-S %s: no such system call here", name);
	if (AUDIT_WORD(nr) >= AUDIT_BITMASK_SIZE)
		return complain(b, "-S %s: out of range", name);
	b->rule->mask[AUDIT_WORD(nr)] |= AUDIT_BIT(nr);
	return 0;
}

static int take_calls(struct builder *b, char *names)
{
	char *save, *name;
	int r = 0;

	for (name = strtok_r(names, ",", &save); name && r >= 0; name = strtok_r(NULL, ",", &save))
		r = take_call(b, name);
	b->call = true;
	return r;
}

static int take_option(struct builder *b, const char *option, char *value)
{
	static const char known[] = "aFSk";

	if (option[0] != '-' || !option[1] || option[2] || !strchr(known, option[1]))
		return complain(b, "%s: only -a, -F, -S and -k are taken here", option);
	if (!value)
		return complain(b, "%s: its value is missing", option);
	switch (option[1]) {
	case 'a':
		return take_list(b, value);
	case 'F':
		return take_field(b, value);
	case 'S':
		return take_calls(b, value);
	default:
		return take_key(b, value);
	}
}

static int take_words(struct builder *b, char *text)
{
	char *save, *word;
	int r = 0;

	for (word = strtok_r(text, " \t\r\n", &save); word && r >= 0;
	     word = strtok_r(NULL, " \t\r\n", &save))
		r = take_option(b, word, strtok_r(NULL, " \t\r\n", &save));
	if (r < 0)
		return r;
	if (!b->list)
		return complain(b, "-a always,exit is missing");
	if (!b->call)
		return complain(b, "-S is missing: it would log every system call");
	if (!b->key)
		return complain(b, "-k is missing: the rule could not be found again");
	return 0;
}

int audit_rule_parse(struct audit_rule_data **ret, const char *line, char *error, size_t error_size)
{
	struct builder b = { .machine = -1, .error = error, .error_size = error_size };
	char text[LINE_MOST];
	size_t len;
	int r;

	line += strspn(line, " \t\r\n");
	if (!*line || *line == '#')
		return 0;
	len = strlen(line);
	if (len >= sizeof(text))
		return complain(&b, "the line is too long");
	memcpy(text, line, len + 1);
	b.rule = audit_rule_create_data();
	if (!b.rule)
		return -ENOMEM;
	audit_rule_init_data(b.rule);
	r = take_words(&b, text);
	if (r < 0 || b.foreign) {
		audit_rule_free(b.rule);
		return r;
	}
	b.rule->flags = AUDIT_FILTER_EXIT;
	b.rule->action = AUDIT_ALWAYS;
	*ret = b.rule;
	return 1;
}

/* The fields whose value is the length of a text in `buf` (kernel/auditfilter.c: audit_data_to_entry()). */
static bool is_text(uint32_t field)
{
	return (field >= AUDIT_SUBJ_USER && field <= AUDIT_SUBJ_CLR) ||
	       (field >= AUDIT_OBJ_USER && field <= AUDIT_OBJ_LEV_HIGH) || field == AUDIT_WATCH ||
	       field == AUDIT_DIR || field == AUDIT_FILTERKEY || field == AUDIT_EXE;
}

const char *audit_rule_key(const struct audit_rule_data *rule, size_t *len)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < MIN(rule->field_count, (uint32_t)AUDIT_MAX_FIELDS); i++) {
		if (!is_text(rule->fields[i]))
			continue;
		if (rule->values[i] > rule->buflen - at)
			return NULL;
		*len = rule->values[i];
		if (rule->fields[i] == AUDIT_FILTERKEY)
			return rule->buf + at;
		at += rule->values[i];
	}
	return NULL;
}

bool audit_rule_is_ours(const struct audit_rule_data *rule)
{
	size_t len, prefix = strlen(AUDIT_KEY_PREFIX);
	const char *key = audit_rule_key(rule, &len);

	while (key && len >= prefix) {
		const char *next = memchr(key, KEY_SEPARATOR, len);

		if (!memcmp(key, AUDIT_KEY_PREFIX, prefix))
			return true;
		if (!next)
			break;
		len -= (size_t)(next + 1 - key);
		key = next + 1;
	}
	return false;
}

bool audit_rule_equal(const struct audit_rule_data *a, const struct audit_rule_data *b)
{
	size_t n = sizeof(a->fields[0]) * MIN(a->field_count, (uint32_t)AUDIT_MAX_FIELDS);

	return (a->flags & ~(uint32_t)AUDIT_FILTER_PREPEND) ==
		       (b->flags & ~(uint32_t)AUDIT_FILTER_PREPEND) &&
	       a->action == b->action && a->field_count == b->field_count &&
	       !memcmp(a->mask, b->mask, sizeof(a->mask)) && !memcmp(a->fields, b->fields, n) &&
	       !memcmp(a->values, b->values, n) && !memcmp(a->fieldflags, b->fieldflags, n) &&
	       a->buflen == b->buflen && !memcmp(a->buf, b->buf, a->buflen);
}
