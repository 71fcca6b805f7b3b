/* SPDX-License-Identifier: MIT */
/* The line around the inner text. See audit-line.h. */
#include "sink/audit-line.h"

#include "base/format.h"
#include "base/procfile.h"
#include "record/fields.h"
#include "sink/output.h"

#define AROUND_MAX 128 /* type=, the time, the serial and the quotes */

/* The first line of a file below /proc/self, or what stands for "not set". */
static void read_own(const char *path, char *buf, size_t size, const char *unset)
{
	if (procfile_line(path, buf, size) <= 0)
		snprintf(buf, size, "%s", unset);
	buf[strcspn(buf, "\n'\x1d")] = '\0';
}

void audit_sender_init(struct audit_sender *s)
{
	char login[16], session[16], label[160];
	int len;

	read_own("/proc/self/loginuid", login, sizeof(login), "4294967295");
	read_own("/proc/self/sessionid", session, sizeof(session), "4294967295");
	read_own("/proc/self/attr/current", label, sizeof(label), "");
	len = snprintf(s->text, sizeof(s->text), "pid=%d uid=%u auid=%s ses=%s%s%s", (int)getpid(),
		       getuid(), login, session, *label ? " subj=" : "", label);
	s->len = MIN((size_t)len, sizeof(s->text) - 1);
}

static int64_t line_time(const struct exeunt_record *r)
{
	int64_t ns = exeunt_has(r, EXEUNT_F_EXIT_TIME) ? r->exit_time_ns : r->time_ns;

	return MAX(ns, 0);
}

static size_t line_bound(const struct audit_sender *s, const struct exeunt_record *r)
{
	return AROUND_MAX + s->len + audit_text_bound(r);
}

static size_t format(const struct audit_sender *s, const struct exeunt_record *r, char *buf)
{
	int64_t ns = line_time(r);
	uint32_t ms = (uint32_t)(ns % NS_PER_SEC / NS_PER_MSEC);
	char *p = buf;

	p = FMT_LIT(p, "type=TRUSTED_APP msg=audit(");
	p = fmt_u64(p, (uint64_t)(ns / NS_PER_SEC));
	*p++ = '.';
	*p++ = (char)('0' + ms / 100);
	p = fmt_2(p, ms % 100);
	*p++ = ':';
	p = fmt_u32(p, (uint32_t)r->seq);
	p = FMT_LIT(p, "): ");
	p = fmt_mem(p, s->text, s->len);
	p = FMT_LIT(p, " msg='");
	p += audit_text(r, p, audit_text_bound(r));
	p = FMT_LIT(p, "'\n");
	return (size_t)(p - buf);
}

ssize_t audit_line_format(const struct audit_sender *s, const struct exeunt_record *r, char *buf,
			  size_t size)
{
	return size < line_bound(s, r) ? -ENOSPC : (ssize_t)format(s, r, buf);
}

int audit_line_write(void *sender, const struct exeunt_record *r, struct output *o)
{
	char *buf = output_reserve(o, line_bound(sender, r));

	if (!buf)
		return 1;
	output_commit(o, format(sender, r, buf));
	return 0;
}
