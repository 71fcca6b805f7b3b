/* SPDX-License-Identifier: MIT */
/* Text of unknown origin as JSON strings. Plain ASCII goes eight bytes at a time; see json.h for the rest. */
#include "sink/json-internal.h"

#include "base/utf8.h"

#define ALL(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not zero if one of the eight bytes is a control character, a quote, a backslash, or not ASCII. */
static inline uint64_t special(uint64_t w)
{
	uint64_t control = w - ALL(0x20);
	uint64_t quote = (w ^ ALL('"')) - ALL(1);
	uint64_t backslash = (w ^ ALL('\\')) - ALL(1);
	uint64_t del =
		w + ALL(1); /* 0x7f becomes 0x80; a carry comes from bytes that count anyway */

	/* Each difference has its high bit set by the byte looked for, or by a byte above 0x7f, which counts too. */
	return (control | quote | backslash | del | w) & ALL(0x80);
}

static char *put_control(char *p, uint32_t c)
{
	static const char letters[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
	};

	*p++ = '\\';
	if (c < 32 && letters[c]) {
		*p++ = letters[c];
		return p;
	}
	p = FMT_LIT(p, "u00");
	*p++ = (char)('0' + (c >> 4));
	*p++ = "0123456789abcdef"[c & 15];
	return p;
}

static char *escape_slowly(char *p, const char *s, size_t len, bool *invalid)
{
	const char *end = s + len;

	while (s < end) {
		uint32_t c;
		int n = utf8_decode(s, (size_t)(end - s), &c);

		if (n < 0) {
			p = FMT_LIT(p, UTF8_REPLACEMENT);
			*invalid = true;
			s -= n;
			continue;
		}
		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = (char)c;
		} else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
			p = put_control(p, c);
		} else {
			p = fmt_mem(p, s, (size_t)n);
		}
		s += n;
	}
	return p;
}

/* Up to seven bytes, in two loads that overlap, so that nothing behind the text is read. */
static inline bool put_short(char *p, const char *s, size_t len)
{
	uint64_t w;

	if (len >= 4) {
		uint32_t first = load_u32(s);
		uint32_t last = load_u32(s + len - 4);

		w = first | (uint64_t)last << 32;
		memcpy(p, &first, 4);
		memcpy(p + len - 4, &last, 4);
		return !special(w);
	}
	if (len == 0)
		return true;
	p[0] = s[0];
	p[len / 2] = s[len / 2];
	p[len - 1] = s[len - 1];
	w = (unsigned char)s[0] | (unsigned int)(unsigned char)s[len / 2] << 8 |
	    (unsigned int)(unsigned char)s[len - 1] << 16;
	return !special(w | (ALL(' ') << 24));
}

char *json_escape(char *p, const char *s, size_t len, bool *invalid)
{
	size_t done = 0;

	if (len < 8) {
		if (likely(put_short(p, s, len)))
			return p + len;
		return escape_slowly(p, s, len, invalid);
	}
	for (; done + 8 <= len; done += 8) {
		uint64_t w = load_u64(s + done);

		if (unlikely(special(w)))
			return escape_slowly(p + done, s + done, len - done, invalid);
		memcpy(p + done, &w, 8);
	}
	if (unlikely(special(load_u64(s + len - 8))))
		return escape_slowly(p + done, s + done, len - done, invalid);
	memcpy(p + len - 8, s + len - 8, 8);
	return p + len;
}

static const char *last_key(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static char *sibling_key(char *p, const char *path)
{
	p = FMT_LIT(p, ",\"");
	p = fmt_str(p, last_key(path));
	return FMT_LIT(p, "_hex\":");
}

char *json_hex_sibling(char *p, const char *path, const char *s, size_t len)
{
	*p++ = '"';
	p = sibling_key(p, path);
	*p++ = '"';
	return fmt_hex_bytes(p, s, len);
}

char *json_quoted(char *p, const char *path, const char *s, size_t len)
{
	bool invalid = false;

	*p++ = '"';
	p = json_escape(p, s, len, &invalid);
	if (unlikely(invalid))
		p = json_hex_sibling(p, path, s, len);
	*p++ = '"';
	return p;
}

static char *array_hex(char *p, const char *path, const struct exeunt_bytes *items, uint32_t n)
{
	p = sibling_key(p, path);
	*p++ = '[';
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			*p++ = ',';
		*p++ = '"';
		p = fmt_hex_bytes(p, items[i].data, items[i].len);
		*p++ = '"';
	}
	*p++ = ']';
	return p;
}

char *json_array(char *p, const char *path, const struct exeunt_bytes *items, uint32_t n)
{
	bool invalid = false;

	*p++ = '[';
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			*p++ = ',';
		*p++ = '"';
		p = json_escape(p, items[i].data, items[i].len, &invalid);
		*p++ = '"';
	}
	*p++ = ']';
	return unlikely(invalid) ? array_hex(p, path, items, n) : p;
}

char *json_long(char *p, const char *path, uint64_t v)
{
	if (likely(v <= JSON_INT_MAX))
		return fmt_long(p, v);
	p = fmt_u64(p, JSON_INT_MAX);
	p = sibling_key(p, path);
	*p++ = '"';
	p = fmt_hex64(p, v);
	*p++ = '"';
	return p;
}
