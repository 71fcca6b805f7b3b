/* SPDX-License-Identifier: MIT */
/* Losses, and what the collector says of itself, in words. See text.h. */
#include "sink/text-internal.h"

#include <stdarg.h>

#include <exeunt/exeunt.h>

/* What was lost: one, and several. */
static const char *lost_things(enum exeunt_source source, uint64_t n)
{
	static const char *const names[EXEUNT_SOURCE_COUNT][2] = {
		[EXEUNT_SOURCE_TASKSTATS] = { "task exit", "task exits" },
		[EXEUNT_SOURCE_PACCT] = { "accounting record", "accounting records" },
		[EXEUNT_SOURCE_AUDIT] = { "audit record", "audit records" },
		[EXEUNT_SOURCE_PROCEVENTS] = { "process event", "process events" },
		[EXEUNT_SOURCE_OUTPUT] = { "line of output", "lines of output" },
	};

	if ((unsigned int)source >= ARRAY_SIZE(names))
		return "messages";
	return names[source][n != 1];
}

static char *put_words(char *p, const char *name)
{
	for (; *name; name++)
		*p++ = *name == '_' ? ' ' : *name;
	return p;
}

char *text_loss(struct text *t, char *p, const struct exeunt_loss *l)
{
	p = FMT_LIT(p, "-- lost ");
	if (!l->exact)
		p = FMT_LIT(p, "at least ");
	p = fmt_u64(p, l->count);
	*p++ = ' ';
	p = fmt_str(p, lost_things(l->source, l->count));
	p = FMT_LIT(p, ": ");
	p = put_words(p, exeunt_loss_cause_name(l->cause));
	if (l->cpu >= 0)
		p = fmt_i64(FMT_LIT(p, ", cpu "), l->cpu);
	if (l->window_start_ns || l->window_end_ns) {
		p = text_clock(t, FMT_LIT(p, ", "), l->window_start_ns);
		p = text_clock(t, FMT_LIT(p, ".."), l->window_end_ns);
	}
	if (l->backfilled) {
		p = fmt_u64(FMT_LIT(p, ", "), l->backfilled);
		p = FMT_LIT(p, " brought by other sources");
	}
	return p;
}

/* Text that grows in a buffer of fixed size, and is cut there. */
struct sentence {
	char *buf;
	size_t size;
	size_t len;
};

static PRINTF(2, 3) void say(struct sentence *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->buf + s->len, s->size - s->len, format, args);
	va_end(args);
	if (n > 0)
		s->len = MIN(s->len + (size_t)n, s->size - 1);
}

/* Of unknown origin, such as a path in a reason. */
static void say_visibly(struct sentence *s, const char *text)
{
	char visible[1024];

	*utf8_visible(visible, text, MIN(strlen(text), sizeof(visible) / 4 - 4), -1, NULL) = '\0';
	say(s, "%s", visible);
}

static void say_open(struct sentence *s, const struct exeunt_source_status *source)
{
	char bytes[FMT_BYTES_MAX + FMT_SLACK];
	const char *separator = " (";

	say(s, "open");
	if (source->version) {
		say(s, "%sversion %d", separator, source->version);
		separator = ", ";
	}
	if (source->sockets) {
		say(s, "%s%u socket%s", separator, source->sockets,
		    source->sockets == 1 ? "" : "s");
		separator = ", ";
	}
	if (source->sockets && source->receive_buffer) {
		*fmt_bytes(bytes, source->receive_buffer) = '\0';
		say(s, " of %s", bytes);
	}
	if (*separator == ',')
		say(s, ")");
}

static void say_source(struct sentence *s, const struct exeunt_source_status *source)
{
	say(s, "%s ", exeunt_source_name(source->source));
	switch (source->state) {
	case EXEUNT_STATE_OFF:
		say(s, "off");
		return;
	case EXEUNT_STATE_OPEN:
		say_open(s, source);
		return;
	case EXEUNT_STATE_REFUSED:
		say(s, "refused");
		break;
	case EXEUNT_STATE_FAILED:
		say(s, "failed");
		break;
	}
	if (source->reason) {
		say(s, ": ");
		say_visibly(s, source->reason);
	}
	if (source->remedy) {
		say(s, " (");
		say_visibly(s, source->remedy);
		say(s, ")");
	}
}

static void say_start(struct sentence *s, const struct exeunt_status *status)
{
	say(s, "exeunt %s", status->version ? status->version : "");
	if (status->kernel_release) {
		say(s, ", kernel ");
		say_visibly(s, status->kernel_release);
	}
	for (size_t i = 0; i < status->n_sources; i++) {
		say(s, "%s", i ? "; " : ": ");
		say_source(s, &status->sources[i]);
	}
	if (!status->delay_accounting)
		say(s, "; no delays (kernel.task_delayacct is off)");
}

static void say_count(struct sentence *s, uint64_t n, const char *what)
{
	if (n)
		say(s, ", %llu %s", (unsigned long long)n, what);
}

/* Exits and losses always, so that "lost 0" is said and not left to be guessed; the rest where there is any. */
static void say_balance(struct sentence *s, const struct exeunt_balance *b)
{
	say(s, "%llu exit%s, lost %llu", (unsigned long long)b->exits, b->exits == 1 ? "" : "s",
	    (unsigned long long)b->lost);
	say_count(s, b->backfilled, "of them brought by other sources");
	say_count(s, b->lost_output, "lost in the output");
	say_count(s, b->filtered, "kept back");
	say_count(s, b->amends, "amended");
	say_count(s, b->unparsable, "unparsable");
	say_count(s, b->evicted, "evicted");
	say_count(s, b->unmatched, "unmatched");
	say_count(s, b->pending, "waiting");
}

size_t text_summary(const struct exeunt_record *r, char *buf, size_t size)
{
	struct sentence s = { .buf = buf, .size = size };

	if (size == 0)
		return 0;
	*buf = '\0';
	if (!r->status)
		return 0;
	if (r->type == EXEUNT_TYPE_START)
		say_start(&s, r->status);
	else if (r->type == EXEUNT_TYPE_STATUS || r->type == EXEUNT_TYPE_STOP)
		say_balance(&s, &r->status->balance);
	return s.len;
}
