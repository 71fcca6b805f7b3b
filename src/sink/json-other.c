/* SPDX-License-Identifier: MIT */
/* The lines that are not about a process: losses, and what the collector says of itself. Not hot. See json.h. */
#include "sink/json-internal.h"

#include <exeunt/exeunt.h>

#define U64(p, key, v) json_u64(FMT_LIT(p, ",\"" key "\":"), key, v)

static size_t text_bound(const char *s)
{
	return JSON_STRING_MAX(s ? strlen(s) : 0);
}

size_t json_other_bound(const struct exeunt_record *r)
{
	const struct exeunt_status *s = r->status;
	size_t bound = 1024;

	if (!s)
		return bound;
	bound += 4096 + text_bound(s->version) + text_bound(s->kernel_release);
	for (size_t i = 0; i < s->n_sources; i++)
		bound += 1024 + text_bound(s->sources[i].reason) +
			 text_bound(s->sources[i].remedy) + text_bound(s->sources[i].detail);
	return bound;
}

static char *put_bool(char *p, bool b)
{
	return b ? FMT_LIT(p, "true") : FMT_LIT(p, "false");
}

static char *put_time(struct json *j, char *p, int64_t ns)
{
	*p++ = '"';
	p = fmt_time(p, ns, &j->times[TIME_RECORD]);
	*p++ = '"';
	return p;
}

static char *put_loss(struct json *j, char *p, const struct exeunt_loss *l)
{
	p = FMT_LIT(p, ",\"loss\":{\"source\":\"");
	p = fmt_str(p, exeunt_source_name(l->source));
	p = U64(FMT_LIT(p, "\""), "count", l->count);
	p = put_bool(FMT_LIT(p, ",\"exact\":"), l->exact);
	p = FMT_LIT(p, ",\"cause\":\"");
	p = fmt_str(p, exeunt_loss_cause_name(l->cause));
	*p++ = '"';
	if (l->cpu >= 0)
		p = fmt_i64(FMT_LIT(p, ",\"cpu\":"), l->cpu);
	if (l->window_start_ns || l->window_end_ns) {
		p = put_time(j, FMT_LIT(p, ",\"window\":{\"start\":"), l->window_start_ns);
		p = put_time(j, FMT_LIT(p, ",\"end\":"), l->window_end_ns);
		*p++ = '}';
	}
	p = U64(p, "backfilled", l->backfilled);
	*p++ = '}';
	return p;
}

/* `,"key":"text"`, or nothing when there is no text; `key` is a literal. */
#define TEXT(p, key, s) ((s) ? json_quoted(FMT_LIT(p, ",\"" key "\":"), key, (s), strlen(s)) : (p))

static char *put_source(char *p, const struct exeunt_source_status *s)
{
	static const char *const states[] = { "off", "open", "refused", "failed" };
	unsigned int state = s->state;

	p = FMT_LIT(p, "{\"name\":\"");
	p = fmt_str(p, exeunt_source_name(s->source));
	p = FMT_LIT(p, "\",\"state\":\"");
	p = fmt_str(p, state < ARRAY_SIZE(states) ? states[state] : "unknown");
	*p++ = '"';
	p = TEXT(p, "detail", s->detail);
	if (s->error)
		p = fmt_i64(FMT_LIT(p, ",\"errno\":"), s->error < 0 ? -s->error : s->error);
	p = TEXT(p, "reason", s->reason);
	p = TEXT(p, "remedy", s->remedy);
	if (s->version)
		p = fmt_i64(FMT_LIT(p, ",\"version\":"), s->version);
	p = U64(p, "messages", s->messages);
	p = U64(p, "bytes", s->bytes);
	p = U64(p, "lost", s->lost);
	if (s->receive_buffer)
		p = U64(p, "receive_buffer_bytes", s->receive_buffer);
	p = U64(p, "sockets", s->sockets);
	*p++ = '}';
	return p;
}

static char *put_balance(char *p, const struct exeunt_balance *b)
{
	p = FMT_LIT(p, ",\"balance\":{\"exits\":");
	p = json_u64(p, "exits", b->exits);
	p = U64(p, "threads_seen", b->threads_seen);
	p = U64(p, "amends", b->amends);
	p = U64(p, "backfilled", b->backfilled);
	p = U64(p, "lost", b->lost);
	p = U64(p, "lost_output", b->lost_output);
	p = U64(p, "filtered", b->filtered);
	p = U64(p, "unparsable", b->unparsable);
	p = U64(p, "evicted", b->evicted);
	p = U64(p, "unmatched", b->unmatched);
	p = U64(p, "pending", b->pending);
	p = U64(p, "unfinished", b->unfinished);
	p = U64(p, "records", b->records);
	*p++ = '}';
	return p;
}

static char *put_status(struct json *j, char *p, const struct exeunt_status *s)
{
	const char *version = s->version ? s->version : "";

	p = FMT_LIT(p, ",\"exeunt\":{\"version\":");
	p = json_quoted(p, "version", version, strlen(version));
	if (s->started_ns)
		p = put_time(j, FMT_LIT(p, ",\"started\":"), s->started_ns);
	p = FMT_LIT(p, ",\"sources\":[");
	for (size_t i = 0; i < s->n_sources; i++) {
		if (i)
			*p++ = ',';
		p = put_source(p, &s->sources[i]);
	}
	p = FMT_LIT(p, "]}");
	if (s->kernel_release) {
		p = FMT_LIT(p, ",\"kernel\":{\"release\":");
		p = json_quoted(p, "release", s->kernel_release, strlen(s->kernel_release));
		*p++ = '}';
	}
	p = put_bool(FMT_LIT(p, ",\"delay_accounting\":"), s->delay_accounting);
	return put_balance(p, &s->balance);
}

char *json_other(struct json *j, char *p, const struct exeunt_record *r)
{
	if (r->loss)
		p = put_loss(j, p, r->loss);
	if (r->status)
		p = put_status(j, p, r->status);
	return p;
}
