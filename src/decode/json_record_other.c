/* SPDX-License-Identifier: MIT */
/* Times, and lines that are not about a process: losses, and what the collector says of itself. See json_record.h. */
#include "decode/json_record_internal.h"

#include <time.h>

#include <exeunt/exeunt.h>

static bool take_digits(const char **s, int n, int *ret)
{
	*ret = 0;
	for (; n; n--, (*s)++) {
		if (**s < '0' || **s > '9')
			return false;
		*ret = *ret * 10 + (**s - '0');
	}
	return true;
}

/* Always as fmt_time() has it. */
bool json_record_time(const json_t *value, int64_t *ret)
{
	const char *s = json_string_value(value);
	struct tm tm = { 0 };
	int ns;

	if (!s || !take_digits(&s, 4, &tm.tm_year) || *s++ != '-' ||
	    !take_digits(&s, 2, &tm.tm_mon) || *s++ != '-' || !take_digits(&s, 2, &tm.tm_mday) ||
	    *s++ != 'T' || !take_digits(&s, 2, &tm.tm_hour) || *s++ != ':' ||
	    !take_digits(&s, 2, &tm.tm_min) || *s++ != ':' || !take_digits(&s, 2, &tm.tm_sec) ||
	    *s++ != '.' || !take_digits(&s, 9, &ns) || strcmp(s, "Z") != 0)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return !__builtin_mul_overflow((int64_t)timegm(&tm), NS_PER_SEC, ret) &&
	       !__builtin_add_overflow(*ret, (int64_t)ns, ret);
}

static const char *source_name(int i)
{
	return exeunt_source_name((enum exeunt_source)i);
}

static const char *cause_name(int i)
{
	return exeunt_loss_cause_name((enum exeunt_loss_cause)i);
}

static const char *state_name(int i)
{
	static const char *const names[] = { "off", "open", "refused", "failed" };

	return names[i];
}

static bool take_loss(json_t *in, struct exeunt_loss *l)
{
	int source =
		json_record_word(json_object_get(in, "source"), EXEUNT_SOURCE_COUNT, source_name);
	int cause =
		json_record_word(json_object_get(in, "cause"), EXEUNT_LOSS_CAUSE_COUNT, cause_name);
	const json_t *cpu = json_object_get(in, "cpu"), *window = json_object_get(in, "window");

	*l = (struct exeunt_loss){ .source = (enum exeunt_source)source,
				   .cause = (enum exeunt_loss_cause)cause,
				   .exact = json_is_true(json_object_get(in, "exact")),
				   .cpu = cpu ? (int32_t)json_integer_value(cpu) : -1 };
	if (source < 0 || cause < 0 || !json_record_number(in, "count", &l->count) ||
	    !json_record_number(in, "backfilled", &l->backfilled))
		return false;
	return !window ||
	       (json_record_time(json_object_get(window, "start"), &l->window_start_ns) &&
		json_record_time(json_object_get(window, "end"), &l->window_end_ns));
}

static bool take_source(json_t *in, struct exeunt_source_status *s)
{
	int source =
		json_record_word(json_object_get(in, "name"), EXEUNT_SOURCE_COUNT, source_name);
	int state = json_record_word(json_object_get(in, "state"), 4, state_name);

	*s = (struct exeunt_source_status){
		.source = (enum exeunt_source)source,
		.state = (enum exeunt_source_state)state,
		.error = (int)json_integer_value(json_object_get(in, "errno")),
		.reason = json_string_value(json_object_get(in, "reason")),
		.remedy = json_string_value(json_object_get(in, "remedy")),
		.detail = json_string_value(json_object_get(in, "detail")),
		.version = (int)json_integer_value(json_object_get(in, "version")),
		.sockets = (uint32_t)json_integer_value(json_object_get(in, "sockets")),
	};
	json_record_number(in, "receive_buffer_bytes", &s->receive_buffer);
	return source >= 0 && state >= 0 && json_record_number(in, "messages", &s->messages) &&
	       json_record_number(in, "bytes", &s->bytes) &&
	       json_record_number(in, "lost", &s->lost);
}

static bool take_all_sources(struct json_record *j, const json_t *list)
{
	json_t *item;
	size_t i;

	j->status.sources = j->sources;
	json_array_foreach(list, i, item)
	{
		if (i == JSON_RECORD_SOURCES)
			break;
		if (!take_source(item, &j->sources[i]))
			return false;
		j->status.n_sources++;
	}
	return json_is_array(list);
}

static bool take_balance(const json_t *in, struct exeunt_balance *b)
{
	const struct {
		const char *key;
		uint64_t *to;
	} all[] = {
		{ "exits", &b->exits },	      { "threads_seen", &b->threads_seen },
		{ "amends", &b->amends },     { "backfilled", &b->backfilled },
		{ "lost", &b->lost },	      { "lost_output", &b->lost_output },
		{ "filtered", &b->filtered }, { "unparsable", &b->unparsable },
		{ "evicted", &b->evicted },   { "unmatched", &b->unmatched },
		{ "pending", &b->pending },   { "unfinished", &b->unfinished },
		{ "records", &b->records },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!json_record_number(in, all[i].key, all[i].to))
			return false;
	return true;
}

static bool take_status(struct json_record *j, json_t *about)
{
	const json_t *started = json_object_get(about, "started");

	j->status = (struct exeunt_status){
		.version = json_string_value(json_object_get(about, "version")),
		.kernel_release = json_record_text(j, "kernel.release"),
		.delay_accounting = json_is_true(json_object_get(j->root, "delay_accounting")),
	};
	return (!started || json_record_time(started, &j->status.started_ns)) &&
	       take_all_sources(j, json_object_get(about, "sources")) &&
	       take_balance(json_object_get(j->root, "balance"), &j->status.balance);
}

bool json_record_other(struct json_record *j)
{
	json_t *loss = json_object_get(j->root, "loss"),
	       *about = json_object_get(j->root, "exeunt");

	if (loss)
		j->record.loss = &j->loss;
	if (about)
		j->record.status = &j->status;
	return (j->record.type != EXEUNT_TYPE_LOSS || loss) &&
	       (!loss || take_loss(loss, &j->loss)) && (!about || take_status(j, about));
}
