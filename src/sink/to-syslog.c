/* SPDX-License-Identifier: MIT */
/*
 * syslog: one line a record to the host's logger, as syslog(3) sends it (RFC 3164 on a local socket), but never waiting. The
 * line is in key=value form and less than 1,024 bytes long, which every logger takes:
 *
 *	exeunt[9]: type=exit seq=7 pid=42 ppid=1 uid=0 user="root" comm="sh" code=1 elapsed=0.004 ... exe="/bin/sh" args="sh -c x"
 *
 * The keys are the short names of exeunt-record(5). Strings are in double quotes, with a backslash in front of a quote or
 * backslash and \xHH for each byte that is not printable ASCII. What does not fit is cut, and ends in "..."; the arguments
 * stand last, since they are the longest.
 */
#include <time.h>

#include <exeunt/exeunt.h>

#include "record/fields.h"
#include "sink/entry.h"
#include "sink/table.h"

#define SOCKET "/dev/log"
#define LINE_MAX_LEN 1000 /* less than 1,024 with whatever a logger puts in front of it */
#define TEXT_MAX 256	  /* of one string, but for the arguments */
#define FACILITY_DAEMON 3

/* What is told where no fields were asked for; more would be cut. */
static const enum exeunt_field usual[] = {
	EXEUNT_F_PID,
	EXEUNT_F_PARENT_PID,
	EXEUNT_F_COMM,
	EXEUNT_F_EXIT_CODE,
	EXEUNT_F_EXIT_SIGNAL_NAME,
	EXEUNT_F_EXIT_CORE_DUMPED,
	EXEUNT_F_EXIT_CERTAIN,
	EXEUNT_F_UID,
	EXEUNT_F_USER,
	EXEUNT_F_TTY,
	EXEUNT_F_UNIT,
	EXEUNT_F_CONTAINER_ID,
	EXEUNT_F_THREAD_ID,
	EXEUNT_F_ELAPSED,
	EXEUNT_F_CPU_USER,
	EXEUNT_F_CPU_SYSTEM,
	EXEUNT_F_RSS_PEAK,
	EXEUNT_F_LOGIN_UID,
	EXEUNT_F_SESSION,
	EXEUNT_F_EXE_PATH,
};

/* A line of a fixed length; what is behind its end is cut. */
struct cut_line {
	char *p, *end;
};

static void put(struct cut_line *l, const char *s)
{
	size_t n = MIN(strlen(s), (size_t)(l->end - l->p));

	l->p = fmt_mem(l->p, s, n);
}

/* One byte of a string as it stands in the line; returns its length. */
static size_t spell(char out[5], unsigned char c)
{
	if (c >= ' ' && c < 0x7f) {
		size_t n = 0;

		if (c == '"' || c == '\\')
			out[n++] = '\\';
		out[n++] = (char)c;
		return n;
	}
	return (size_t)snprintf(out, 5, "\\x%02x", c);
}

/* In quotes, and with "..." behind what was cut, all of it within `max` bytes. */
static void put_quoted(struct cut_line *l, const char *s, size_t len, size_t max)
{
	char *limit = l->p + MIN(max, (size_t)(l->end - l->p));
	char spelled[5];
	size_t n = 0;

	if (limit - l->p < 6)
		return;
	limit -= 4;
	*l->p++ = '"';
	for (size_t i = 0; i < len; i++) {
		n = spell(spelled, (unsigned char)s[i]);
		if ((size_t)(limit - l->p) < n) {
			l->p = FMT_LIT(l->p, "...");
			break;
		}
		memcpy(l->p, spelled, n);
		l->p += n;
	}
	*l->p++ = '"';
}

static const char *key_of(unsigned int field)
{
	const char *dot = strrchr(field_table[field].path, '.');

	if (field == EXEUNT_F_EXIT_SIGNAL_NAME)
		return "signal";
	if (field_table[field].alias)
		return field_table[field].alias;
	return dot ? dot + 1 : field_table[field].path;
}

static bool is_text(unsigned int field)
{
	return field_table[field].kind == FIELD_BYTES || field_table[field].kind == FIELD_COMM ||
	       field_table[field].kind == FIELD_ARGS;
}

/* Seconds where the value is a duration; all other numbers as they are. */
static int format_value(struct entry_sink *e, const struct exeunt_record *r, unsigned int field)
{
	uint64_t us;
	char text[48];

	e->value.len = 0;
	if (field_table[field].unit != UNIT_US)
		return plain_field(&e->plain, &e->value, r, field);
	us = *(const uint64_t *)field_ptr(r, field);
	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(us / 1000000),
		 (unsigned long long)(us % 1000000));
	return plain_str(&e->value, text);
}

static int put_field(struct entry_sink *e, struct cut_line *l, const struct exeunt_record *r,
		     unsigned int field, size_t max)
{
	const char *key = key_of(field);
	int status = exeunt_has(r, field) ? format_value(e, r, field) : 1;
	size_t need;

	if (status)
		return MIN(status, 0);
	need = strlen(key) + 2 + (is_text(field) ? 6 : e->value.len);
	if ((size_t)(l->end - l->p) < need)
		return 0;
	put(l, " ");
	put(l, key);
	put(l, "=");
	if (is_text(field))
		put_quoted(l, e->value.data, e->value.len, max);
	else
		l->p = fmt_mem(l->p, e->value.data, e->value.len);
	return 0;
}

static int put_process(struct entry_sink *e, struct cut_line *l, const struct exeunt_record *r)
{
	bool all = e->sink.options.fields;
	size_t n = all ? (size_t)EXEUNT_F_COUNT : ARRAY_SIZE(usual);
	int status = 0;

	for (size_t i = 0; i < n && status >= 0; i++) {
		unsigned int field = all ? (unsigned int)i : (unsigned int)usual[i];

		if (field != EXEUNT_F_ARGS)
			status = put_field(e, l, r, field, TEXT_MAX);
	}
	return status < 0 ? status : put_field(e, l, r, EXEUNT_F_ARGS, LINE_MAX_LEN);
}

static void put_other(struct cut_line *l, const struct exeunt_record *r)
{
	const struct exeunt_balance *b = r->status ? &r->status->balance : NULL;
	char text[320] = "";

	if (r->loss)
		snprintf(text, sizeof(text),
			 " source=%s cause=%s count=%llu exact=%s backfilled=%llu",
			 exeunt_source_name(r->loss->source),
			 exeunt_loss_cause_name(r->loss->cause), (unsigned long long)r->loss->count,
			 r->loss->exact ? "true" : "false",
			 (unsigned long long)r->loss->backfilled);
	else if (b)
		snprintf(text, sizeof(text),
			 " exits=%llu lost=%llu lost_output=%llu filtered=%llu records=%llu",
			 (unsigned long long)b->exits, (unsigned long long)b->lost,
			 (unsigned long long)b->lost_output, (unsigned long long)b->filtered,
			 (unsigned long long)b->records);
	put(l, text);
}

/* "<29>Jan  2 03:04:05 exeunt[9]: " in local time, in English whatever the locale is. */
static void put_head(struct cut_line *l, const struct exeunt_record *r)
{
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t second = r->time_ns / NS_PER_SEC;
	struct tm tm = { 0 };
	char text[128];

	localtime_r(&second, &tm);
	snprintf(text, sizeof(text), "<%d>%s %2d %02d:%02d:%02d exeunt[%d]: type=%s seq=%llu",
		 FACILITY_DAEMON << 3 | entry_priority(r), months[tm.tm_mon % 12], tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec, (int)getpid(),
		 exeunt_type_name((enum exeunt_type)r->type), (unsigned long long)r->seq);
	put(l, text);
}

static int write_line(struct entry_sink *e, const struct exeunt_record *r)
{
	int status = text_buffer_room(&e->text, LINE_MAX_LEN);
	struct cut_line l;

	if (status < 0)
		return status;
	l = (struct cut_line){ e->text.data, e->text.data + LINE_MAX_LEN };
	put_head(&l, r);
	if (r->loss || r->status)
		put_other(&l, r);
	else
		status = put_process(e, &l, r);
	e->text.len = (size_t)(l.p - e->text.data);
	return status;
}

static int syslog_new(struct sink **ret, const struct sink_options *o, char *error, size_t size)
{
	return entry_new(ret, &sink_syslog, o, SOCKET, write_line, error, size);
}

const struct sink_ops sink_syslog = {
	.word = "syslog",
	.target = "PATH",
	.target_optional = true,
	.help = "short lines to the logger at /dev/log, or at PATH",
	.new = syslog_new,
	.free = entry_free,
	.record = entry_record,
	.flush = entry_flush,
	.fd = entry_fd,
	.deadline = entry_deadline,
	.dispatch = entry_flush,
	.reload = entry_reload,
	.finish = entry_finish,
	.report = entry_report,
};
