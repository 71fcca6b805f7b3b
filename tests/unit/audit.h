/* SPDX-License-Identifier: MIT */
/*
 * For the tests of the audit decoder: builds lines as the kernel and auditd write them, runs them
 * through stream and window, and keeps a copy of each event that is told.
 */
#ifndef UNIT_AUDIT_H
#define UNIT_AUDIT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "decode/audit_assemble.h"
#include "decode/audit_stream.h"

#define GS "\x1d"
#define SEEN_MAX 64
#define SEEN_ARGS 8

struct seen {
	struct audit_event event; /* numbers only: its slices are gone */
	char node[256], comm[64], exe[256], key[64], tty[64], subj[64], uid_name[64], auid_name[64];
	char cwd[256], path[256], op[64];
	char args[SEEN_ARGS][256];
};

struct run {
	struct audit_assemble *window;
	struct audit_stream stream;
	int64_t now_ns;
	unsigned int n; /* all events, also those beyond SEEN_MAX */
	struct seen seen[SEEN_MAX];
};

static inline void copy_text(char *dst, size_t size, const struct exeunt_bytes *v, bool has)
{
	size_t n = has ? MIN((size_t)v->len, size - 1) : 0;

	memcpy(dst, n ? v->data : "", n);
	dst[n] = 0;
}

#define COPY(s, member, what)                                   \
	copy_text((s)->member, sizeof((s)->member), &e->member, \
		  audit_event_has(e, AUDIT_HAS_##what))

static inline void keep_event(const struct audit_event *e, void *userdata)
{
	struct run *run = userdata;
	struct seen *s;

	if (run->n++ >= SEEN_MAX)
		return;
	s = &run->seen[run->n - 1];
	s->event = *e;
	copy_text(s->node, sizeof(s->node), &e->node, true);
	COPY(s, comm, COMM);
	COPY(s, exe, EXE);
	COPY(s, key, KEY);
	COPY(s, tty, TTY);
	COPY(s, subj, SUBJ);
	COPY(s, uid_name, UID_NAME);
	COPY(s, auid_name, AUID_NAME);
	COPY(s, cwd, CWD);
	COPY(s, path, PATH);
	COPY(s, op, OP);
	for (uint32_t i = 0; i < MIN(e->n_args, (uint32_t)SEEN_ARGS); i++)
		copy_text(s->args[i], sizeof(s->args[i]), &e->args[i], true);
}

static inline int take_line(const char *line, size_t len, unsigned int flags, void *userdata)
{
	struct run *run = userdata;
	int r = audit_assemble_text(run->window, line, len, flags, run->now_ns);

	return r == -ENOMEM ? r : 0;
}

static inline void run_start_with(struct run *run, struct audit_assemble_options options)
{
	options.on_event = keep_event;
	options.userdata = run;
	memset(run, 0, sizeof(*run));
	assert_int_equal(audit_assemble_new(&run->window, &options), 0);
	assert_int_equal(audit_stream_init(&run->stream, take_line, run), 0);
}

static inline void run_start(struct run *run)
{
	run_start_with(run, (struct audit_assemble_options){ 0 });
}

static inline void run_feed(struct run *run, const char *text)
{
	assert_int_equal(audit_stream_feed(&run->stream, text, strlen(text)), 0);
}

static inline void run_line(struct run *run, const char *text)
{
	run_feed(run, text);
	run_feed(run, "\n");
}

static inline void run_flush(struct run *run)
{
	assert_int_equal(audit_stream_flush(&run->stream), 0);
	audit_assemble_flush(run->window);
}

static inline void run_stop(struct run *run)
{
	audit_stream_done(&run->stream);
	audit_assemble_free(run->window);
}

static inline const struct audit_counters *counters(const struct run *run)
{
	return audit_assemble_counters(run->window);
}

/* Text that lives until the same call is made 16 times more. */
PRINTF(1, 2)
static inline const char *text(const char *format, ...)
{
	static char ring[16][8192];
	static unsigned int at;
	char *buf = ring[at++ % 16];
	va_list list;

	va_start(list, format);
	vsnprintf(buf, sizeof(ring[0]), format, list);
	va_end(list);
	return buf;
}

/* The end of a SYSCALL record behind its items: what audit_log_task_info() writes, and the key. */
static inline const char *task_text(int pid, const char *comm, const char *exe, const char *key)
{
	return text("ppid=100 pid=%d auid=1000 uid=1000 gid=1000 euid=1000 suid=1000 fsuid=1000 "
		    "egid=1000 sgid=1000 fsgid=1000 tty=pts0 ses=3 comm=\"%s\" exe=\"%s\" "
		    "subj=unconfined key=%s",
		    pid, comm, exe, key);
}

static inline const char *call_at(const char *time, unsigned int serial, const char *call, int pid,
				  const char *a0)
{
	return text("type=SYSCALL msg=audit(%s:%u): %s a0=%s a1=0 a2=0 a3=0 items=0 %s", time,
		    serial, call, a0, task_text(pid, "demo", "/usr/bin/demo", "(null)"));
}

#define TIME "1700000000.100"

/* exit_group(2) and exit(2) on x86_64; kernels write neither success= nor exit= for them. */
static inline const char *eg(unsigned int serial, int pid, const char *a0)
{
	return call_at(TIME, serial, "arch=c000003e syscall=231", pid, a0);
}

static inline const char *thread(unsigned int serial, int pid, const char *a0)
{
	return call_at(TIME, serial, "arch=c000003e syscall=60", pid, a0);
}

static inline const char *title(unsigned int serial, const char *value)
{
	return text("type=PROCTITLE msg=audit(" TIME ":%u): proctitle=%s", serial, value);
}

static inline const char *eoe(unsigned int serial)
{
	return text("type=EOE msg=audit(" TIME ":%u): ", serial);
}

static inline const char *exec(unsigned int serial, int pid, const char *comm, const char *exe,
			       int items)
{
	return text("type=SYSCALL msg=audit(" TIME ":%u): arch=c000003e syscall=59 success=yes "
		    "exit=0 a0=1 a1=2 a2=3 a3=4 items=%d %s",
		    serial, items, task_text(pid, comm, exe, "(null)"));
}

#endif
