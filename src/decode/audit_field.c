/* SPDX-License-Identifier: MIT */
/* Owns nothing: see audit_field.h. */
#include "decode/audit_field.h"

#include "base/util.h"
#include "decode/audit_text.h"

void audit_fields_begin(struct audit_cursor *ret, struct exeunt_bytes text)
{
	*ret = (struct audit_cursor){ .at = text.data, .end = text.data + text.len };
}

uint64_t audit_name_key(const char *name)
{
	return audit_load_le64(name);
}

/* Where the name ends, with words that have no '=' put aside; NULL at the end. */
static const char *find_name_slow(struct audit_cursor *c, struct audit_field *ret)
{
	const char *p = c->at, *words = NULL, *words_end = NULL;

	for (;;) {
		const char *start;

		while (p < c->end && (unsigned char)*p <= ' ')
			p++;
		start = p;
		while (p < c->end && *p != '=' && *p != ' ')
			p++;
		if (p < c->end && *p == '=' && p > start) {
			c->at = start;
			break;
		}
		/* A word that begins with '=' has no name; nor has anything in it. */
		p = audit_find_near(p, c->end, ' ');
		if (!words)
			words = start;
		words_end = p;
		if (p >= c->end) {
			c->at = p;
			break;
		}
	}
	if (words)
		ret->before = audit_slice(words, words_end);
	if (p < c->end)
		return p;
	c->tail = ret->before;
	return NULL;
}

static bool name_next(struct audit_cursor *c, struct audit_field *ret)
{
	const char *p = c->at, *eq;

	ret->before = (struct exeunt_bytes){ 0 };
	while (p < c->end && *p == ' ')
		p++;
	c->at = p;
	if (c->end - p >= 8) {
		uint64_t word = audit_load_le64(p), equal = audit_match_bytes(word, '=');
		size_t n = equal ? audit_match_index(equal) : 0;

		if (n) {
			uint64_t key = word & ((UINT64_C(1) << (8 * n)) - 1);

			if (likely(!audit_match_bytes(key | ~UINT64_C(0) << (8 * n), ' '))) {
				ret->name = audit_slice(p, p + n);
				ret->key = key;
				c->at = p + n + 1;
				return true;
			}
		}
	}
	eq = find_name_slow(c, ret);
	if (!eq)
		return false;
	ret->name = audit_slice(c->at, eq);
	ret->key = 0;
	for (size_t i = MIN(ret->name.len, UINT32_C(8)); i > 0; i--)
		ret->key = ret->key << 8 | (unsigned char)ret->name.data[i - 1];
	c->at = eq + 1;
	return true;
}

/*
 * An enriched field that follows a closing quote or "(null)" without a blank: its separator got
 * lost on the way, and the walk ends there.
 */
static void end_at_glued(struct audit_cursor *c, const char *p)
{
	if (audit_is_enriched_name(p, c->end)) {
		c->glued = audit_slice(p, c->end);
		c->end = p;
	}
}

/* The kernel puts a program's text between msg=' and a last '; a ' within is the program's own. */
static const char *value_single(struct audit_cursor *c, struct audit_field *ret)
{
	const char *p = c->at + 1, *close = memrchr(p, '\'', (size_t)(c->end - p));

	ret->quote = close ? AUDIT_QUOTED : AUDIT_UNTERMINATED;
	ret->value = audit_slice(p, close ? close : c->end);
	return close ? close + 1 : c->end;
}

static const char *value_double(struct audit_cursor *c, struct audit_field *ret)
{
	const char *p = c->at + 1, *close = memchr(p, '"', (size_t)(c->end - p));

	ret->quote = close ? AUDIT_QUOTED : AUDIT_UNTERMINATED;
	ret->value = audit_slice(p, close ? close : c->end);
	if (!close)
		return c->end;
	end_at_glued(c, close + 1);
	return close + 1;
}

static const char *value_bare(struct audit_cursor *c, struct audit_field *ret)
{
	const char *p = c->at, *stop;

	ret->quote = AUDIT_BARE;
	stop = audit_find_near(p, c->end, ' ');
	if (unlikely(stop - p > 6 && *p == '(' && p[5] == ')')) {
		end_at_glued(c, p + 6);
		if (c->glued.data)
			stop = p + 6;
	}
	ret->value = audit_slice(p, stop);
	return stop;
}

bool audit_field_next(struct audit_cursor *c, struct audit_field *ret)
{
	char first;

	if (!name_next(c, ret))
		return false;
	first = c->at < c->end ? *c->at : ' ';
	if (first == '"')
		c->at = value_double(c, ret);
	else if (first == '\'')
		c->at = value_single(c, ret);
	else
		c->at = value_bare(c, ret);
	return true;
}

static inline int hex_digit(char c)
{
	if (audit_is_digit(c))
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int audit_decode_untrusted(struct exeunt_bytes *ret, const struct audit_field *field, char *buf,
			   size_t size)
{
	const char *text = field->value.data;
	uint32_t len = field->value.len;

	if (field->quote == AUDIT_QUOTED) {
		ret->data = text;
		ret->len = len;
		return 0;
	}
	if (field->quote == AUDIT_UNTERMINATED)
		return -EBADMSG;
	if (audit_is_no_value(text, len))
		return -ENODATA;
	if (len % 2)
		return -EBADMSG;
	if (len / 2 > size)
		return -ENOBUFS;
	for (uint32_t i = 0; i < len; i += 2) {
		int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

		if (high < 0 || low < 0)
			return -EBADMSG;
		buf[i / 2] = (char)(high << 4 | low);
	}
	*ret = audit_slice(buf, buf + len / 2);
	return 0;
}

int audit_decode_u64(uint64_t *ret, const struct exeunt_bytes *value)
{
	const char *end = value->data + value->len;

	if (value->len > 19)
		return -ERANGE;
	return audit_parse_digits(value->data, end, ret) == end ? 0 : -EBADMSG;
}

/* The kernel prints registers with %lx: lower case, no 0x in front. */
int audit_decode_hex(uint64_t *ret, const struct exeunt_bytes *value)
{
	uint64_t v = 0;

	if (value->len == 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < value->len; i++) {
		char c = value->data[i];

		if (audit_is_digit(c))
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			return -EBADMSG;
	}
	*ret = v;
	return value->len > 16 ? -ERANGE : 0;
}
