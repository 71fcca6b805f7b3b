/* SPDX-License-Identifier: MIT */
/* Cuts a filter expression into tokens. Looks at bytes only: what a word or number means is not decided here. */
#include "record/filter-internal.h"

#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The byte at an offset, NUL behind the end: the expression is a C string. */
static char byte(const struct filter_parser *p, size_t at)
{
	return at < p->len ? p->expr[at] : '\0';
}

bool filter_is_word(const struct filter_parser *p, const struct filter_token *t, const char *word)
{
	return strlen(word) == t->len && !strncasecmp(p->expr + t->at, word, t->len);
}

/* SIGRTMIN+3: the only words with a sign in them. */
static size_t realtime_suffix(const struct filter_parser *p, const struct filter_token *t)
{
	static const char *const names[] = { "SIGRTMIN", "SIGRTMAX", "RTMIN", "RTMAX" };
	size_t end = t->at + t->len;
	size_t n = 0;

	if (byte(p, end) != '+' && byte(p, end) != '-')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!filter_is_word(p, t, names[i]))
			continue;
		while (is_digit(byte(p, end + 1 + n)))
			n++;
	}
	return n ? n + 1 : 0;
}

static int word(struct filter_parser *p, struct filter_token *t)
{
	static const struct {
		const char *name;
		enum filter_token_kind kind;
	} keywords[] = {
		{ "and", TOKEN_AND }, { "or", TOKEN_OR },	  { "not", TOKEN_NOT },
		{ "in", TOKEN_IN },   { "exists", TOKEN_EXISTS },
	};

	t->kind = TOKEN_WORD;
	while (is_letter(byte(p, t->at + t->len)) || is_digit(byte(p, t->at + t->len)) ||
	       byte(p, t->at + t->len) == '.')
		t->len++;
	t->len += realtime_suffix(p, t);
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++) {
		if (filter_is_word(p, t, keywords[i].name))
			t->kind = keywords[i].kind;
	}
	return 0;
}

static int number(struct filter_parser *p, struct filter_token *t)
{
	t->kind = TOKEN_NUMBER;
	t->len = 1;
	while (is_letter(byte(p, t->at + t->len)) || is_digit(byte(p, t->at + t->len)) ||
	       byte(p, t->at + t->len) == '.')
		t->len++;
	return 0;
}

static int string(struct filter_parser *p, struct filter_token *t)
{
	char quote = byte(p, t->at);
	size_t end = t->at + 1;

	while (end < p->len && p->expr[end] != quote)
		end += p->expr[end] == '\\' ? 2 : 1;
	if (end >= p->len)
		return filter_fail(p, t->at, "the text that starts here has no closing %c", quote);
	t->kind = TOKEN_STRING;
	t->len = end + 1 - t->at;
	return 0;
}

static int operator(struct filter_parser *p, struct filter_token *t)
{
	/* The longer ones first. */
	static const struct {
		const char *text;
		enum filter_token_kind kind;
		uint8_t compare;
	} operators[] = {
		{ "==", TOKEN_COMPARE, COMPARE_EQ },
		{ "!=", TOKEN_COMPARE, COMPARE_NE },
		{ "<=", TOKEN_COMPARE, COMPARE_LESS | COMPARE_EQUAL },
		{ ">=", TOKEN_COMPARE, COMPARE_GREATER | COMPARE_EQUAL },
		{ "!~", TOKEN_MATCH, COMPARE_NE },
		{ "&&", TOKEN_AND, 0 },
		{ "||", TOKEN_OR, 0 },
		{ "<", TOKEN_COMPARE, COMPARE_LESS },
		{ ">", TOKEN_COMPARE, COMPARE_GREATER },
		{ "~", TOKEN_MATCH, COMPARE_EQ },
		{ "!", TOKEN_NOT, 0 },
		{ "(", TOKEN_OPEN, 0 },
		{ ")", TOKEN_CLOSE, 0 },
		{ ",", TOKEN_COMMA, 0 },
	};
	static const struct {
		const char *text, *meant;
	} habits[] = { { "=~", "~" }, { "=", "==" }, { "&", "&&" }, { "|", "||" } };
	const char *rest = p->expr + t->at;

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (strncmp(rest, operators[i].text, strlen(operators[i].text)) != 0)
			continue;
		t->kind = operators[i].kind;
		t->compare = operators[i].compare;
		t->len = strlen(operators[i].text);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(habits); i++) {
		if (!strncmp(rest, habits[i].text, strlen(habits[i].text)))
			return filter_fail(p, t->at,
					   "there is no operator \"%s\" (did you mean \"%s\"?)",
					   habits[i].text, habits[i].meant);
	}
	return filter_fail(p, t->at, "nothing can start with this character");
}

int filter_next(struct filter_parser *p)
{
	struct filter_token t = { .at = p->token.at + p->token.len };
	int r;
	char c;

	while (is_blank(byte(p, t.at)))
		t.at++;
	c = byte(p, t.at);
	if (t.at >= p->len)
		r = 0;
	else if (is_letter(c))
		r = word(p, &t);
	else if (is_digit(c) || (c == '-' && is_digit(byte(p, t.at + 1))))
		r = number(p, &t);
	else if (c == '"' || c == '\'')
		r = string(p, &t);
	else
		r = operator(p, &t);
	p->token = t;
	return r;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape at `s`, which holds the backslash and at least one more byte. Returns the bytes read. */
static size_t unescape(const char *s, size_t len, char **out)
{
	static const char from[] = "\\\"'nrt", to[] = "\\\"'\n\r\t";
	const char *found = strchr(from, s[1]);

	if (found && *found) {
		*(*out)++ = to[found - from];
		return 2;
	}
	if (s[1] == 'x' && len >= 4 && hex_digit(s[2]) >= 0 && hex_digit(s[3]) >= 0) {
		*(*out)++ = (char)(hex_digit(s[2]) << 4 | hex_digit(s[3]));
		return 4;
	}
	/* Any other stays as it is, so that a regular expression needs no second backslash. */
	*(*out)++ = s[0];
	*(*out)++ = s[1];
	return 2;
}

int filter_unquote(const struct filter_parser *p, const struct filter_token *t,
		   struct filter_text *ret)
{
	const char *s = p->expr + t->at + 1;
	size_t len = t->len - 2;
	char *out;

	ret->data = malloc(len + 1);
	if (!ret->data)
		return -ENOMEM;
	out = ret->data;
	while (len > 0) {
		size_t n = 1;

		if (s[0] == '\\' && len > 1)
			n = unescape(s, len, &out);
		else
			*out++ = s[0];
		s += n;
		len -= n;
	}
	*out = '\0';
	ret->len = (size_t)(out - ret->data);
	return 0;
}
