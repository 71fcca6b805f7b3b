/* SPDX-License-Identifier: MIT */
/*
 * Owns nothing: see audit_line.h. Names of types are in audit_types.c, the walk over the fields is
 * in audit_field.c.
 */
#include "decode/audit_line.h"

#include "base/util.h"
#include "decode/audit_text.h"
#include "decode/audit_types.h"

#define ENRICHED_SEPARATOR 0x1d /* AUDIT_INTERP_SEPARATOR in auditd */
/*
 * "SEC.MSEC:SERIAL)", optionally followed by blanks and a colon. auditd 4.2 with log_format RAW
 * cuts the last 16 bytes off the records of the kernel, so an id that merely ends too early has an
 * error of its own.
 */
static int parse_id(struct audit_line *ret, const char *p, const char *end, const char **rest)
{
	static const char separator[3] = { '.', ':', ')' };
	uint64_t v[3] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		const char *q = audit_parse_digits(p, end, &v[i]);

		if (p == end || q == end)
			return -ENOMSG;
		if (!q)
			return -EBADMSG;
		if (*q != separator[i])
			return memchr(q, ')', (size_t)(end - q)) ? -EPROTONOSUPPORT : -EBADMSG;
		if (i == 1 && q - p > 3)
			return -EBADMSG;
		p = q + 1;
	}
	if (v[0] >= INT64_MAX / NS_PER_SEC)
		return -EBADMSG;
	while (p < end && *p == ' ')
		p++;
	if (p < end && *p == ':')
		p++;
	ret->sec = (int64_t)v[0];
	ret->msec = (uint32_t)v[1];
	ret->serial = v[2];
	*rest = p;
	return 0;
}

static bool breaks_off(const char *p, const char *end, const char *word)
{
	size_t len = (size_t)(end - p);

	return len < strlen(word) && !memcmp(p, word, len);
}

/* "type=NAME msg=audit(ID): ", or as printk has it, "type=1300 audit(ID): ". */
static int parse_head(struct audit_line *ret, const char *p, const char *end, const char **rest)
{
	const char *name, *blank;

	if (!starts_with(p, end, "type=", 5))
		return -EBADMSG;
	name = p + 5;
	blank = audit_find_near(name, end, ' ');
	if (blank == name)
		return -EBADMSG;
	ret->type = audit_type_number(name, (size_t)(blank - name));
	p = blank + (blank < end);
	if (starts_with(p, end, "msg=", 4))
		p += 4;
	if (breaks_off(p, end, "msg=audit(") || breaks_off(p, end, "audit("))
		return -ENOMSG;
	if (!starts_with(p, end, "audit(", 6))
		return -EBADMSG;
	return parse_id(ret, p + 6, end, rest);
}

static int parse_node_and_head(struct audit_line *ret, const char *p, const char *end,
			       const char **rest)
{
	ret->node = audit_slice(p, p);
	if (starts_with(p, end, "node=", 5)) {
		const char *blank = audit_find_near(p + 5, end, ' ');

		if (blank == end || blank - p - 5 > AUDIT_NODE_MAX)
			return -EBADMSG;
		ret->node = audit_slice(p + 5, blank);
		p = blank + 1;
	}
	return parse_head(ret, p, end, rest);
}

/* Looks behind a foreign prefix, or behind a record that broke off where the next one starts. */
static int parse_prefixed(struct audit_line *ret, const char *text, const char *end,
			  const char **rest)
{
	const char *p = text;

	while ((p = memmem(p, (size_t)(end - p), "type=", 5))) {
		const char *start = p;
		int r;

		if (p > text && p[-1] == ' ') {
			const char *word = p - 1;

			while (word > text && word[-1] != ' ')
				word--;
			if (starts_with(word, end, "node=", 5))
				start = word;
		}
		r = start > text ? parse_node_and_head(ret, start, end, rest) : -EBADMSG;
		if (r == 0 || r == -EPROTONOSUPPORT) {
			ret->flags |= AUDIT_LINE_PREFIXED;
			return r;
		}
		p += 5;
	}
	return -EBADMSG;
}

/* rsyslog writes the separator as "#035"; an escape within quotes belongs to a value. */
static const char *find_escaped_separator(const char *p, const char *end)
{
	const char *from = p;
	bool quoted = false;

	while ((p = memchr(p, '#', (size_t)(end - p)))) {
		for (; from < p; from++)
			quoted ^= *from == '"';
		if (!quoted && starts_with(p, end, "#035", 4) && audit_is_enriched_name(p + 4, end))
			return p;
		p++;
	}
	return NULL;
}

static void split_enriched(struct audit_line *ret, const char *p, const char *end)
{
	const char *sep = memchr(p, ENRICHED_SEPARATOR, (size_t)(end - p));
	size_t width = 1;

	if (!sep) {
		sep = find_escaped_separator(p, end);
		width = 4;
	}
	ret->raw = audit_slice(p, sep ? sep : end);
	ret->enriched = sep ? audit_slice(sep + width, end) : audit_slice(end, end);
}

static const char *trim_end(const char *text, size_t len)
{
	while (len && (unsigned char)text[len - 1] <= ' ')
		len--;
	return text + len;
}

int audit_line_parse(struct audit_line *ret, const char *text, size_t len, unsigned int flags)
{
	const char *end, *rest;
	int r;

	if (len > AUDIT_LINE_MAX) {
		len = AUDIT_LINE_MAX;
		flags |= AUDIT_LINE_CUT;
	}
	end = trim_end(text, len);
	if (end == text)
		return -ENODATA;
	ret->type = -1;
	ret->flags = flags;
	r = parse_node_and_head(ret, text, end, &rest);
	if (r < 0) {
		struct audit_line other = { .type = -1, .flags = flags };
		int r2 = parse_prefixed(&other, text, end, &rest);

		if (r2 == -EBADMSG)
			return r;
		*ret = other;
		r = r2;
	}
	if (r < 0)
		return r;
	split_enriched(ret, rest, end);
	return 0;
}

int audit_line_parse_payload(struct audit_line *ret, int type, const char *text, size_t len)
{
	const char *end, *rest;
	int r;

	ret->flags = len > AUDIT_LINE_MAX ? AUDIT_LINE_CUT : 0;
	end = trim_end(text, MIN(len, (size_t)AUDIT_LINE_MAX));
	if (end == text)
		return -ENODATA;
	ret->type = type;
	ret->node = audit_slice(text, text);
	if (!starts_with(text, end, "audit(", 6))
		return -EBADMSG;
	r = parse_id(ret, text + 6, end, &rest);
	if (r < 0)
		return r;
	/* Nothing was added to it, so a 0x1d byte in it is a program's own. */
	ret->raw = audit_slice(rest, end);
	ret->enriched = audit_slice(end, end);
	return 0;
}
