/* SPDX-License-Identifier: MIT */
/*
 * journal: one entry a record in systemd's journal, by its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL). Not by
 * libsystemd: sd_journal_send() waits for a journald that is busy.
 *
 *	MESSAGE= a sentence, PRIORITY=, SYSLOG_IDENTIFIER=exeunt, EXEUNT_TYPE=, EXEUNT_SEQ=,
 *	EXEUNT_PROCESS_PID= and so on for each field that is present: the path in upper case with _ for each dot
 *	EXEUNT_LOSS_...=, EXEUNT_BALANCE_...= for losses, and for what the collector says of itself
 */
#include <ctype.h>

#include <exeunt/exeunt.h>

#include "record/fields.h"
#include "sink/entry.h"
#include "sink/table.h"
#include "sink/text.h"

#define SOCKET "/run/systemd/journal/socket"
#define NAME_MAX_LEN 64 /* journald's own bound */

/* A value with a newline or another control character goes with its length in front. */
static int put_value(struct text_buffer *b, const char *name, const char *data, size_t len)
{
	uint64_t le = htole64(len);
	bool plain = true;
	int r = plain_str(b, name);

	for (size_t i = 0; i < len; i++)
		plain &= (unsigned char)data[i] >= ' ';
	if (r >= 0)
		r = plain_str(b, plain ? "=" : "\n");
	if (r >= 0 && !plain)
		r = plain_bytes(b, &le, sizeof(le));
	if (r >= 0)
		r = plain_bytes(b, data, len);
	return r < 0 ? r : plain_str(b, "\n");
}

static int put_str(struct text_buffer *b, const char *name, const char *value)
{
	return put_value(b, name, value, strlen(value));
}

static int put_u64(struct text_buffer *b, const char *name, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return put_str(b, name, text);
}

static void journal_name(char *name, const char *path)
{
	size_t n = (size_t)snprintf(name, NAME_MAX_LEN, "EXEUNT_%s", path);

	for (size_t i = 0; i < n && name[i]; i++)
		name[i] = name[i] == '.' ? '_' : (char)toupper((unsigned char)name[i]);
}

static int put_fields(struct entry_sink *e, const struct exeunt_record *r)
{
	char name[NAME_MAX_LEN];
	int status = 0;

	for (unsigned int i = 0; i < EXEUNT_F_COUNT && status >= 0; i++) {
		if (!exeunt_has(r, i))
			continue;
		journal_name(name, field_table[i].path);
		e->value.len = 0;
		status = plain_field(&e->plain, &e->value, r, i);
		if (status >= 0)
			status = put_value(&e->text, name, e->value.data, e->value.len);
	}
	return status;
}

static int put_loss(struct text_buffer *b, const struct exeunt_loss *l)
{
	int r = put_str(b, "EXEUNT_LOSS_SOURCE", exeunt_source_name(l->source));

	if (r >= 0)
		r = put_str(b, "EXEUNT_LOSS_CAUSE", exeunt_loss_cause_name(l->cause));
	if (r >= 0)
		r = put_u64(b, "EXEUNT_LOSS_COUNT", l->count);
	if (r >= 0)
		r = put_str(b, "EXEUNT_LOSS_EXACT", l->exact ? "true" : "false");
	return r < 0 ? r : put_u64(b, "EXEUNT_LOSS_BACKFILLED", l->backfilled);
}

static int put_balance(struct text_buffer *b, const struct exeunt_balance *l)
{
	int r = put_u64(b, "EXEUNT_BALANCE_EXITS", l->exits);

	if (r >= 0)
		r = put_u64(b, "EXEUNT_BALANCE_LOST", l->lost);
	if (r >= 0)
		r = put_u64(b, "EXEUNT_BALANCE_LOST_OUTPUT", l->lost_output);
	if (r >= 0)
		r = put_u64(b, "EXEUNT_BALANCE_FILTERED", l->filtered);
	if (r >= 0)
		r = put_u64(b, "EXEUNT_BALANCE_BACKFILLED", l->backfilled);
	return r < 0 ? r : put_u64(b, "EXEUNT_BALANCE_RECORDS", l->records);
}

/* "exited with status 1", "was killed by SIGSEGV and dumped core" */
static void outcome(char *buf, size_t size, const struct exeunt_record *r)
{
	const char *signal = exeunt_signal_name(r->exit_signal);
	const char *doubt =
		exeunt_has(r, EXEUNT_F_EXIT_CERTAIN) && !r->exit_certain ? ", perhaps" : "";

	if (r->type == EXEUNT_TYPE_INTERIM)
		snprintf(buf, size, "still runs");
	else if (exeunt_has(r, EXEUNT_F_EXIT_SIGNAL) && signal)
		snprintf(buf, size, "was killed by %s%s%s", signal,
			 exeunt_has(r, EXEUNT_F_EXIT_CORE_DUMPED) && r->exit_core_dumped
				 ? " and dumped core"
				 : "",
			 doubt);
	else if (exeunt_has(r, EXEUNT_F_EXIT_SIGNAL))
		snprintf(buf, size, "was killed by signal %u%s", r->exit_signal, doubt);
	else if (exeunt_has(r, EXEUNT_F_EXIT_CODE))
		snprintf(buf, size, "exited with status %u%s", r->exit_code, doubt);
	else
		snprintf(buf, size, "ended");
}

/* "sh[123] of root exited with status 1"; safe on a terminal. */
static int process_sentence(struct text_buffer *b, const struct exeunt_record *r)
{
	bool thread = r->type == EXEUNT_TYPE_THREAD;
	char text[160];
	int status = 0;

	if (r->type == EXEUNT_TYPE_AMEND)
		status = plain_str(b, "more is known: ");
	else if (thread)
		status = plain_str(b, "thread ");
	if (status >= 0)
		status = text_field(b, r, thread ? EXEUNT_F_THREAD_NAME : EXEUNT_F_COMM, -1, false);
	snprintf(text, sizeof(text), "[%d]", thread ? r->thread_id : r->pid);
	if (status >= 0)
		status = plain_str(b, text);
	if (status >= 0 && exeunt_has(r, EXEUNT_F_USER)) {
		status = plain_str(b, " of ");
		if (status >= 0)
			status = text_field(b, r, EXEUNT_F_USER, -1, false);
	}
	text[0] = ' ';
	outcome(text + 1, sizeof(text) - 1, r);
	return status < 0 ? status : plain_str(b, text);
}

static int put_sentence(struct entry_sink *e, const struct exeunt_record *r)
{
	char text[1024] = "";
	int status = 0;

	e->value.len = 0;
	if (r->loss)
		snprintf(text, sizeof(text), "lost %s%llu of %s: %s",
			 r->loss->exact ? "" : "about ", (unsigned long long)r->loss->count,
			 exeunt_source_name(r->loss->source),
			 exeunt_loss_cause_name(r->loss->cause));
	else if (r->status)
		text_summary(r, text, sizeof(text));
	else
		status = process_sentence(&e->value, r);
	if (*text)
		status = plain_str(&e->value, text);
	return status < 0 ? status : put_value(&e->text, "MESSAGE", e->value.data, e->value.len);
}

static int write_entry(struct entry_sink *e, const struct exeunt_record *r)
{
	struct text_buffer *b = &e->text;
	int status = put_sentence(e, r);

	if (status >= 0)
		status = put_u64(b, "PRIORITY", (uint64_t)entry_priority(r));
	if (status >= 0)
		status = put_str(b, "SYSLOG_IDENTIFIER", "exeunt");
	if (status >= 0)
		status = put_str(b, "EXEUNT_TYPE", exeunt_type_name((enum exeunt_type)r->type));
	if (status >= 0)
		status = put_u64(b, "EXEUNT_SEQ", r->seq);
	if (status < 0)
		return status;
	if (r->loss)
		return put_loss(b, r->loss);
	return r->status ? put_balance(b, &r->status->balance) : put_fields(e, r);
}

static int journal_new(struct sink **ret, const struct sink_options *o, char *error, size_t size)
{
	return entry_new(ret, &sink_journal, o, SOCKET, write_entry, error, size);
}

const struct sink_ops sink_journal = {
	.word = "journal",
	.target = "PATH",
	.target_optional = true,
	.help = "entries of systemd's journal, with a field for each value; PATH is its socket",
	.new = journal_new,
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
