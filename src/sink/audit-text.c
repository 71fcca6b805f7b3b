/* SPDX-License-Identifier: MIT */
/* The inner text: one table of fields, and audit's way to write each kind. See audit-line.h. */
#include "sink/audit-line.h"

#include <exeunt/exeunt.h>

#include "base/format.h"
#include "record/fields.h"

#define FIXED_MAX 1280 /* names, numbers, quotes, marks and the words of ours */
#define MARK "..."
#define ARGS_MAX 1024

enum how {
	HOW_PLAIN,  /* a number under a name that audit knows */
	HOW_SIGNED, /* one that it does not know */
	HOW_SECONDS,
	HOW_TIME,
	HOW_KIB,
	HOW_YES_NO,
	HOW_STRING,
	HOW_LABEL, /* bare, as long as it is harmless */
	HOW_ARGS,
};

struct row {
	const char *name; /* with its blank and = */
	uint8_t name_len, field, how;
	uint16_t max; /* bytes of text */
};

#define ROW(name, field, how, max)                                               \
	{                                                                        \
		" " name "=", sizeof(name) + 1, EXEUNT_F_##field, HOW_##how, max \
	}

static const struct row rows[] = {
	ROW("opid", PID, SIGNED, 0),
	ROW("otid", THREAD_ID, SIGNED, 0),
	ROW("oppid", PARENT_PID, SIGNED, 0),
	ROW("ouid", UID, PLAIN, 0),
	ROW("ogid", GID, PLAIN, 0),
	ROW("oauid", LOGIN_UID, PLAIN, 0),
	ROW("oses", SESSION, SIGNED, 0),
	ROW("obj", SUBJECT, LABEL, 128),
	ROW("ocomm", COMM, STRING, 20),
	ROW("exe", EXE_PATH, STRING, 1024),
	ROW("proctitle", ARGS, ARGS, ARGS_MAX),
	ROW("cgroup", CGROUP, STRING, 512),
	ROW("unit", UNIT, STRING, 256),
	ROW("terminal", TTY, LABEL, 32),
	ROW("exit", EXIT_CODE, PLAIN, 0),
	ROW("sig", EXIT_SIGNAL, PLAIN, 0),
	ROW("core", EXIT_CORE_DUMPED, YES_NO, 0),
	ROW("certain", EXIT_CERTAIN, YES_NO, 0),
	ROW("start", CREATION_TIME, TIME, 0),
	ROW("elapsed", ELAPSED, SECONDS, 0),
	ROW("utime", CPU_USER, SECONDS, 0),
	ROW("stime", CPU_SYSTEM, SECONDS, 0),
	ROW("maxrss", RSS_PEAK, KIB, 0),
	ROW("read", READ_BYTES, KIB, 0),
	ROW("written", WRITE_BYTES, KIB, 0),
};

/* What may stand between quotes. */
static const bool is_plain[256] = {
	[0x21] = true,
	[0x23 ... 0x26] = true,
	[0x28 ... 0x3c] = true,
	[0x3e ... 0x7e] = true,
};

static bool needs_hex(const char *s, size_t len)
{
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain &= is_plain[(unsigned char)s[i]];
	return !plain;
}

/* What cannot be taken for anything but a label or a terminal. */
static bool is_bare(const char *s, size_t len)
{
	static const char others[] = { '_', '-', ':', '.', ',', '/' };

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !memchr(others, c, sizeof(others)))
			return false;
	}
	return len > 0;
}

static char *put_hex(char *p, const char *s, size_t len)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < len; i++) {
		*p++ = digits[(unsigned char)s[i] >> 4];
		*p++ = digits[(unsigned char)s[i] & 15];
	}
	return p;
}

static char *put_string(char *p, const char *s, size_t len, size_t max)
{
	bool cut = len > max;

	len = MIN(len, max);
	if (needs_hex(s, len)) {
		p = put_hex(p, s, len);
		return cut ? put_hex(p, MARK, sizeof(MARK) - 1) : p;
	}
	*p++ = '"';
	p = fmt_mem(p, s, len);
	if (cut)
		p = FMT_LIT(p, MARK);
	*p++ = '"';
	return p;
}

static char *put_bytes(char *p, const struct row *row, const char *s, size_t len)
{
	if (row->how == HOW_LABEL && len <= row->max && is_bare(s, len))
		return fmt_mem(p, s, len);
	return put_string(p, s, len, row->max);
}

/* As the kernel has a command line: with a NUL between two arguments. */
static char *put_args(char *p, const struct exeunt_record *r)
{
	char text[ARGS_MAX + 1];
	size_t len = 0;

	for (uint32_t i = 0; i < r->n_args && len < sizeof(text); i++) {
		size_t n = MIN(r->args[i].len, sizeof(text) - len);

		if (i)
			text[len++] = '\0';
		n = MIN(n, sizeof(text) - len);
		if (n)
			memcpy(text + len, r->args[i].data, n);
		len += n;
	}
	return put_string(p, text, len, ARGS_MAX);
}

static uint64_t number(const struct exeunt_record *r, enum exeunt_field field)
{
	const void *p = field_ptr(r, field);

	if (field_table[field].kind == FIELD_U64 || field_table[field].kind == FIELD_TIME)
		return load_u64(p);
	if (field_table[field].kind == FIELD_I32)
		return (uint64_t)(int64_t)(int32_t)load_u32(p);
	return load_u32(p);
}

/* "+5"; a negative number has a sign already. */
static char *put_signed(char *p, uint64_t v)
{
	if ((int64_t)v >= 0)
		*p++ = '+';
	return fmt_i64(p, (int64_t)v);
}

/* `places` digits behind the point, of 10^places parts of a second. */
static char *put_decimal(char *p, uint64_t whole, uint32_t part, unsigned int places)
{
	p = fmt_u64(p, whole);
	*p++ = '.';
	for (unsigned int i = places; i > 0; i--) {
		p[i - 1] = (char)('0' + part % 10);
		part /= 10;
	}
	return p + places;
}

static char *put_time(char *p, int64_t ns)
{
	if (ns < 0)
		return FMT_LIT(p, "?");
	return put_decimal(p, (uint64_t)(ns / NS_PER_SEC),
			   (uint32_t)(ns % NS_PER_SEC / NS_PER_MSEC), 3);
}

static char *put_yes_no(char *p, bool b)
{
	return b ? FMT_LIT(p, "yes") : FMT_LIT(p, "no");
}

/* What was not told; but what ended by itself was not killed, and only what is uncertain is said to be. */
static char *put_absent(char *p, const struct exeunt_record *r, const struct row *row)
{
	bool exited = exeunt_has(r, EXEUNT_F_EXIT_CODE);
	bool killed = exeunt_has(r, EXEUNT_F_EXIT_SIGNAL);

	if (row->field == EXEUNT_F_EXIT_SIGNAL && exited)
		return FMT_LIT(p, "0");
	if (row->field == EXEUNT_F_EXIT_CORE_DUMPED && exited)
		return FMT_LIT(p, "no");
	if (row->field == EXEUNT_F_EXIT_CERTAIN && (exited || killed))
		return FMT_LIT(p, "yes");
	return FMT_LIT(p, "?");
}

static char *put_value(char *p, const struct exeunt_record *r, const struct row *row)
{
	const struct exeunt_bytes *bytes;
	bool flag;

	switch ((enum how)row->how) {
	case HOW_PLAIN:
		return fmt_i64(p, (int64_t)number(r, row->field));
	case HOW_SIGNED:
		return put_signed(p, number(r, row->field));
	case HOW_SECONDS:
		return put_decimal(p, number(r, row->field) / 1000000,
				   (uint32_t)(number(r, row->field) % 1000000), 6);
	case HOW_TIME:
		return put_time(p, (int64_t)number(r, row->field));
	case HOW_KIB:
		p = fmt_u64(p, number(r, row->field) / 1024);
		return FMT_LIT(p, "k");
	case HOW_YES_NO:
		memcpy(&flag, field_ptr(r, row->field), sizeof(flag));
		return put_yes_no(p, flag);
	case HOW_ARGS:
		return put_args(p, r);
	case HOW_STRING:
	case HOW_LABEL:
		break;
	}
	if (field_table[row->field].kind == FIELD_COMM)
		return put_bytes(p, row, r->comm, strnlen(r->comm, sizeof(r->comm)));
	bytes = field_ptr(r, row->field);
	return put_bytes(p, row, bytes->data, bytes->len);
}

static char *put_process(char *p, const struct exeunt_record *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (row->field == EXEUNT_F_THREAD_ID && r->type != EXEUNT_TYPE_THREAD)
			continue;
		p = fmt_mem(p, row->name, row->name_len);
		p = exeunt_has(r, row->field) ? put_value(p, r, row) : put_absent(p, r, row);
	}
	return FMT_LIT(p, " res=success");
}

#define COUNT(p, name, v) put_signed(FMT_LIT(p, " " name "="), (v))

static char *put_loss(char *p, const struct exeunt_loss *l)
{
	p = fmt_str(FMT_LIT(p, " source="), exeunt_source_name(l->source));
	p = fmt_str(FMT_LIT(p, " cause="), exeunt_loss_cause_name(l->cause));
	p = COUNT(p, "count", l->count);
	p = put_yes_no(FMT_LIT(p, " exact="), l->exact);
	p = COUNT(p, "backfilled", l->backfilled);
	p = FMT_LIT(p, " start=");
	p = l->window_start_ns ? put_time(p, l->window_start_ns) : FMT_LIT(p, "?");
	p = FMT_LIT(p, " end=");
	p = l->window_end_ns ? put_time(p, l->window_end_ns) : FMT_LIT(p, "?");
	return FMT_LIT(p, " res=failed");
}

static char *put_word(char *p, const char *s)
{
	return s ? put_string(p, s, strlen(s), 64) : FMT_LIT(p, "?");
}

/* Those that are open. */
static char *put_sources(char *p, const struct exeunt_status *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n_sources && i < EXEUNT_SOURCE_COUNT; i++) {
		if (s->sources[i].state != EXEUNT_STATE_OPEN)
			continue;
		if (any)
			*p++ = ',';
		p = fmt_str(p, exeunt_source_name(s->sources[i].source));
		any = true;
	}
	return any ? p : FMT_LIT(p, "?");
}

static char *put_status(char *p, const struct exeunt_status *s)
{
	const struct exeunt_balance *b = &s->balance;

	p = put_word(FMT_LIT(p, " version="), s->version);
	p = put_word(FMT_LIT(p, " kernel="), s->kernel_release);
	p = put_sources(FMT_LIT(p, " sources="), s);
	p = COUNT(p, "exits", b->exits);
	p = COUNT(p, "backfilled", b->backfilled);
	p = COUNT(p, "lost", b->lost);
	p = COUNT(p, "lost_output", b->lost_output);
	p = COUNT(p, "filtered", b->filtered);
	p = COUNT(p, "unparsable", b->unparsable);
	p = COUNT(p, "evicted", b->evicted);
	p = COUNT(p, "pending", b->pending);
	p = COUNT(p, "records", b->records);
	return FMT_LIT(p, " res=success");
}

static const char *op_name(const struct exeunt_record *r)
{
	static const char *const names[] = {
		[EXEUNT_TYPE_EXIT] = "process-exit",
		[EXEUNT_TYPE_THREAD] = "thread-exit",
		[EXEUNT_TYPE_AMEND] = "process-exit-amend",
		[EXEUNT_TYPE_LOSS] = "process-exit-loss",
		[EXEUNT_TYPE_START] = "exeunt-start",
		[EXEUNT_TYPE_STATUS] = "exeunt-status",
		[EXEUNT_TYPE_STOP] = "exeunt-stop",
		[EXEUNT_TYPE_INTERIM] = "process-interim",
	};

	return r->type < ARRAY_SIZE(names) && names[r->type] ? names[r->type] : "?";
}

static size_t args_len(const struct exeunt_record *r)
{
	size_t len = 0;

	for (uint32_t i = 0; i < r->n_args && len < ARGS_MAX; i++)
		len += r->args[i].len + 1;
	return MIN(len, (size_t)ARGS_MAX);
}

size_t audit_text_bound(const struct exeunt_record *r)
{
	size_t len = 0;

	if (r->loss || r->status)
		return FIXED_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!exeunt_has(r, row->field))
			continue;
		if (row->how == HOW_ARGS)
			len += args_len(r);
		else if (row->field == EXEUNT_F_COMM)
			len += sizeof(r->comm);
		else if (row->max)
			len += MIN(((const struct exeunt_bytes *)field_ptr(r, row->field))->len,
				   row->max);
	}
	return FIXED_MAX + 2 * len;
}

size_t audit_text(const struct exeunt_record *r, char *buf, size_t size)
{
	char *p = buf;

	if (size < audit_text_bound(r))
		return 0;
	p = fmt_str(FMT_LIT(p, "op="), op_name(r));
	p = COUNT(p, "seq", r->seq);
	if (r->loss)
		p = put_loss(p, r->loss);
	else if (r->status)
		p = put_status(p, r->status);
	else
		p = put_process(p, r);
	return (size_t)(p - buf);
}
