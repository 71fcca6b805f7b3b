/* SPDX-License-Identifier: MIT */
/* The sinks of the daemon, from what the options say of them until they are open. See serve.h. */
#include "cmd/serve.h"

#include "base/clock.h"
#include "cmd/cmd.h"
#include "record/fields.h"

void serve_message(int level, const char *text, void *userdata)
{
	const struct serving *s = userdata;

	if (level <= 4 || !s->options->quiet)
		cmd_say(level, "%s", text);
}

static void describe(enum exeunt_type type, struct exeunt_record *ret, void *userdata)
{
	struct serving *s = userdata;

	s->about.sources = exeunt_sources(s->x, &s->about.n_sources);
	exeunt_balance(s->x, &s->about.balance);
	*ret = (struct exeunt_record){ .size = sizeof(*ret),
				       .version = EXEUNT_RECORD_VERSION,
				       .type = (uint16_t)type,
				       .time_ns = real_now(),
				       .status = &s->about };
}

static struct sink *const *all_sinks(size_t *n, void *userdata)
{
	const struct serving *s = userdata;

	*n = s->n_sinks;
	return s->sinks;
}

/* "json", "json2" ... where no name was given. */
static int name_sink(struct serving *s, size_t i, const struct sink_ops *ops)
{
	const char *given = s->options->to[i].name;
	unsigned int nth = 1;

	if (given && strlen(given) >= sizeof(s->names[i]))
		return cmd_usage_error("run ", "--name=%s: expected at most %zu bytes", given,
				       sizeof(s->names[i]) - 1);
	snprintf(s->names[i], sizeof(s->names[i]), "%s", given ? given : ops->word);
	for (size_t j = 0; j < i; j++) {
		if (strcmp(s->names[j], s->names[i]) != 0)
			continue;
		if (given)
			return cmd_usage_error("run ", "two sinks have the name '%s'", given);
		snprintf(s->names[i], sizeof(s->names[i]), "%s%u", ops->word, ++nth);
		j = (size_t)-1; /* look again from the first */
	}
	return -1;
}

static int check_filter(struct serving *s, size_t i, const char *expr)
{
	char error[FILTER_ERROR_SIZE];
	int r = filter_new(&s->filters[i], expr, error, sizeof(error));

	if (r == -EINVAL) {
		fprintf(stderr, "exeunt: sink %s: %s\n", s->names[i], error);
		return CMD_USAGE;
	}
	return r < 0 ? cmd_usage_error("run ", "filter: %s", strerror(-r)) : -1;
}

static int check_sink(struct serving *s, size_t i)
{
	const struct sink_choice *c = &s->options->to[i];
	const char *filter = c->filter ? c->filter : s->options->filter;
	const struct sink_ops *ops;
	const char *target, *bad;
	char error[512];
	size_t len;
	int status;

	if (sink_parse(c->spec, &ops, &target, error, sizeof(error)) < 0)
		return cmd_usage_error("run ", "%s", error);
	status = name_sink(s, i, ops);
	if (status < 0 && filter)
		status = check_filter(s, i, filter);
	if (status < 0 && c->fields && field_parse_list(c->fields, s->fields[i], &bad, &len) < 0)
		status = cmd_usage_error(
			"run ",
			"sink %s: fields: '%.*s' is no field, or the end of several; see exeunt-record(5)",
			s->names[i], (int)len, bad);
	return status;
}

int serve_check(struct serving *s, const struct options *o)
{
	int status = -1;

	*s = (struct serving){ .options = o,
			       .host = { .say = serve_message,
					 .describe = describe,
					 .sinks = all_sinks,
					 .userdata = s },
			       .notify = { .fd = -1 } };
	if (!o->n_to)
		return cmd_usage_error("run ", "nowhere to go: --to=SINK, such as --to=json:-");
	for (size_t i = 0; i < o->n_to && status < 0; i++)
		status = check_sink(s, i);
	return status;
}

static int open_sink(struct serving *s, size_t i)
{
	const struct sink_choice *c = &s->options->to[i];
	struct sink_options o = { .host = &s->host,
				  .name = s->names[i],
				  .filter = s->filters[i],
				  .fields = c->fields ? s->fields[i] : NULL,
				  .buffer = c->buffer ? c->buffer : s->options->buffer,
				  .rate = c->rate,
				  .keep_ns = c->keep_ns,
				  .keep_bytes = c->keep_bytes,
				  .interval_ns = c->interval_ns ? c->interval_ns
								: s->options->interval_ns };
	const struct sink_ops *ops;
	char error[512];

	sink_parse(c->spec, &ops, &o.target, error, sizeof(error));
	if (ops->new (&s->sinks[i], &o, error, sizeof(error)) < 0) {
		cmd_error("sink %s: %s", o.name, error);
		return CMD_FAILED;
	}
	s->n_sinks = i + 1;
	return -1;
}

int serve_open(struct serving *s)
{
	int status = -1;

	s->host.name = exeunt_host_name(s->x);
	s->host.boot_id = exeunt_boot_id(s->x);
	for (size_t i = 0; i < s->options->n_to && status < 0; i++)
		status = open_sink(s, i);
	return status;
}

uint64_t serve_capabilities(const struct serving *s)
{
	uint64_t keep = 0;

	for (size_t i = 0; i < s->n_sinks; i++)
		keep |= s->sinks[i]->ops->capabilities;
	return keep;
}
