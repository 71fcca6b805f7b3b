/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of the filter language: POSIX extended, compiled by regcomp(3). A pattern of plain characters,
 * perhaps tied to the start or the end, is searched without regexec(3), which allocates and takes ten times as long.
 * What could make the C library take exponential time or memory is refused: back-references, and repetitions that
 * multiply to much.
 */
#include "record/filter-internal.h"

#include <regex.h>

#define PATTERN_MAX 1024
#define GROUPS_MAX 64
/*
 * A repetition is so many copies of what it repeats (glibc posix/regcomp.c: parse_dup_op), and optional copies cost
 * the square of their number: a{0,10000} takes 2 s and 790 MB.
 */
#define EXPANDED_MAX 2048

struct filter_pattern {
	bool plain, at_start, at_end;
	char *text; /* plain: what to search */
	size_t len;
	regex_t regex; /* not plain */
};

static bool is_operator(char c)
{
	return c && strchr(".[]()*+?{}|^$", c);
}

/* Sets up a plain pattern. False if it is not plain. */
static bool plain(struct filter_pattern *p, const char *s, size_t len)
{
	p->at_start = len > 0 && s[0] == '^';
	for (size_t i = p->at_start; i < len; i++) {
		if (s[i] == '$' && i + 1 == len) {
			p->at_end = true;
			break;
		}
		if (is_operator(s[i]))
			return false;
		if (s[i] == '\\' && !(i + 1 < len && (is_operator(s[i + 1]) || s[i + 1] == '\\')))
			return false;
		i += s[i] == '\\';
		p->text[p->len++] = s[i];
	}
	p->plain = true;
	return true;
}

/* Behind a bracket expression that starts at `i`; `len` if it has no end. */
static size_t skip_bracket(const char *s, size_t len, size_t i)
{
	i++;
	i += i < len && s[i] == '^';
	i += i < len && s[i] == ']';
	while (i < len && s[i] != ']') {
		char kind = i + 1 < len ? s[i + 1] : '\0';

		if (s[i++] != '[' || (kind != ':' && kind != '.' && kind != '='))
			continue;
		for (i++; i + 1 < len && !(s[i] == kind && s[i + 1] == ']'); i++)
			;
		i += 2;
	}
	return MIN(i + 1, len);
}

/* Copies that {2}, {2,} or {2,7}, which starts at `s`, needs at most: one more than its larger number. */
static size_t repetitions(const char *s)
{
	size_t most = 0, n = 0;

	for (s++; (*s >= '0' && *s <= '9') || *s == ','; s++) {
		n = *s == ',' ? 0 : MIN(n * 10 + (size_t)(*s - '0'), (size_t)EXPANDED_MAX);
		most = MAX(most, n);
	}
	return most + 1;
}

/*
 * How large the pattern is when its repetitions are written out. Each open group has a sum; `last` is the size of
 * what a repetition would repeat.
 */
struct measure {
	size_t sum[GROUPS_MAX + 1];
	size_t depth, last;
};

static void measure_add(struct measure *m, size_t size)
{
	m->last = size;
	m->sum[m->depth] += size;
}

static const char *measure_repeat(struct measure *m, size_t times)
{
	m->sum[m->depth] += m->last * (times - 1);
	m->last *= times;
	return m->sum[m->depth] > EXPANDED_MAX ? "the regular expression repeats too much" : NULL;
}

/* Counts the element at `s`: a character, a bracket expression, a group's start or end, a repetition. */
static const char *measure_element(struct measure *m, const char *s)
{
	switch (*s) {
	case '(':
		if (m->depth == GROUPS_MAX)
			return "the regular expression has too many groups in each other";
		m->sum[++m->depth] = 0;
		return NULL;
	case ')':
		if (m->depth > 0) {
			m->depth--;
			measure_add(m, m->sum[m->depth + 1] + 1);
		}
		return NULL;
	case '{':
		return measure_repeat(m, repetitions(s));
	case '+':
		/* a+ is compiled as aa*, so that each of a++++ doubles it. */
		return measure_repeat(m, 2);
	case '*':
	case '?':
		return NULL;
	default:
		measure_add(m, 1);
		return NULL;
	}
}

static const char *refuse(const char *s, size_t len)
{
	struct measure m = { .sum = { 0 }, .last = 1 };
	const char *refused = NULL;

	if (memchr(s, '\0', len))
		return "a regular expression cannot hold a NUL byte";
	if (len > PATTERN_MAX)
		return "the regular expression is too long";
	for (size_t i = 0, used; i < len && !refused; i += used) {
		used = s[i] == '[' ? skip_bracket(s, len, i) - i : s[i] == '\\' ? 2 : 1;
		if (s[i] == '\\' && s[i + 1] >= '1' && s[i + 1] <= '9')
			return "a regular expression cannot refer back to its groups here";
		refused = measure_element(&m, s + i);
	}
	return refused;
}

int filter_pattern_new(struct filter_pattern **ret, const char *text, size_t len, char *why,
		       size_t why_size)
{
	const char *refused = refuse(text, len);
	struct filter_pattern *p;
	int r;

	if (refused) {
		snprintf(why, why_size, "%s", refused);
		return -EINVAL;
	}
	p = calloc(1, sizeof(*p));
	if (p)
		p->text = malloc(len + 1);
	if (!p || !p->text) {
		free(p);
		return -ENOMEM;
	}
	if (!plain(p, text, len)) {
		r = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
		if (r != 0) {
			regerror(r, &p->regex, why, why_size);
			free(p->text);
			free(p);
			return r == REG_ESPACE ? -ENOMEM : -EINVAL;
		}
	}
	*ret = p;
	return 0;
}

void filter_pattern_free(struct filter_pattern *p)
{
	if (!p)
		return;
	if (!p->plain)
		regfree(&p->regex);
	free(p->text);
	free(p);
}

static bool search_plain(const struct filter_pattern *p, const char *data, size_t len)
{
	if (len < p->len || (p->at_start && p->at_end && len != p->len))
		return false;
	if (p->len == 0)
		return true;
	if (p->at_start)
		return !memcmp(data, p->text, p->len);
	if (p->at_end)
		return !memcmp(data + len - p->len, p->text, p->len);
	return memmem(data, len, p->text, p->len) != NULL;
}

bool filter_pattern_is_plain(const struct filter_pattern *p)
{
	return p->plain;
}

bool filter_pattern_match(const struct filter_pattern *p, const char *data, size_t len,
			  char *scratch)
{
	regmatch_t span = { .rm_so = 0 };

	if (p->plain)
		return search_plain(p, data, len);
	len = MIN(len, (size_t)FILTER_LINE_SIZE);
	if (data != scratch && len > 0)
		memcpy(scratch, data, len);
	/* glibc stops at the given end and reads over a NUL before it; sanitizers look for a NUL, other libraries too. */
	scratch[len] = '\0';
	span.rm_eo = (regoff_t)len;
	return regexec(&p->regex, scratch, 1, &span, REG_STARTEND) == 0;
}
