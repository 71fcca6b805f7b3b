/* SPDX-License-Identifier: MIT */
/* Arguments: bounds and redaction; see context-args.h. */
#include "join/context-args.h"

#include <locale.h>
#include <regex.h>

#include "base/util.h"

/*
 * Room behind the bound for the NUL of a last argument that was cut, and for ARGS_CUT with its NUL.
 */
#define SLACK 8

/* Text, and for each byte whether it is the blank between two arguments. */
struct text {
	char *bytes;
	bool *gap;
	size_t len;
	bool cut;
};

struct args_rules {
	struct text a, b; /* the text, and where the next pattern writes it */
	size_t size;	  /* of each, without SLACK */
	uint32_t max_args;
	struct exeunt_bytes *parts;
	regex_t *patterns;
	size_t n_patterns;
};

static int text_init(struct text *t, size_t size)
{
	*t = (struct text){ .bytes = calloc(size, 1), .gap = calloc(size, sizeof(*t->gap)) };
	return t->bytes && t->gap ? 0 : -ENOMEM;
}

static void text_done(struct text *t)
{
	free(t->bytes);
	free(t->gap);
}

/*
 * Under the C locale a pattern works on bytes. Else "." would stop at what is not UTF-8, and let a
 * secret with such a byte in it pass.
 */
static int compile(struct args_rules *r, const char *const *patterns, size_t n, size_t *bad)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL), old;
	int error = 0;

	if (!c)
		return -ENOMEM;
	old = uselocale(c);
	for (; r->n_patterns < n && !error; r->n_patterns += !error)
		error = regcomp(&r->patterns[r->n_patterns], patterns[r->n_patterns], REG_EXTENDED);
	uselocale(old);
	freelocale(c);
	if (error && bad)
		*bad = r->n_patterns;
	return !error ? 0 : error == REG_ESPACE ? -ENOMEM : -EINVAL;
}

int args_rules_new(struct args_rules **ret, const char *const *patterns, size_t n_patterns,
		   uint32_t max_bytes, uint32_t max_args, size_t *bad)
{
	struct args_rules *r;
	int error;

	*ret = NULL;
	if (!max_bytes || !max_args || max_args > UINT16_MAX - 1)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->size = (size_t)max_bytes + 1;
	r->max_args = max_args;
	r->parts = calloc((size_t)max_args + 1, sizeof(*r->parts));
	r->patterns = calloc(n_patterns + 1, sizeof(*r->patterns));
	error = r->parts && r->patterns ? 0 : -ENOMEM;
	if (!error)
		error = text_init(&r->a, r->size + SLACK);
	if (!error)
		error = text_init(&r->b, r->size + SLACK);
	if (!error)
		error = compile(r, patterns, n_patterns, bad);
	if (error)
		args_rules_free(r);
	else
		*ret = r;
	return error;
}

void args_rules_free(struct args_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_patterns; i++)
		regfree(&r->patterns[i]);
	free(r->patterns);
	free(r->parts);
	text_done(&r->a);
	text_done(&r->b);
	free(r);
}

char *args_buffer(struct args_rules *r, size_t *size)
{
	*size = r->size;
	return r->a.bytes;
}

size_t args_put(struct args_rules *r, const struct exeunt_bytes *args, uint32_t n)
{
	size_t len = 0;

	for (uint32_t i = 0; i < n && len < r->size; i++) {
		size_t room = r->size - len, take = MIN((size_t)args[i].len, room);

		if (take)
			memcpy(r->a.bytes + len, args[i].data, take);
		len += take;
		if (len < r->size)
			r->a.bytes[len++] = '\0';
	}
	return len;
}

bool args_redacts(const struct args_rules *r)
{
	return r->n_patterns;
}

/*
 * NULs become gaps. Cuts at the bounds. Half an argument is left out where there are patterns: they
 * could not recognise it.
 */
static void split(struct args_rules *r, size_t len, unsigned int flags)
{
	struct text *t = &r->a;
	uint32_t n = 1;

	t->cut = len >= r->size;
	t->len = MIN(len, r->size - 1);
	if (!t->cut && t->len && !t->bytes[t->len - 1])
		t->len--;
	while (flags & ARGS_TRIM && !t->cut && t->len && !t->bytes[t->len - 1])
		t->len--;
	t->cut |= (flags & ARGS_OPEN_END) != 0;
	for (size_t i = 0; i < t->len; i++) {
		t->gap[i] = !t->bytes[i];
		if (!t->gap[i])
			continue;
		t->bytes[i] = ' ';
		if (n++ == r->max_args) {
			t->len = i;
			t->cut = true;
			return;
		}
	}
	if (t->cut && r->n_patterns)
		while (t->len && !t->gap[--t->len])
			;
}

/* Appends to the text; what has no room is cut off. */
static void put(const struct args_rules *r, struct text *to, const char *bytes, const bool *gap,
		size_t n)
{
	if (n > r->size - 1 - to->len) {
		n = r->size - 1 - to->len;
		to->cut = true;
	}
	memcpy(to->bytes + to->len, bytes, n);
	if (gap)
		memcpy(to->gap + to->len, gap, n * sizeof(*gap));
	else
		memset(to->gap + to->len, 0, n * sizeof(*to->gap));
	to->len += n;
}

/*
 * Copies [from, to) of text a to b, with what matches replaced. Returns false when the matcher
 * failed.
 */
static bool redact_range(struct args_rules *r, const regex_t *pattern, size_t from, size_t to)
{
	const char *base = r->a.bytes + from;
	const bool *gap = r->a.gap + from;
	size_t len = to - from, at = 0;

	while (at < len) {
		regmatch_t m = { .rm_so = (regoff_t)at, .rm_eo = (regoff_t)len };
		int error = regexec(pattern, base, 1, &m, REG_STARTEND);
		size_t start, end;

		if (error && error != REG_NOMATCH)
			return false;
		start = error ? len : (size_t)m.rm_so;
		end = error ? len : (size_t)m.rm_eo;
		put(r, &r->b, base + at, gap + at, start - at);
		if (end > start)
			put(r, &r->b, ARGS_REDACTED, NULL, strlen(ARGS_REDACTED));
		else if (start < len)
			put(r, &r->b, base + start, gap + start, 1);
		at = MAX(end, start + 1);
	}
	return true;
}

static size_t arg_end(const struct text *t, size_t from)
{
	while (from < t->len && !t->gap[from])
		from++;
	return from;
}

static bool redact(struct args_rules *r, const regex_t *pattern, bool joined)
{
	struct text t;

	r->b.len = 0;
	r->b.cut = r->a.cut;
	for (size_t from = 0; from < r->a.len;) {
		size_t end = joined ? r->a.len : arg_end(&r->a, from);

		if (!redact_range(r, pattern, from, end))
			return false;
		if (end < r->a.len)
			put(r, &r->b, r->a.bytes + end, r->a.gap + end, 1);
		from = end + 1;
	}
	t = r->a;
	r->a = r->b;
	r->b = t;
	return true;
}

static void redact_all(struct args_rules *r)
{
	for (size_t i = 0; i < 2 * r->n_patterns; i++)
		if (!redact(r, &r->patterns[i % r->n_patterns], i < r->n_patterns)) {
			/* no memory to look for secrets: then nothing may be told */
			r->a.len = 0;
			put(r, &r->a, ARGS_REDACTED, NULL, strlen(ARGS_REDACTED));
			break;
		}
	explicit_bzero(r->a.bytes + r->a.len, r->size + SLACK - r->a.len);
	explicit_bzero(r->b.bytes, r->size + SLACK);
}

int args_take(struct args_rules *r, size_t len, unsigned int flags, struct args_list *ret)
{
	struct text *t = &r->a;
	size_t from = 0;

	*ret = (struct args_list){ 0 };
	if (!len)
		return 0;
	split(r, len, flags);
	if (r->n_patterns)
		redact_all(r);
	/* nothing but a cut: there is no argument, not even an empty one */
	for (size_t end; (t->len || !t->cut) && from <= t->len; from = end + 1) {
		end = arg_end(t, from);
		t->bytes[end] = '\0';
		r->parts[ret->n_parts++] =
			(struct exeunt_bytes){ t->bytes + from, (uint32_t)(end - from) };
	}
	if (t->cut) {
		memcpy(t->bytes + from, ARGS_CUT, sizeof(ARGS_CUT));
		r->parts[ret->n_parts++] =
			(struct exeunt_bytes){ t->bytes + from, sizeof(ARGS_CUT) - 1 };
		from += sizeof(ARGS_CUT);
	}
	ret->data = t->bytes;
	ret->len = from;
	ret->parts = r->parts;
	ret->cut = t->cut;
	return ret->n_parts;
}
