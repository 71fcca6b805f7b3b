/* SPDX-License-Identifier: MIT */
/* Makes SYSCALL records as kernels write them, from a seed, and damages them. */
#ifndef UNIT_AUDIT_LINES_H
#define UNIT_AUDIT_LINES_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

static uint64_t seed;

static uint32_t roll(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

struct buffer {
	char text[4096];
	size_t len;
};

PRINTF(2, 3)
static void add(struct buffer *b, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	b->len += (size_t)vsnprintf(b->text + b->len, sizeof(b->text) - b->len, format, list);
	va_end(list);
	assert_true(b->len < sizeof(b->text) - 1);
}

/* As audit_log_untrustedstring() does. */
static void add_untrusted(struct buffer *b, const char *p, size_t len)
{
	bool hex = false;

	for (size_t i = 0; i < len; i++)
		hex |= p[i] == '"' || p[i] < 0x21 || p[i] > 0x7e;
	if (!hex)
		add(b, "\"%.*s\"", (int)len, p);
	for (size_t i = 0; hex && i < len; i++)
		add(b, "%02X", (unsigned char)p[i]);
}

static void add_name(struct buffer *b, size_t max)
{
	static const char ordinary[] = "abcdefghijklmnopqrstuvwxyz0123456789/._-=()#@,;:'ABC";
	size_t len = 1 + roll((uint32_t)max - 1);
	bool odd = roll(4) == 0;
	char name[64];

	for (size_t i = 0; i < len; i++)
		name[i] = odd && roll(4) == 0 ? (char)(1 + roll(255))
					      : ordinary[roll(sizeof(ordinary) - 1)];
	add_untrusted(b, name, len);
}

static unsigned int some_id(void)
{
	static const unsigned int ids[] = { 0, 1, 33, 999, 1000, 1001, 65534, 4294967295U };

	return roll(3) ? ids[roll(ARRAY_SIZE(ids))] : roll(2000000000);
}

#define MAX_FIELDS 32

struct fields {
	struct buffer f[MAX_FIELDS];
	unsigned int n;
};

static struct buffer *field(struct fields *all)
{
	struct buffer *b = &all->f[all->n++];

	assert_true(all->n < MAX_FIELDS);
	b->len = 0;
	b->text[0] = 0;
	return b;
}

/* One record as the kernel writes it. */
static void make_fields(struct fields *all)
{
	static const char *const ids[] = { "auid",  "uid",  "gid",  "euid", "suid",
					   "fsuid", "egid", "sgid", "fsgid" };
	static const char *const ttys[] = { "pts0", "(none)", "tty1", "?" };
	struct buffer *b;

	all->n = 0;
	add(field(all), "arch=%s", roll(2) ? "c000003e" : "40000003");
	add(field(all), "syscall=%u", roll(450));
	if (roll(3) == 0) {
		add(field(all), "success=%s", roll(2) ? "yes" : "no");
		add(field(all), "exit=%d", (int)roll(200) - 100);
	}
	for (unsigned int i = 0; i < 4; i++)
		add(field(all), "a%u=%llx", i,
		    (unsigned long long)roll(1000000) << (roll(3) ? 0 : roll(44)));
	add(field(all), "items=%u", roll(3));
	add(field(all), "ppid=%u", roll(4194304));
	add(field(all), "pid=%u", roll(4194304));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		add(field(all), "%s=%u", ids[i], some_id());
	add(field(all), "tty=%s", ttys[roll(ARRAY_SIZE(ttys))]);
	add(field(all), "ses=%u", some_id());
	b = field(all);
	add(b, "comm=");
	add_name(b, 16);
	b = field(all);
	add(b, "exe=");
	add_name(b, 60);
	if (roll(2))
		add(field(all), "subj=unconfined");
	b = field(all);
	add(b, "key=");
	if (roll(3) == 0)
		add(b, "(null)");
	else
		add_name(b, 30);
}

static void swap_fields(struct fields *all)
{
	static struct buffer other;
	struct buffer *a = &all->f[roll(all->n)], *b = &all->f[roll(all->n)];

	other = *a;
	*a = *b;
	*b = other;
}

static void damage_value(struct buffer *b)
{
	static const char *const values[] = {
		"",	      "-1",   "0x10", "4294967296", "99999999999999999999",
		"2147483648", "demo", "12x",  "\"12\"",	    "(null)",
		"616",	      "6a6b", "?",    "\"open"
	};
	char *equal = strchr(b->text, '=');

	if (!equal)
		return;
	b->len = (size_t)(equal + 1 - b->text);
	add(b, "%s", values[roll(ARRAY_SIZE(values))]);
}

static inline struct buffer *duplicate_field(struct fields *all)
{
	struct buffer *copy = field(all);

	*copy = all->f[roll(all->n - 1)];
	return copy;
}

/* What becomes of records on their way: each kind of damage is rare, several may meet. */
static void damage_fields(struct fields *all)
{
	unsigned int at = roll(all->n);

	if (roll(4) == 0)
		swap_fields(all);
	if (roll(8) == 0)
		damage_value(&all->f[at]);
	if (roll(8) == 0 && all->n + 1 < MAX_FIELDS)
		damage_value(duplicate_field(all));
	if (roll(8) == 0 && all->n + 1 < MAX_FIELDS)
		add(field(all), "unknown%u=%u", roll(9), roll(99));
	if (roll(8) == 0) {
		all->f[at] = all->f[all->n - 1];
		all->n--;
	}
}

static void join_line(struct buffer *line, const struct fields *all, unsigned int serial)
{
	line->len = 0;
	if (roll(8) == 0)
		add(line, "node=host%u.example ", roll(9));
	add(line, "type=SYSCALL msg=audit(%u.%03u:%u):", 1700000000 + roll(9999), roll(1000),
	    serial);
	for (unsigned int i = 0; i < all->n; i++)
		add(line, "%s%s", roll(20) ? " " : "  ", all->f[i].text);
	if (roll(3) == 0)
		add(line, "\x1d"
			  "ARCH=x86_64 SYSCALL=exit_group AUID=\"alice\" UID=\"bob\"");
}

/* Damage to bytes of the raw part behind the head. */
static void damage_line(struct buffer *line)
{
	char *start = strstr(line->text, "):") + 3, *p;
	char *end = line->text + line->len;

	if (roll(10) == 0) {
		p = start + roll((uint32_t)(end - start));
		line->len = (size_t)(p - line->text);
		*p = 0;
	} else if (roll(10) == 0) {
		p = start + roll((uint32_t)(end - start));
		if (*p != 0x1d)
			*p = (char)(0x21 + roll(0x5e));
	}
}

#endif
