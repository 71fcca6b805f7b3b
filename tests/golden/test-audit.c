/* SPDX-License-Identifier: MIT */
/*
 * Reads each golden/audit/NAME.log as a file is read, writes the events as text, one a line, and
 * compares with NAME.events byte for byte. With EXEUNT_BLESS set it writes NAME.events instead:
 * look at the difference then.
 */
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "decode/audit_assemble.h"
#include "decode/audit_stream.h"

static const char *const kinds[] = { "exit",	      "thread-exit", "exec",   "login",
				     "session-start", "session-end", "user",   "abend",
				     "seccomp",	      "config",	     "daemon", "kernel" };

struct output {
	FILE *f;
	const struct audit_event *e;
};

static void put_bytes(FILE *f, const struct exeunt_bytes *v)
{
	for (uint32_t i = 0; i < v->len; i++) {
		unsigned char c = (unsigned char)v->data[i];

		if (c <= ' ' || c == '\\' || c >= 0x7f)
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
}

static void put_number(const struct output *o, enum audit_has what, const char *name, int64_t v)
{
	if (audit_event_has(o->e, what))
		fprintf(o->f, " %s=%lld", name, (long long)v);
}

static void put_text(const struct output *o, enum audit_has what, const char *name,
		     const struct exeunt_bytes *v)
{
	if (!audit_event_has(o->e, what))
		return;
	fprintf(o->f, " %s=", name);
	put_bytes(o->f, v);
}

static void put_who(const struct output *o)
{
	const struct audit_event *e = o->e;

	put_number(o, AUDIT_HAS_PID, "pid", e->pid);
	put_number(o, AUDIT_HAS_PPID, "ppid", e->ppid);
	put_number(o, AUDIT_HAS_AUID, "auid", e->auid);
	put_text(o, AUDIT_HAS_AUID_NAME, "auid_name", &e->auid_name);
	put_number(o, AUDIT_HAS_SES, "ses", e->ses);
	put_number(o, AUDIT_HAS_UID, "uid", e->uid);
	put_text(o, AUDIT_HAS_UID_NAME, "uid_name", &e->uid_name);
	put_number(o, AUDIT_HAS_GID, "gid", e->gid);
	put_text(o, AUDIT_HAS_GID_NAME, "gid_name", &e->gid_name);
	put_number(o, AUDIT_HAS_EUID, "euid", e->euid);
	put_text(o, AUDIT_HAS_TTY, "tty", &e->tty);
	put_text(o, AUDIT_HAS_COMM, "comm", &e->comm);
	put_text(o, AUDIT_HAS_EXE, "exe", &e->exe);
	put_text(o, AUDIT_HAS_SUBJ, "subj", &e->subj);
	put_text(o, AUDIT_HAS_KEY, "key", &e->key);
}

static void put_rest(const struct output *o)
{
	const struct audit_event *e = o->e;

	put_number(o, AUDIT_HAS_CODE, "code", e->code);
	put_number(o, AUDIT_HAS_SIG, "sig", e->sig);
	put_number(o, AUDIT_HAS_OLD_AUID, "old_auid", e->old_auid);
	put_number(o, AUDIT_HAS_OLD_SES, "old_ses", e->old_ses);
	put_text(o, AUDIT_HAS_OP, "op", &e->op);
	put_text(o, AUDIT_HAS_ACCT, "acct", &e->acct);
	put_text(o, AUDIT_HAS_ADDR, "addr", &e->addr);
	put_number(o, AUDIT_HAS_RES, "res", e->res);
	put_text(o, AUDIT_HAS_CWD, "cwd", &e->cwd);
	put_text(o, AUDIT_HAS_PATH, "path", &e->path);
	for (uint32_t i = 0; i < e->n_args; i++) {
		fprintf(o->f, " [");
		put_bytes(o->f, &e->args[i]);
		fputc(']', o->f);
	}
	if (e->flags & AUDIT_EVENT_ARGS_CUT)
		fprintf(o->f, " args-cut");
	if (e->flags & AUDIT_EVENT_INCOMPLETE)
		fprintf(o->f, " incomplete");
}

static void on_event(const struct audit_event *e, void *userdata)
{
	struct output o = { .f = userdata, .e = e };

	fprintf(o.f, "%s %lld.%03lld:%llu", kinds[e->kind], (long long)(e->time_ns / NS_PER_SEC),
		(long long)(e->time_ns % NS_PER_SEC / NS_PER_MSEC), (unsigned long long)e->serial);
	if (e->node.len) {
		fprintf(o.f, " node=");
		put_bytes(o.f, &e->node);
	}
	put_who(&o);
	put_rest(&o);
	fputc('\n', o.f);
}

static void put_counters(FILE *f, const struct audit_counters *c, const struct audit_stream *s)
{
	fprintf(f,
		"# lines %llu prefixed %llu unparsable %llu interpreted %llu cut_ids %llu "
		"cut_lines %llu "
		"unknown_type %llu unknown_arch %llu unknown_call %llu events %llu incomplete %llu "
		"orphans %llu late %llu duplicates %llu nul_runs %llu\n",
		(unsigned long long)c->lines, (unsigned long long)c->prefixed,
		(unsigned long long)c->unparsable, (unsigned long long)c->interpreted,
		(unsigned long long)c->cut_ids, (unsigned long long)c->cut_lines,
		(unsigned long long)c->unknown_type, (unsigned long long)c->unknown_arch,
		(unsigned long long)c->unknown_call, (unsigned long long)c->events,
		(unsigned long long)c->incomplete, (unsigned long long)c->orphans,
		(unsigned long long)c->late, (unsigned long long)c->duplicates,
		(unsigned long long)s->nul_runs);
}

static int on_line(const char *line, size_t len, unsigned int flags, void *userdata)
{
	return audit_assemble_text(userdata, line, len, flags, 0) == -ENOMEM ? -ENOMEM : 0;
}

/* The text of all events of a log, fed in pieces of `chunk` bytes. */
static char *read_events(const char *path, size_t chunk, size_t *len)
{
	struct audit_assemble_options options = { .event_clock = true, .on_event = on_event };
	struct audit_assemble *window = NULL;
	struct audit_stream stream;
	char buf[4096], *text = NULL;
	_cleanup_file_
	FILE *in = fopen(path, "rb");
	size_t n;

	if (!in)
		err(1, "%s", path);
	options.userdata = open_memstream(&text, len);
	if (!options.userdata || audit_assemble_new(&window, &options) < 0 ||
	    audit_stream_init(&stream, on_line, window) < 0)
		errx(1, "no memory");
	while ((n = fread(buf, 1, chunk, in)))
		if (audit_stream_feed(&stream, buf, n) < 0)
			errx(1, "no memory");
	audit_stream_flush(&stream);
	audit_assemble_flush(window);
	put_counters(options.userdata, audit_assemble_counters(window), &stream);
	fclose(options.userdata);
	audit_stream_done(&stream);
	audit_assemble_free(window);
	return text;
}

static bool check_log(const char *folder, const char *name)
{
	_cleanup_free_
	char *log = NULL, *events = NULL, *text = NULL, *other = NULL, *expected = NULL;
	_cleanup_file_
	FILE *f = NULL;
	size_t len, other_len, n;
	bool same;

	if (asprintf(&log, "%s/%s", folder, name) < 0 ||
	    asprintf(&events, "%s/%.*s.events", folder, (int)strlen(name) - 4, name) < 0)
		errx(1, "no memory");
	text = read_events(log, 4096, &len);
	other = read_events(log, 7, &other_len);
	if (len != other_len || memcmp(text, other, len) != 0) {
		warnx("%s: the events depend on how its bytes are cut", log);
		return false;
	}
	f = fopen(events, getenv("EXEUNT_BLESS") ? "wb" : "rb");
	if (!f)
		err(1, "%s", events);
	if (getenv("EXEUNT_BLESS"))
		return fwrite(text, 1, len, f) == len;
	expected = malloc(len + 1);
	if (!expected)
		errx(1, "no memory");
	n = fread(expected, 1, len + 1, f);
	same = n == len && !memcmp(expected, text, len);
	if (!same)
		warnx("%s differs; what was read:\n%s", events, text);
	return same;
}

static int is_log(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && !strcmp(entry->d_name + len - 4, ".log");
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n, bad = 0;

	if (argc != 2)
		errx(2, "usage: %s FOLDER", argv[0]);
	n = scandir(argv[1], &entries, is_log, alphasort);
	if (n <= 0)
		errx(1, "%s: no logs", argv[1]);
	for (int i = 0; i < n; i++) {
		bad += !check_log(argv[1], entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	printf("%d logs, %d differ\n", n, bad);
	return bad ? 1 : 0;
}
