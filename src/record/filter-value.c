/* SPDX-License-Identifier: MIT */
/* Turns a value of the filter language into the operand of its field's kind, or says why it is none. */
#include "record/filter-internal.h"

#include <strings.h>

#include <exeunt/exeunt.h>

/* As the kernel keeps a login uid or session that was never set (include/linux/audit.h: AUDIT_UID_UNSET). */
#define ID_UNSET UINT32_MAX

/* Above this no signal has a name. */
#define SIGNAL_END 65

/* The text of a word or of a string, for kinds whose values are names. */
struct name {
	const char *s;
	size_t len;
};

static struct name name_of(const struct filter_parser *p, const struct filter_token *t)
{
	bool quoted = t->kind == TOKEN_STRING;

	return (struct name){ p->expr + t->at + quoted, t->len - 2 * quoted };
}

static bool same(struct name n, const char *known)
{
	return strlen(known) == n.len && !strncasecmp(known, n.s, n.len);
}

static bool is_id_of_user(int field)
{
	return field == EXEUNT_F_UID || field == EXEUNT_F_EUID || field == EXEUNT_F_SUID ||
	       field == EXEUNT_F_LOGIN_UID;
}

static bool is_id_of_group(int field)
{
	return field == EXEUNT_F_GID || field == EXEUNT_F_EGID || field == EXEUNT_F_SGID;
}

/* uid == "alice": the number is looked up here, once. */
static int id_value(struct filter_parser *p, struct filter_node *n,
		    const struct filter_token *value)
{
	_cleanup_free_
	char *name = NULL;
	struct filter_text text;
	uint32_t id = 0;
	bool found;
	int r;

	r = filter_unquote(p, value, &text);
	if (r < 0)
		return r;
	name = text.data;
	found = is_id_of_user(n->field) ? filter_user_id(p, name, &id)
					: filter_group_id(p, name, &id);
	if (!found || strlen(name) != text.len)
		return filter_fail(p, value->at, "this host has no such %s%s",
				   is_id_of_user(n->field) ? "user" : "group",
				   p->prompt ? " among its own; give the number" : "");
	n->number = id;
	return 0;
}

static const char *signal_word(unsigned int i)
{
	return exeunt_signal_name(i + 1);
}

/* SIGSEGV, SEGV, in any case; the number stays a number. */
static int signal_value(struct filter_parser *p, struct filter_node *n,
			const struct filter_token *value)
{
	struct name word = name_of(p, value);

	if (value->kind == TOKEN_NUMBER)
		return filter_number(p, n, value);
	for (unsigned int i = 1; i < SIGNAL_END; i++) {
		const char *name = exeunt_signal_name(i);

		if (name && (same(word, name) || same(word, name + strlen("SIG")))) {
			n->number = i;
			return 0;
		}
	}
	return filter_fail_word(p, value, "signal", signal_word);
}

const char *filter_cause_name(unsigned int cause)
{
	static const char *const names[] = {
		[EXEUNT_CAUSE_EXITED] = "exited",
		[EXEUNT_CAUSE_SIGNALED] = "signaled",
		[EXEUNT_CAUSE_CORE_DUMPED] = "core_dumped",
	};

	return cause < ARRAY_SIZE(names) ? names[cause] : NULL;
}

static const char *source_word(unsigned int i)
{
	return i < EXEUNT_SOURCE_OUTPUT ? exeunt_source_name(i) : NULL;
}

/* The index of one of a few names. */
static int word_value(struct filter_parser *p, struct filter_node *n,
		      const struct filter_token *value, const char *what,
		      const char *(*name)(unsigned int i))
{
	struct name word = name_of(p, value);
	const char *known;

	for (unsigned int i = 0; (known = name(i)); i++) {
		if (!same(word, known))
			continue;
		n->number = i;
		return 0;
	}
	return filter_fail_word(p, value, what, name);
}

static int path_value(struct filter_parser *p, struct filter_node *n,
		      const struct filter_token *value)
{
	struct name word = name_of(p, value);
	int field = field_find(word.s, word.len);

	if (field < 0)
		return filter_fail_field(p, word.s, word.len, value->at);
	n->number = (uint64_t)field;
	return 0;
}

static int bool_value(struct filter_parser *p, struct filter_node *n,
		      const struct filter_token *value)
{
	n->number = filter_is_word(p, value, "true");
	if (!n->number && !filter_is_word(p, value, "false"))
		return filter_fail(p, value->at, "\"%s\" is either true or false",
				   field_table[n->field].path);
	return 0;
}

static int need_text(struct filter_parser *p, const struct filter_node *n,
		     const struct filter_token *value)
{
	int len = (int)MIN(value->len, (size_t)32);

	if (value->kind == TOKEN_STRING)
		return 0;
	return filter_fail(p, value->at, "\"%s\" is text, which needs quotes: \"%.*s\"",
			   field_table[n->field].path, len, p->expr + value->at);
}

static int text_value(struct filter_parser *p, struct filter_node *n,
		      const struct filter_token *value)
{
	bool args = field_table[n->field].kind == FIELD_ARGS;
	struct filter_text text;
	int r = need_text(p, n, value);

	if (r == 0)
		r = filter_unquote(p, value, &text);
	if (r < 0)
		return r;
	n->text = text;
	n->op = args ? FILTER_ARGUMENT : FILTER_TEXT;
	if (n->field == EXEUNT_F_USER || n->field == EXEUNT_F_LOGIN_USER) {
		n->op = FILTER_ACCOUNT;
		n->has_id = filter_user_id(p, text.data, &n->id);
	} else if (n->field == EXEUNT_F_GROUP) {
		n->op = FILTER_ACCOUNT;
		n->has_id = filter_group_id(p, text.data, &n->id);
	}
	return 0;
}

static int pattern_value(struct filter_parser *p, struct filter_node *n,
			 const struct filter_token *value)
{
	_cleanup_free_
	char *name = NULL;
	bool args = field_table[n->field].kind == FIELD_ARGS;
	struct filter_pattern *pattern;
	struct filter_text text;
	char why[128] = "";
	int r = need_text(p, n, value);

	if (r == 0)
		r = filter_unquote(p, value, &text);
	if (r < 0)
		return r;
	name = text.data;
	r = filter_pattern_new(&pattern, text.data, text.len, why, sizeof(why));
	if (r == -EINVAL)
		return filter_fail(p, value->at, "%s", why);
	if (r < 0)
		return r;
	if (p->prompt && !filter_pattern_is_plain(pattern)) {
		filter_pattern_free(pattern);
		return filter_fail(p, value->at,
				   "only plain text can be searched for here, tied to the start "
				   "by ^ or to the end by $");
	}
	n->pattern = pattern;
	n->op = args ? FILTER_LINE : FILTER_PATTERN;
	if (p->filter->line || (!args && filter_pattern_is_plain(pattern)))
		return 0;
	p->filter->line = malloc(FILTER_LINE_SIZE + 1);
	return p->filter->line ? 0 : -ENOMEM;
}

/* Fields of fixed width. */
static int scalar_value(struct filter_parser *p, struct filter_node *n,
			const struct filter_token *value)
{
	bool string = value->kind == TOKEN_STRING;

	if (n->field == EXEUNT_F_EXIT_SIGNAL)
		return signal_value(p, n, value);
	if (string && (is_id_of_user(n->field) || is_id_of_group(n->field)))
		return id_value(p, n, value);
	if ((n->field == EXEUNT_F_LOGIN_UID || n->field == EXEUNT_F_SESSION) &&
	    filter_is_word(p, value, "unset")) {
		n->number = ID_UNSET;
		return 0;
	}
	return filter_number(p, n, value);
}

/* The operator must be one that the field's kind knows. */
static int check_operator(struct filter_parser *p, const struct filter_node *n, bool match,
			  const struct filter_token *op)
{
	enum field_kind kind = field_table[n->field].kind;
	const char *path = field_table[n->field].path;
	bool text = kind == FIELD_BYTES || kind == FIELD_COMM || kind == FIELD_ARGS ||
		    kind == FIELD_CAUSE || kind == FIELD_SIGNAL_NAME;
	bool number =
		kind == FIELD_I32 || kind == FIELD_U32 || kind == FIELD_U64 || kind == FIELD_TIME;
	bool order = !match && n->compare != COMPARE_EQ && n->compare != COMPARE_NE;

	if (kind == FIELD_ENTITY)
		return filter_fail(p, op->at, "\"%s\" can only be asked for by exists()", path);
	if (match && !text)
		return filter_fail(p, op->at, "\"%s\" is not text: ~ cannot search it", path);
	if (order && !number)
		return filter_fail(p, op->at, "\"%s\" has no order: use == != ~ or in", path);
	return 0;
}

int filter_value(struct filter_parser *p, struct filter_node *n, bool match,
		 const struct filter_token *op, const struct filter_token *value)
{
	int r = check_operator(p, n, match, op);

	if (r < 0)
		return r;
	if (match)
		return pattern_value(p, n, value);
	switch (field_table[n->field].kind) {
	case FIELD_BYTES:
	case FIELD_COMM:
	case FIELD_ARGS:
		return text_value(p, n, value);
	case FIELD_I32:
		n->op = FILTER_I32;
		return scalar_value(p, n, value);
	case FIELD_U32:
		n->op = FILTER_U32;
		return scalar_value(p, n, value);
	case FIELD_U64:
		n->op = FILTER_U64;
		return scalar_value(p, n, value);
	case FIELD_TIME:
		n->op = FILTER_I64;
		return filter_time(p, n, value);
	case FIELD_BOOL:
		n->op = FILTER_BOOL;
		return bool_value(p, n, value);
	case FIELD_SIGNAL_NAME:
		n->op = FILTER_U32;
		return signal_value(p, n, value);
	case FIELD_CAUSE:
		n->op = FILTER_U32;
		return word_value(p, n, value, "cause", filter_cause_name);
	case FIELD_SOURCES:
		n->op = FILTER_SOURCE;
		return word_value(p, n, value, "source", source_word);
	case FIELD_PATHS:
		n->op = FILTER_PATH;
		return path_value(p, n, value);
	case FIELD_ENTITY:
		break;
	}
	return -EINVAL;
}
