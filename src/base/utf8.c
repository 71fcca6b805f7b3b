/* SPDX-License-Identifier: MIT */
/* See utf8.h. */
#include "base/utf8.h"

#include <wchar.h>

/* Marks on one character that are let through; more is a drawing over the neighbouring lines. */
#define MARKS_MAX 3

int utf8_decode(const char *s, size_t len, uint32_t *cp)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned char lo = 0x80;
	unsigned char hi = 0xbf;
	uint32_t c = u[0];
	int n;

	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	if (c < 0xc2 || c > 0xf4)
		return -1;
	n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	/* The second byte tells overlong forms, surrogates and what is above U+10FFFF. */
	if (c == 0xe0)
		lo = 0xa0;
	else if (c == 0xed)
		hi = 0x9f;
	else if (c == 0xf0)
		lo = 0x90;
	else if (c == 0xf4)
		hi = 0x8f;
	c &= 0xffu >> (n + 1);
	for (int i = 1; i < n; i++) {
		if ((size_t)i >= len || u[i] < lo || u[i] > hi)
			return -i;
		c = c << 6 | (u[i] & 0x3f);
		lo = 0x80;
		hi = 0xbf;
	}
	*cp = c;
	return n;
}

/* Characters that wcwidth() may count as printable, but that reorder, hide or break text. */
static bool is_deceptive(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1f },	      { 0x7f, 0x9f },	    { 0xad, 0xad },
		{ 0x34f, 0x34f },     { 0x61c, 0x61c },	    { 0x115f, 0x1160 },
		{ 0x17b4, 0x17b5 },   { 0x180b, 0x180f },   { 0x200b, 0x200f },
		{ 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges) && c >= ranges[i].first; i++) {
		if (c <= ranges[i].last)
			return true;
	}
	return false;
}

static int escape_byte(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	char letter = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : c == '\\' ? '\\' : 0;

	out[0] = '\\';
	if (letter) {
		out[1] = letter;
		return 2;
	}
	out[1] = 'x';
	out[2] = digits[c >> 4];
	out[3] = digits[c & 15];
	return 4;
}

/* One unit of output: a character as it is, or the escape of `bytes` bytes. */
struct unit {
	char text[16];
	int len;
	int width;
	int bytes;
};

static void next_unit(struct unit *u, const char *s, size_t len, int marks)
{
	uint32_t c = 0;
	int n = utf8_decode(s, len, &c);
	int width = -1;

	if (n > 0 && c != '\\' && !is_deceptive(c))
		width = c < 0x80 ? 1 : wcwidth((wchar_t)c);
	if (width == 0 && marks >= MARKS_MAX)
		width = -1;
	u->bytes = n < 0 ? -n : n;
	if (width >= 0) {
		memcpy(u->text, s, (size_t)n);
		u->len = n;
		u->width = width;
		return;
	}
	u->len = 0;
	for (int i = 0; i < u->bytes; i++)
		u->len += escape_byte(u->text + u->len, (unsigned char)s[i]);
	u->width = u->len;
}

char *utf8_visible(char *p, const char *s, size_t len, int columns, int *used)
{
	char *cut = p; /* where the '+' goes if what follows does not fit */
	int cut_col = 0;
	int col = 0;
	int marks =
		MARKS_MAX; /* a mark with nothing before it would sit on the neighbouring column */

	while (len > 0) {
		struct unit u;

		next_unit(&u, s, len, marks);
		if (columns >= 0 && col + u.width > columns) {
			p = cut;
			col = cut_col;
			if (columns > 0) {
				*p++ = '+';
				col++;
			}
			break;
		}
		memcpy(p, u.text, (size_t)u.len);
		p += u.len;
		col += u.width;
		marks = u.width == 0 ? marks + 1 : 0;
		if (col < columns) {
			cut = p;
			cut_col = col;
		}
		s += u.bytes;
		len -= (size_t)u.bytes;
	}
	if (used)
		*used = col;
	return p;
}
