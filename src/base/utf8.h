/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 that comes from hostile hands: strict decoding, and a form that is safe on any terminal.
 * Owns nothing, keeps no state; utf8_visible() depends on LC_CTYPE through wcwidth(3).
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/util.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes that one column of a terminal can take: a character and its combining marks, four bytes each. */
#define UTF8_VISIBLE_COLUMN_MAX 16

/*
 * Decodes one character; len > 0. Returns its length, 1 to 4, and sets *cp. Returns -n when the first n bytes are
 * no character: overlong, surrogate, above U+10FFFF, a stray or missing continuation. n is the longest part that
 * could have begun one (Unicode 15, section 3.9, "maximal subpart"), as other decoders count it.
 */
int utf8_decode(const char *s, size_t len, uint32_t *cp);

/*
 * Writes `len` bytes so that a terminal shows them and obeys none of them: control characters (C0, DEL, C1), bidi
 * and invisible characters, line separators, what the locale cannot print, and invalid bytes become \n \t \r or
 * \xHH for each byte; a backslash becomes \\, so that no text can pretend to be an escape.
 * With columns >= 0 at most that many columns are used, and the last is '+' where something was cut.
 * `p` must have room for 4 * len bytes, or with columns >= 0 for the smaller of that and
 * UTF8_VISIBLE_COLUMN_MAX * columns, plus 4. Returns the end; *used, unless NULL, is set to the columns taken.
 */
char *utf8_visible(char *p, const char *s, size_t len, int columns, int *used);

#endif
