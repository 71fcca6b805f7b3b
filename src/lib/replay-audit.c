/* SPDX-License-Identifier: MIT */
/* Audit logs: text as auditd writes it, or as a plugin or a syslog daemon passed it on. */
#include "lib/replay.h"

#include "base/util.h"
#include "decode/audit_line.h"

/* A line that a record of audit is in, among the first. */
static bool find_record(const char *head, size_t len, struct audit_line *line)
{
	const char *end = head + len;

	for (int i = 0; i < 64 && head < end; i++) {
		const char *newline = memchr(head, '\n', (size_t)(end - head));
		size_t n = newline ? (size_t)(newline - head) : (size_t)(end - head);

		if (audit_line_parse(line, head, n, newline ? 0 : AUDIT_LINE_CUT) >= 0)
			return true;
		head += n + 1;
	}
	return false;
}

static bool is(const void *head, size_t len, bool whole)
{
	struct audit_line line;

	(void)whole;
	return find_record(head, len, &line);
}

static int64_t first_ns(const void *head, size_t len)
{
	struct audit_line line;

	return find_record(head, len, &line) ? line.sec * NS_PER_SEC + line.msec * NS_PER_MSEC : 0;
}

static int replay(struct exeunt *x, struct input *in)
{
	struct frame f = {
		.source = EXEUNT_SOURCE_AUDIT,
		.kind = FRAME_DATA,
		.channel = AUDIT_CHANNEL_TEXT,
	};
	const uint8_t *data;
	ssize_t n = input_peek(in, INPUT_PEEK_MAX, &data);
	int r;

	if (n < 0)
		return engine_fail(x, (int)n, "%s", input_error(in));
	replay_start(x, first_ns(data, (size_t)n), EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT));
	r = replay_context(x, true, true);
	while (r >= 0 && !x->stop_value && (n = replay_next(x, in, &data)) > 0) {
		f.mono_ns = f.real_ns = x->intake.real_ns;
		f.data = data;
		f.len = (size_t)n;
		x->status[EXEUNT_SOURCE_AUDIT].bytes += (uint64_t)n;
		r = intake_frame(&x->intake, &f);
	}
	intake_audit_end(&x->intake);
	intake_settle(&x->intake);
	return r < 0 ? r : (int)MIN(n, (ssize_t)0);
}

const struct replay_format replay_audit = { "an audit log", is, first_ns, replay };
