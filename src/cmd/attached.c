/* SPDX-License-Identifier: MIT */
/* See attached.h. */
#include "cmd/attached.h"

#include <sys/socket.h>

#include "cmd/cmd.h"
#include "decode/json_record.h"
#include "record/fields.h"
#include "sink/socket-client.h"

#define WAIT_MS \
	1000 /* for an output that is full, with a line that is larger than what is free in it */

struct attached {
	struct stream *s;
	const char *path;
	struct json_record *reader;
	struct json *json; /* to write anew what is filtered here */
	bool filters, anew;
	unsigned int starts_due; /* start records before the first line that counts */
	bool stopped;		 /* a stop record came */
	uint64_t seq;
	struct exeunt_balance seen;
	char last_words[512];
};

/* The filter goes to the daemon if it takes it: 1; 0: it is ours to apply; -errno. */
static int send_filter(int fd, const char *expr)
{
	char line[CLIENT_LINE_MAX], error[FILTER_ERROR_SIZE];
	size_t len = strlen(expr);
	struct filter *f;
	ssize_t n;

	if (len + 1 > sizeof(line) || memchr(expr, '\n', len) ||
	    filter_new_promptly(&f, expr, error, sizeof(error)) < 0)
		return 0;
	filter_free(f);
	memcpy(line, expr, len);
	line[len] = '\n';
	n = send(fd, line, len + 1, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EPIPE ? 1 : -errno; /* gone: reading tells it */
	return n == (ssize_t)len + 1 ? 1 : -EIO;
}

int attached_new(struct attached **ret, struct stream *s, int fd, const char *path)
{
	struct attached *a = calloc(1, sizeof(*a));
	int r = a ? json_record_new(&a->reader) : -ENOMEM;

	if (r >= 0 && s->filter)
		r = send_filter(fd, s->options->filter);
	if (r < 0) {
		attached_free(a);
		return r;
	}
	a->s = s;
	a->path = path;
	a->filters = s->filter && !r;
	a->anew = a->filters && s->options->json;
	a->starts_due = s->filter && r ? 2 : 1;
	*ret = a;
	return 0;
}

void attached_free(struct attached *a)
{
	if (!a)
		return;
	json_record_free(a->reader);
	json_free(a->json);
	free(a);
}

static void announce(const struct attached *a, const struct exeunt_status *status)
{
	char names[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < status->n_sources && len < sizeof(names); i++)
		if (status->sources[i].state == EXEUNT_STATE_OPEN)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "",
						exeunt_source_name(status->sources[i].source));
	cmd_note(
		"attached to the daemon at %s, which listens to %s; every process that ends%s is shown. Ctrl-C ends.",
		a->path, names, a->s->filter ? " and passes the filter" : "");
}

static int put_raw(struct output *o, const char *line, size_t len)
{
	char *p = output_reserve(o, len + 1);

	if (!p)
		return 1;
	memcpy(p, line, len);
	p[len] = '\n';
	output_commit(o, len + 1);
	return 0;
}

/* As our stream would have it, without what we kept back. */
static int put_anew(struct attached *a, const struct exeunt_record *r)
{
	struct exeunt_record ours = *r;
	struct exeunt_status status;

	if (!a->json && json_new(&a->json, json_record_text(a->reader, "host.name"),
				 json_record_text(a->reader, "host.boot_id")) < 0)
		return -ENOMEM;
	ours.seq = a->seq + 1;
	if (r->status) {
		status = *r->status;
		status.balance.filtered += a->seen.filtered;
		status.balance.records = ours.seq;
		ours.status = &status;
	}
	return json_write(a->json, &ours, a->s->output);
}

static int put_text(struct attached *a, const struct exeunt_record *r)
{
	struct exeunt_record ours = *r;
	struct stream *s = a->s;

	if (r->status || r->type == EXEUNT_TYPE_THREAD)
		return 0; /* threads show only where --threads asks for sources of our own */
	if (s->options->numeric) {
		field_clear(&ours, EXEUNT_F_USER);
		field_clear(&ours, EXEUNT_F_GROUP);
		field_clear(&ours, EXEUNT_F_LOGIN_USER);
	}
	if (!s->header_out) {
		s->header_out = true;
		text_header(s->text, s->output);
	}
	return text_write(s->text, &ours, s->output);
}

static int put(struct attached *a, const struct exeunt_record *r, const char *line, size_t len)
{
	if (a->anew)
		return put_anew(a, r);
	return a->s->options->json ? put_raw(a->s->output, line, len) : put_text(a, r);
}

static void count(struct attached *a, const struct exeunt_record *r)
{
	if (r->type == EXEUNT_TYPE_EXIT) {
		a->seen.exits++;
		a->s->shown++;
	}
	if (r->type == EXEUNT_TYPE_AMEND)
		a->seen.amends++;
	if (r->type == EXEUNT_TYPE_LOSS && r->loss->source == EXEUNT_SOURCE_OUTPUT)
		a->seen.lost_output += r->loss->count;
	else if (r->type == EXEUNT_TYPE_LOSS)
		a->seen.lost += r->loss->count;
}

static void show(struct attached *a, const struct exeunt_record *r, const char *line, size_t len)
{
	if (record_is_about_process(r) &&
	    ((a->filters && !filter_match(a->s->filter, r)) || stream_is_done(a->s))) {
		a->seen.filtered += r->type == EXEUNT_TYPE_EXIT;
		return;
	}
	count(a, r);
	if (put(a, r, line, len)) {
		output_drain(a->s->output, WAIT_MS);
		if (put(a, r, line, len))
			a->seen.lost_output++;
	}
	a->seq++;
	if (r->type != EXEUNT_TYPE_STOP)
		return;
	a->stopped = true;
	text_summary(r, a->last_words, sizeof(a->last_words));
}

static int refuse(const struct attached *a)
{
	const char *why = json_record_text(a->reader, "error.message");

	cmd_error("the daemon at %s refuses: %s", a->path, why ? why : "it does not say why");
	return ATTACHED_BROKEN;
}

/* Most lines, where nothing has to be known of one but that it tells of an exit: the order of keys is fixed. */
static bool is_exit_to_pass_on(const struct attached *a, const char *line, size_t len)
{
	static const char head[] = "{\"schema\":\"" EXEUNT_SCHEMA "\",\"type\":\"exit\",";

	return a->s->options->json && !a->anew && !a->starts_due && len >= sizeof(head) - 1 &&
	       !memcmp(line, head, sizeof(head) - 1);
}

static int parse_and_show(struct attached *a, const char *line, size_t len)
{
	const struct exeunt_record *r;
	int parsed = json_record_parse(a->reader, line, len, &r);
	const char *type = json_record_text(a->reader, "type");

	if (parsed == -ENOMEM) {
		cmd_error("not enough memory");
		return ATTACHED_BROKEN;
	}
	if (parsed > 0)
		return !strcmp(type, "error") ? refuse(a) : 0;
	if (parsed < 0) {
		cmd_error("what comes from %s is not understood: no line of " EXEUNT_SCHEMA,
			  a->path);
		return ATTACHED_BROKEN;
	}
	if (a->starts_due && r->type == EXEUNT_TYPE_START && !--a->starts_due &&
	    !a->s->options->quiet && r->status)
		announce(a, r->status);
	/* what came before our filter held is not ours */
	if (!a->starts_due)
		show(a, r, line, len);
	return 0;
}

int attached_line(struct attached *a, const char *line, size_t len)
{
	static const struct exeunt_record some_exit = { .type = EXEUNT_TYPE_EXIT };

	if (!is_exit_to_pass_on(a, line, len))
		return parse_and_show(a, line, len);
	show(a, &some_exit, line, len);
	return 0;
}

void attached_tell_gone(const struct attached *a)
{
	if (a->stopped)
		cmd_error("the daemon ended: %s", a->last_words);
	else
		cmd_error("the daemon at %s went away without a word", a->path);
}

void attached_summary(const struct attached *a)
{
	struct exeunt_status status = { .balance = a->seen };
	struct exeunt_record r = { .type = EXEUNT_TYPE_STOP, .status = &status };
	char text[512];

	text_summary(&r, text, sizeof(text));
	cmd_note("%s", text);
}
