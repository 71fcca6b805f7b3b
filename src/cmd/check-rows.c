/* SPDX-License-Identifier: MIT */
/* Finds out what works here, by listening for a moment; and puts it into rows. See check.h. */
#include "cmd/check.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/procfile.h"
#include "base/utf8.h"
#include "base/util.h"

#define WAIT_NS NS_PER_SEC

/* Names of files and programs are in the sentences; what is printed obeys nobody. */
static void set(char *to, const char *text)
{
	size_t len = text ? strnlen(text, CHECK_RAW) : 0;

	*utf8_visible(to, text ? text : "", len, -1, NULL) = '\0';
}

static void row_text(struct check_row *row, const char *word, const char *format, ...) PRINTF(3, 4);

static void row_text(struct check_row *row, const char *word, const char *format, ...)
{
	char raw[CHECK_RAW];
	va_list ap;

	row->word = word;
	row->works = strcmp(word, "off") != 0 && strcmp(word, "no") != 0;
	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	set(row->text, raw);
}

static void add_note(struct check_row *row, const struct audit_finding *f)
{
	struct check_note *note = &row->notes[row->n_notes++];

	note->in_the_way = f->in_the_way;
	note->remedy = f->remedy;
	snprintf(note->reason, sizeof(note->reason), "%s", f->reason);
}

static void refused(struct check_row *row, const struct exeunt_source_status *s)
{
	/* switched off is another thing than not possible */
	bool off = s->source == EXEUNT_SOURCE_PACCT && s->error == ENODATA;

	row_text(row, off ? "off" : "no", "%s", s->reason ? s->reason : strerror(s->error));
	set(row->remedy, s->remedy);
}

static void taskstats_row(struct check_row *row, const struct exeunt_source_status *s)
{
	row_text(row, "works", "version %d, %u CPU%s, receive buffer %" PRIu64 " KiB each%s",
		 s->version, s->sockets, s->sockets == 1 ? "" : "s", s->receive_buffer / 1024,
		 s->tested ? "; the exit of a test process arrived from every one" : "");
}

static void procevents_row(struct check_row *row, const struct exeunt_source_status *s)
{
	row_text(row, "works", "tells of each fork and exec, receive buffer %" PRIu64 " KiB",
		 s->receive_buffer / 1024);
}

/* Who has it there by default; the kernel itself does not tell who switched it on. */
static const char *accounting_of(const char *path)
{
	static const char *const places[][2] = {
		{ "/run/exeunt/", "as exeunt itself has it" },
		{ "/run/pacct_source", "as atopacctd has it" },
		{ "/tmp/atop.d/", "as atop has it" },
		{ "/var/log/account/", "as the acct package has it" },
		{ "/var/account/", "as the psacct package has it" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(path, places[i][0], strlen(places[i][0])))
			return places[i][1];
	return "switched on by somebody";
}

static void pacct_row(struct check_row *row, const struct exeunt_source_status *s)
{
	const char *path = s->detail ? s->detail : "a file";

	row_text(row, "works", "accounting goes to '%.300s', %s%s", path, accounting_of(path),
		 s->tested ? "; the exit of a test process arrived" : "");
}

static void audit_text(struct check_row *row, const struct exeunt_source_status *s,
		       const struct audit_facts *f)
{
	char owner[64] = "owned by nobody", rules[80] = "";

	if (f->error) {
		row_text(row, "works", "read by multicast, receive buffer %" PRIu64 " KiB",
			 s->receive_buffer / 1024);
		return;
	}
	if (f->pid)
		snprintf(owner, sizeof(owner), "owned by %s (pid %" PRIu32 ")",
			 f->owner[0] ? f->owner : "a process", f->pid);
	if (f->rules_known)
		snprintf(rules, sizeof(rules), "; %" PRIu32 " rule%s loaded, %s of exits", f->rules,
			 f->rules == 1 ? "" : "s", f->exit_rule ? "which tell" : "none tells");
	row_text(row, "works", "%s, read beside it, receive buffer %" PRIu64 " KiB%s%s", owner,
		 s->receive_buffer / 1024, rules,
		 s->tested ? "; the exit of a test process arrived" : "");
}

/* It can be read while it is switched off, and tells nothing then. */
static void audit_row(struct check_row *row, const struct exeunt_source_status *s,
		      const struct audit_report *report)
{
	audit_text(row, s, &report->facts);
	for (size_t i = 0; i < report->n; i++) {
		const struct audit_finding *f = &report->findings[i];

		if (f->id == AUDIT_FINDING_OFF) {
			row_text(row, "off", "%s", f->reason);
			set(row->remedy, f->remedy);
		} else if (f->id != AUDIT_FINDING_OWNER) {
			add_note(row, f);
			if (f->in_the_way && row->works)
				row->word = "partly";
		}
	}
}

static void source_row(struct check_row *row, const struct exeunt_source_status *s,
		       const struct audit_report *report)
{
	row->name = exeunt_source_name(s->source);
	row->is_source = true;
	if (s->state != EXEUNT_STATE_OPEN) {
		refused(row, s);
		return;
	}
	row->tested = s->tested;
	set(row->detail, s->detail);
	row->version = s->version;
	row->sockets = s->receive_buffer ? s->sockets : 0;
	row->receive_buffer = s->receive_buffer;
	switch (s->source) {
	case EXEUNT_SOURCE_TASKSTATS:
		taskstats_row(row, s);
		break;
	case EXEUNT_SOURCE_PROCEVENTS:
		procevents_row(row, s);
		break;
	case EXEUNT_SOURCE_AUDIT:
		audit_row(row, s, report);
		break;
	default:
		pacct_row(row, s);
		break;
	}
}

static void delay_row(struct check *c)
{
	struct check_row *row = &c->rows[c->n];
	char value[16];

	if (procfile_line("/proc/sys/kernel/task_delayacct", value, sizeof(value)) < 0)
		return; /* before Linux 5.14 it is the boot that decides, and nothing tells */
	c->n++;
	c->delays = atoi(value) != 0;
	row->name = "delay accounting";
	if (c->delays) {
		row_text(row, "on", "for processes that began since it was switched on");
		return;
	}
	row_text(row, "off", "delays other than the CPU's are not kept");
	set(row->remedy, "sysctl kernel.task_delayacct=1");
}

static int on_record(const struct exeunt_record *r, void *userdata)
{
	struct check *c = userdata;

	c->collects |= r->type == EXEUNT_TYPE_START;
	return 0;
}

/* All that can be: accounting has told of a process of ours, and so has audit under a rule. Both come a little later. */
static bool all_have_told(const struct exeunt *x, const struct audit_facts *f)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);
	bool audit = f->rules_known && f->exit_rule && f->enabled &&
		     s[EXEUNT_SOURCE_AUDIT].state == EXEUNT_STATE_OPEN;
	bool pacct = s[EXEUNT_SOURCE_PACCT].state == EXEUNT_STATE_OPEN;

	return (!audit || s[EXEUNT_SOURCE_AUDIT].tested) &&
	       (!pacct || s[EXEUNT_SOURCE_PACCT].version);
}

static void listen_for_tests(struct exeunt *x, const struct audit_facts *f)
{
	int64_t until = mono_now() + WAIT_NS, left;
	struct pollfd p = { .fd = exeunt_fd(x), .events = POLLIN };

	while (!all_have_told(x, f) && (left = until - mono_now()) > 0) {
		poll(&p, 1, (int)(left / NS_PER_MSEC) + 1);
		if (exeunt_dispatch(x) < 0)
			return;
	}
}

int check_run(struct check *c)
{
	static const enum exeunt_source order[] = { EXEUNT_SOURCE_TASKSTATS,
						    EXEUNT_SOURCE_PROCEVENTS, EXEUNT_SOURCE_AUDIT,
						    EXEUNT_SOURCE_PACCT };
	struct exeunt_options options = { .size = sizeof(options),
					  .on_record = on_record,
					  .userdata = c };
	const struct exeunt_source_status *s;
	struct audit_report report;
	struct exeunt *x;
	size_t n;
	int r;

	*c = (struct check){ .n = 0 };
	r = audit_report_read(&report);
	if (r >= 0)
		r = exeunt_new(&x, &options);
	if (r < 0)
		return r;
	if (exeunt_open(x) >= 0 && exeunt_start(x) >= 0)
		listen_for_tests(x, &report.facts);
	s = exeunt_sources(x, &n);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (s[order[i]].state != EXEUNT_STATE_OFF)
			source_row(&c->rows[c->n++], &s[order[i]], &report);
	delay_row(c);
	exeunt_free(x);
	return 0;
}
