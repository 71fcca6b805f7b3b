/* SPDX-License-Identifier: MIT */
/* Messages about a filter expression: the place, a caret under it, and the name that was probably meant. */
#include "record/filter-internal.h"

#include <ctype.h>
#include <stdarg.h>

#include "base/utf8.h"

/* Longer words get no suggestion. */
#define WORD_LENGTH 48
/* So many columns of the expression are shown around the place. */
#define WINDOW 72
#define BEFORE 48

/* Bytes of the character at `s` if it may be shown as it is; 0: show something else for this one byte. */
static size_t printable(const char *s, size_t len)
{
	uint32_t cp;
	int n = utf8_decode(s, len, &cp);

	return n < 0 || cp < 0x20 || (cp >= 0x7f && cp < 0xa0) ? 0 : (size_t)n;
}

/* Characters in the first `len` bytes. */
static size_t columns(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++)
		i += MAX(printable(s + i, len - i), (size_t)1);
	return n;
}

/* Where to write; what does not fit is left out, never half a character. */
struct out {
	char *buf;
	size_t size, len;
};

static void put(struct out *o, const char *s, size_t len)
{
	if (o->len + len >= o->size)
		return;
	memcpy(o->buf + o->len, s, len);
	o->len += len;
	o->buf[o->len] = '\0';
}

static void put_shown(struct out *o, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = printable(s + i, len - i);

		put(o, n ? s + i : "?", n ? n : 1);
		i += MAX(n, (size_t)1);
	}
}

/* The expression, or the window of it around the place, and the caret in a line below. */
static void put_place(struct out *o, const struct filter_parser *p, size_t at)
{
	size_t start = 0, end = p->len, caret = columns(p->expr, at);

	while (caret > BEFORE) {
		start += MAX(printable(p->expr + start, p->len - start), (size_t)1);
		caret--;
	}
	if (columns(p->expr + start, end - start) > WINDOW) {
		end = start;
		for (size_t n = 0; n < WINDOW; n++)
			end += MAX(printable(p->expr + end, p->len - end), (size_t)1);
	}
	put(o, "\n  ", 3);
	put(o, "...", start > 0 ? 3 : 0);
	put_shown(o, p->expr + start, end - start);
	put(o, "...", end < p->len ? 3 : 0);
	put(o, "\n  ", 3);
	put(o, "   ", start > 0 ? 3 : 0);
	while (caret-- > 0)
		put(o, " ", 1);
	put(o, "^", 1);
}

static void fail(struct filter_parser *p, size_t at, const char *message)
{
	struct out o = { .buf = p->error, .size = p->error_size };
	char place[48];
	int n;

	n = snprintf(place, sizeof(place), "filter: column %zu: ", columns(p->expr, at) + 1);
	put(&o, place, (size_t)n);
	put_shown(&o, message, strlen(message));
	put_place(&o, p, at);
}

int filter_fail(struct filter_parser *p, size_t at, const char *format, ...)
{
	char message[FILTER_ERROR_SIZE / 4];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fail(p, at, message);
	return -EINVAL;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Insertions, deletions, changes and swaps of neighbours that turn one word into the other (optimal alignment).
 * Upper and lower case are the same here.
 */
static unsigned int distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int row[3][WORD_LENGTH + 1];
	unsigned int *before = row[0], *last = row[1], *now = row[2];

	if (n > WORD_LENGTH || m > WORD_LENGTH)
		return UINT32_MAX;
	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned int)j;
	memset(row[0], 0, sizeof(row[0]));
	for (size_t i = 1; i <= n; i++) {
		unsigned int *oldest = before;

		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned int d = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);

			d = MIN(d, last[j] + 1);
			d = MIN(d, now[j - 1] + 1);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]))
				d = MIN(d, before[j - 2] + 1);
			now[j] = d;
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[m];
}

/* The known name nearest to a word so far. */
struct guess {
	const char *word;
	size_t len;
	unsigned int best;
	const char *name;
};

static struct guess guess_start(const char *word, size_t len)
{
	/* A third of the letters wrong is another word. */
	return (struct guess){ .word = word, .len = len, .best = (unsigned int)len / 3 + 1 };
}

static void guess_try(struct guess *g, const char *name)
{
	unsigned int d = distance(g->word, g->len, name, strlen(name));

	if (d < g->best) {
		g->best = d;
		g->name = name;
	}
}

static int fail_guess(struct filter_parser *p, size_t at, const char *what, const struct guess *g)
{
	int len = (int)MIN(g->len, (size_t)WORD_LENGTH);

	if (g->name)
		return filter_fail(p, at, "unknown %s \"%.*s\" (did you mean \"%s\"?)", what, len,
				   g->word, g->name);
	return filter_fail(p, at, "unknown %s \"%.*s\"", what, len, g->word);
}

int filter_fail_word(struct filter_parser *p, const struct filter_token *t, const char *what,
		     const char *(*name)(unsigned int i))
{
	bool quoted = t->kind == TOKEN_STRING;
	struct guess g = guess_start(p->expr + t->at + quoted, t->len - 2 * quoted);
	const char *n;

	for (unsigned int i = 0; (n = name(i)); i++)
		guess_try(&g, n);
	return fail_guess(p, t->at, what, &g);
}

/* "id" ends several paths: names the first few of them. */
static int fail_ambiguous(struct filter_parser *p, const char *name, size_t len, size_t at)
{
	char list[160] = "";
	size_t used = 0, more = 0;

	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		const char *path = field_table[i].path;
		size_t n = strlen(path);

		if (n <= len || path[n - len - 1] != '.' || memcmp(path + n - len, name, len) != 0)
			continue;
		if (more || used + n + 3 > sizeof(list)) {
			more++;
			continue;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
					 path);
	}
	return filter_fail(p, at, "\"%.*s\" is not one field: %s%s",
			   (int)MIN(len, (size_t)WORD_LENGTH), name, list, more ? " ..." : "");
}

int filter_fail_field(struct filter_parser *p, const char *name, size_t len, size_t at)
{
	struct guess g = guess_start(name, len);

	if (field_find(name, len) == -ENOTUNIQ)
		return fail_ambiguous(p, name, len, at);
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		const char *end = field_table[i].path;

		if (field_table[i].alias)
			guess_try(&g, field_table[i].alias);
		/* The whole path and each end of it that is a name too. */
		while (end) {
			if (field_find(end, strlen(end)) == i)
				guess_try(&g, end);
			end = strchr(end, '.');
			end = end ? end + 1 : NULL;
		}
	}
	return fail_guess(p, at, "field", &g);
}
