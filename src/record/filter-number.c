/* SPDX-License-Identifier: MIT */
/*
 * Numbers with units, and times, of the filter language. Exact: a number is kept as a whole number of the field's
 * unit, and what lies between two of those changes the comparison instead of being rounded.
 */
#include "record/filter-internal.h"

#include <strings.h>
#include <time.h>

/* UINT64_MAX has 20 digits; with these bounds 128 bits hold every product below. */
#define DIGITS_MAX 20
#define FRACTION_MAX 9

struct unit {
	const char *name;
	uint64_t factor; /* in ns, or in bytes */
};

static const struct unit durations[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", UINT64_C(1000000000) },
	{ "m", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ "d", UINT64_C(86400000000000) },
	{ NULL, 0 },
};

static const struct unit sizes[] = {
	{ "K", UINT64_C(1) << 10 },   { "M", UINT64_C(1) << 20 },   { "G", UINT64_C(1) << 30 },
	{ "T", UINT64_C(1) << 40 },   { "KiB", UINT64_C(1) << 10 }, { "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 }, { "TiB", UINT64_C(1) << 40 }, { NULL, 0 },
};

/* How a unit of the field table is counted: in steps of `step` ns or bytes. */
static const struct {
	const struct unit *units;
	uint64_t step;
	bool any_case;
	const char *hint;
} measures[] = {
	[UNIT_NONE] = { NULL, 1, false, "it takes a number without a unit" },
	[UNIT_US] = { durations, 1000, false, "a duration has one of ns us ms s m h d" },
	[UNIT_NS] = { durations, 1, false, "a duration has one of ns us ms s m h d" },
	[UNIT_BYTES] = { sizes, 1, true, "a size has one of K M G T" },
};

/* What is left to read of a value. */
struct cursor {
	const char *s;
	size_t len;
};

static bool next_is(const struct cursor *c, char wanted)
{
	return c->len > 0 && *c->s == wanted;
}

static bool next_is_digit(const struct cursor *c)
{
	return c->len > 0 && *c->s >= '0' && *c->s <= '9';
}

static bool take(struct cursor *c, char wanted)
{
	if (!next_is(c, wanted))
		return false;
	c->s++;
	c->len--;
	return true;
}

/* Decimal digits, at most `max`. Returns how many; -ERANGE if there are more. */
static int take_digits(struct cursor *c, int max, unsigned __int128 *ret)
{
	unsigned __int128 v = 0;
	int n = 0;

	for (; next_is_digit(c); c->s++, c->len--) {
		if (++n > max)
			return -ERANGE;
		v = v * 10 + (unsigned int)(*c->s - '0');
	}
	*ret = v;
	return n;
}

static uint64_t power10(int n)
{
	uint64_t v = 1;

	while (n-- > 0)
		v *= 10;
	return v;
}

/* All of 0x1f. Returns false if it is not that; *ret is then not set. */
static bool hexadecimal(const char *s, size_t len, uint64_t *ret)
{
	char buf[20], *end;

	if (len < 3 || len > 18 || s[0] != '0' || (s[1] | 0x20) != 'x')
		return false;
	memcpy(buf, s, len);
	buf[len] = '\0';
	*ret = strtoull(buf, &end, 16);
	return *end == '\0';
}

/* ns or bytes of the unit that is left in `c`, a step if none is; 0: there is no such unit. */
static uint64_t factor(const struct cursor *c, enum field_unit kind)
{
	const struct unit *u = measures[kind].units;

	if (c->len == 0)
		return measures[kind].step;
	for (; u && u->name; u++) {
		if (strlen(u->name) != c->len)
			continue;
		if (measures[kind].any_case ? !strncasecmp(u->name, c->s, c->len)
					    : !memcmp(u->name, c->s, c->len))
			return u->factor;
	}
	return 0;
}

/*
 * The value without its sign, in steps of the field, rounded down; *between is set if it lies above that.
 * -EINVAL: not a number, or the wrong unit; -ERANGE: too large, or too many digits.
 */
static int magnitude(struct cursor c, enum field_unit kind, uint64_t *ret, bool *between)
{
	unsigned __int128 whole, fraction = 0, total;
	int n, places = 0;
	uint64_t unit;

	*between = false;
	if (hexadecimal(c.s, c.len, ret))
		return 0;
	n = take_digits(&c, DIGITS_MAX, &whole);
	if (n > 0 && take(&c, '.')) {
		places = take_digits(&c, FRACTION_MAX, &fraction);
		n = places ? places : -EINVAL;
	}
	if (n < 0)
		return n;
	unit = factor(&c, kind);
	if (!unit)
		return -EINVAL;
	/* < 10^20 * 2^57 < 2^124; the sum is in steps of 10^places, so that nothing is lost */
	total = whole * unit + fraction * unit / power10(places);
	*between = fraction * unit % power10(places) != 0 || total % measures[kind].step != 0;
	total /= measures[kind].step;
	if (total > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)total;
	return 0;
}

static bool is_signed(const struct filter_node *n)
{
	return n->op == FILTER_I32 || n->op == FILTER_I64;
}

/* `v` is the whole number below the one that was written: less than that one means up to v, and so on. */
static void compare_with_between(struct filter_node *n)
{
	n->compare = (n->compare & COMPARE_LESS ? COMPARE_LESS | COMPARE_EQUAL : 0) |
		     (n->compare & COMPARE_GREATER);
}

int filter_number(struct filter_parser *p, struct filter_node *n, const struct filter_token *value)
{
	const struct field_info *f = &field_table[n->field];
	struct cursor c = { p->expr + value->at, value->len };
	bool negative = take(&c, '-'), between;
	uint64_t v;
	int r;

	if (value->kind != TOKEN_NUMBER)
		return filter_fail(p, value->at, "\"%s\" is a number: %s", f->path,
				   measures[f->unit].hint);
	r = magnitude(c, f->unit, &v, &between);
	if (r == -EINVAL)
		return filter_fail(p, value->at, "\"%.*s\" is no value of \"%s\": %s",
				   (int)MIN(value->len, (size_t)32), p->expr + value->at, f->path,
				   measures[f->unit].hint);
	if (r == -ERANGE || (is_signed(n) && v > INT64_MAX))
		return filter_fail(p, value->at, "this number is too large");
	if (negative && !is_signed(n))
		return filter_fail(p, value->at, "\"%s\" is never negative", f->path);
	/* Minus 0.5 lies between -1 and 0. */
	n->number = negative ? -v - between : v;
	if (is_signed(n))
		n->number += FILTER_SIGN_BIAS;
	if (between)
		compare_with_between(n);
	return 0;
}

/* Two digits up to `max`, or -1. */
static int take_two(struct cursor *c, int max)
{
	unsigned __int128 v;

	if (c->len < 2 || take_digits(&(struct cursor){ c->s, 2 }, 2, &v) != 2 || (int)v > max)
		return -1;
	c->s += 2;
	c->len -= 2;
	return (int)v;
}

/* "Z", "+02:00" or nothing, which is the local time of `tm`. Seconds since 1970. */
static int take_zone(struct cursor *c, struct tm *tm, int64_t *ret)
{
	bool west = next_is(c, '-');
	int hours, minutes;

	if (c->len == 0) {
		tm->tm_isdst = -1;
		*ret = mktime(tm);
		return 0;
	}
	*ret = timegm(tm);
	if (take(c, 'Z') || take(c, 'z'))
		return 0;
	if (!take(c, '+') && !take(c, '-'))
		return -EINVAL;
	hours = take_two(c, 23);
	if (hours < 0 || !take(c, ':'))
		return -EINVAL;
	minutes = take_two(c, 59);
	if (minutes < 0)
		return -EINVAL;
	*ret += (west ? 60 : -60) * (hours * 60 + minutes);
	return 0;
}

static int take_date(struct cursor *c, struct tm *tm)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int century = take_two(c, 99), year = take_two(c, 99);
	bool leap;

	if (century < 0 || year < 0 || !take(c, '-'))
		return -EINVAL;
	tm->tm_year = century * 100 + year - 1900;
	tm->tm_mon = take_two(c, 12) - 1;
	if (tm->tm_mon < 0 || !take(c, '-'))
		return -EINVAL;
	tm->tm_mday = take_two(c, days[tm->tm_mon]);
	leap = year % 4 == 0 && (year != 0 || century % 4 == 0);
	return tm->tm_mday < 1 || (tm->tm_mon == 1 && tm->tm_mday == 29 && !leap) ? -EINVAL : 0;
}

/* "T03:04", perhaps with seconds, perhaps with a fraction of them. */
static int take_clock(struct cursor *c, struct tm *tm, int64_t *ns)
{
	unsigned __int128 fraction;
	int n;

	if (!take(c, 'T') && !take(c, 't') && !take(c, ' '))
		return -EINVAL;
	tm->tm_hour = take_two(c, 23);
	if (tm->tm_hour < 0 || !take(c, ':'))
		return -EINVAL;
	tm->tm_min = take_two(c, 59);
	if (tm->tm_min < 0)
		return -EINVAL;
	if (!take(c, ':'))
		return 0;
	tm->tm_sec = take_two(c, 60);
	if (tm->tm_sec < 0)
		return -EINVAL;
	if (!take(c, '.'))
		return 0;
	n = take_digits(c, FRACTION_MAX, &fraction);
	if (n <= 0)
		return -EINVAL;
	*ns = (int64_t)fraction * (int64_t)power10(FRACTION_MAX - n);
	return 0;
}

static int parse_time(struct cursor c, int64_t *ret)
{
	struct tm tm = { 0 };
	int64_t ns = 0, seconds;
	int r = take_date(&c, &tm);

	if (r == 0 && c.len > 0)
		r = take_clock(&c, &tm, &ns);
	if (r == 0)
		r = take_zone(&c, &tm, &seconds);
	if (r == 0 && c.len > 0)
		r = -EINVAL;
	if (r == 0 && (__builtin_mul_overflow(seconds, NS_PER_SEC, ret) ||
		       __builtin_add_overflow(*ret, ns, ret)))
		r = -ERANGE;
	return r;
}

int filter_time(struct filter_parser *p, struct filter_node *n, const struct filter_token *value)
{
	struct cursor c = { p->expr + value->at + 1, value->len - 2 };
	int64_t t;
	int r;

	r = value->kind == TOKEN_STRING ? parse_time(c, &t) : -EINVAL;
	if (r == -ERANGE)
		return filter_fail(p, value->at, "this time is outside of what can be recorded");
	if (r < 0)
		return filter_fail(p, value->at,
				   "\"%s\" is a time, such as \"2026-01-02T03:04:05Z\" or "
				   "\"2026-01-02 03:04\" (local time)",
				   field_table[n->field].path);
	n->number = (uint64_t)t + FILTER_SIGN_BIAS;
	return 0;
}
