/* SPDX-License-Identifier: MIT */
/* From the command line, or a line of a file, to struct options. See options.h; the table is in option-rows.c. */
#include "cmd/options.h"

#include <exeunt/exeunt.h>

#include "cmd/cmd.h"
#include "cmd/option-rows.h"
#include "cmd/values.h"
#include "source/audit.h"

/* What is said now is said of it; NULL: of all. The command line speaks of its own, not of those of a file. */
static struct sink_choice *last_sink(struct options *o)
{
	return o->n_to > o->n_to_before ? &o->to[o->n_to - 1] : NULL;
}

/* Options with a value that has to be understood; the message says what would be. */
static int take_value(struct options *o, int opt, const char *arg, const char **expected)
{
	enum audit_mode mode;
	uint64_t bytes = 0;
	int64_t ns = 0;
	int r;

	switch (opt) {
	case OPT_SOURCE:
		*expected = "names out of taskstats, procevents, audit, pacct, with commas";
		o->source_given = true;
		return value_sources(arg, &o->sources);
	case OPT_COUNT:
		*expected = "a whole number above 0";
		return value_count(arg, &o->count);
	case OPT_DURATION:
		*expected = "a time such as 10, 1.5, 2m or 1h";
		r = value_time(arg, &o->duration_ns);
		return r < 0 || !o->duration_ns ? -EINVAL : 0;
	case OPT_STATUS:
		*expected = "a time such as 60 or 5m, in whole seconds; 0 is never";
		r = value_time(arg, &ns);
		o->status_given = true;
		o->status_seconds = (uint32_t)(ns / NS_PER_SEC);
		return r < 0 || ns % NS_PER_SEC ? -EINVAL : 0;
	case OPT_AUDIT:
		*expected = "auto, off, multicast, unicast or stdin";
		o->audit = arg;
		return audit_mode_parse(&mode, arg);
	case OPT_PACCT:
		*expected = "auto, off, own, or a path with a slash in it";
		o->pacct = arg;
		return value_pacct(arg);
	case OPT_RCVBUF:
		*expected = "a number of bytes such as 65536, 512K or 32M, up to 1G";
		r = value_bytes(arg, UINT64_C(1) << 30, &bytes);
		o->receive_buffer = (uint32_t)bytes;
		return r < 0 || !bytes ? -EINVAL : 0;
	case OPT_BUFFER:
		*expected = "a number of bytes such as 512K or 32M, from 64K to 1G";
		r = value_bytes(arg, UINT64_C(1) << 30, &bytes);
		*(last_sink(o) ? &last_sink(o)->buffer : &o->buffer) = bytes;
		return r < 0 || bytes < 65536 ? -EINVAL : 0;
	default:
		*expected = "auto, always or never";
		return value_color(arg, &o->color);
	}
}

static int take_for_report(struct options *o, int opt, const char *arg, const char **expected)
{
	static const int64_t most_ns = 366 * 86400 * NS_PER_SEC;
	int64_t ns = 0;
	int r;

	switch (opt) {
	case OPT_BY:
		o->by = arg;
		return 0;
	case OPT_SORT:
		o->sort = arg;
		return 0;
	case OPT_TOP:
		*expected = "a whole number above 0";
		return value_count(arg, &o->top);
	default:
		*expected = "a time such as 90, 15m or 1h, from a second to 366 days";
		r = value_time(arg, &ns);
		*(last_sink(o) ? &last_sink(o)->interval_ns : &o->interval_ns) = ns;
		return r < 0 || ns < NS_PER_SEC || ns > most_ns ? -EINVAL : 0;
	}
}

/* What is said behind a --to is said of that one. */
static int take_for_sink(struct options *o, int opt, const char *arg, const char **expected)
{
	struct sink_choice *sink = last_sink(o);
	int r;

	if (opt == OPT_TO) {
		*expected = "no more than 16 of them";
		if (o->n_to == ARRAY_SIZE(o->to))
			return -EINVAL;
		o->to[o->n_to++] = (struct sink_choice){ .spec = arg };
		return 0;
	}
	*expected = "a --to before it";
	if (!sink)
		return -EINVAL;
	switch (opt) {
	case OPT_NAME:
		sink->name = arg;
		return 0;
	case OPT_FIELDS:
		sink->fields = arg;
		return 0;
	case OPT_KEEP:
		*expected = "a time such as 12h or 30d, from a minute on";
		r = value_time(arg, &sink->keep_ns);
		return r < 0 || sink->keep_ns < 60 * NS_PER_SEC ? -EINVAL : 0;
	case OPT_KEEP_BYTES:
		*expected = "a number of bytes such as 500M or 10G, from 1M on";
		r = value_bytes(arg, UINT64_C(1) << 50, &sink->keep_bytes);
		return r < 0 || sink->keep_bytes < 1 << 20 ? -EINVAL : 0;
	default:
		*expected = "a whole number above 0";
		return value_count(arg, &sink->rate);
	}
}

static void take_for_history(struct options *o, int opt, const char *arg)
{
	switch (opt) {
	case OPT_SINCE_LAST:
		o->since_last = arg ? arg : "report";
		break;
	case OPT_SINCE:
		o->since = arg;
		break;
	case OPT_UNTIL:
		o->until = arg;
		break;
	case OPT_OF_USER:
		o->of_user = arg;
		break;
	case OPT_SIGNAL:
		o->signal = arg ? arg : "";
		break;
	case OPT_FAILED:
		o->failed = true;
		break;
	default:
		o->follow = true;
		break;
	}
}

/* -n is a number here; for the others it is --numeric. */
static int take_for_top(struct options *o, int opt, const char *arg, const char **expected)
{
	switch (opt) {
	case OPT_REPLAY:
		o->replay = arg;
		return 0;
	case OPT_SPEED:
		o->speed = arg;
		return 0;
	case OPT_WINDOW:
		o->window = arg;
		return 0;
	case 'b':
		o->batch = true;
		return 0;
	case 'd':
		o->delay = arg;
		o->delay_given = true;
		return 0;
	default:
		*expected = "a whole number above 0";
		return value_count(arg, &o->iterations);
	}
}

static int take(struct options *o, int opt, const char *arg, const char **expected)
{
	switch (opt) {
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_THREADS:
		o->threads = true;
		return 0;
	case OPT_UTC:
		o->utc = true;
		return 0;
	case OPT_NO_COLOR:
		o->color = COLOR_NEVER;
		return 0;
	case OPT_USER:
		o->user = arg;
		return 0;
	case OPT_BY:
	case OPT_SORT:
	case OPT_TOP:
	case OPT_INTERVAL:
		return take_for_report(o, opt, arg, expected);
	case OPT_PACCT_STATE:
		o->pacct_state = arg;
		return 0;
	case OPT_AUDIT_RULES:
		o->audit_rules = arg;
		return 0;
	case OPT_FORCE:
		o->force = true;
		return 0;
	case OPT_NO_ARGS:
		o->no_args = true;
		return 0;
	case OPT_REDACT:
		*expected = "no more than 16 of them";
		if (o->n_redact == ARRAY_SIZE(o->redact))
			return -EINVAL;
		o->redact[o->n_redact++] = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'f':
		*(last_sink(o) ? &last_sink(o)->filter : &o->filter) = arg;
		return 0;
	case OPT_TO:
	case OPT_NAME:
	case OPT_FIELDS:
	case OPT_RATE:
	case OPT_KEEP:
	case OPT_KEEP_BYTES:
		return take_for_sink(o, opt, arg, expected);
	case OPT_SINCE_LAST:
	case OPT_SINCE:
	case OPT_UNTIL:
	case OPT_OF_USER:
	case OPT_SIGNAL:
	case OPT_FAILED:
	case OPT_FOLLOW:
		take_for_history(o, opt, arg);
		return 0;
	case OPT_CONFIG:
		o->config = arg;
		return 0;
	case OPT_CHECK_CONFIG:
		o->check_config = true;
		return 0;
	case OPT_SOCKET:
		o->socket = arg;
		return 0;
	case OPT_NO_SECCOMP:
		o->no_seccomp = true;
		return 0;
	case OPT_PID_FILE:
		o->pid_file = arg;
		return 0;
	case OPT_REPLAY:
	case OPT_SPEED:
	case OPT_WINDOW:
	case 'b':
	case 'd':
		return take_for_top(o, opt, arg, expected);
	case 'n':
		if (arg)
			return take_for_top(o, opt, arg, expected);
		o->numeric = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	default:
		return take_value(o, opt, arg, expected);
	}
}

/* A mode names its source: with one that is not the default it has to work. Returns -1, or an exit status. */
static int take_mode(struct options *o, const char *hint, const char *mode,
		     enum exeunt_source source)
{
	uint32_t bit = EXEUNT_SOURCE_BIT(source);

	if (!mode || !strcmp(mode, "auto"))
		return -1;
	if (strcmp(mode, "off") != 0) {
		o->needed |= bit;
		return -1;
	}
	if (o->source_given && (o->sources & bit))
		return cmd_usage_error(hint, "--source has %s, and --%s is off",
				       exeunt_source_name(source), exeunt_source_name(source));
	return -1;
}

static int finish(struct options *o, const char *hint)
{
	int status = take_mode(o, hint, o->audit, EXEUNT_SOURCE_AUDIT);

	if (status < 0)
		status = take_mode(o, hint, o->pacct, EXEUNT_SOURCE_PACCT);
	if (status >= 0)
		return status;
	if (o->audit_rules && o->audit && !strcmp(o->audit, "off"))
		return cmd_usage_error(hint, "--audit-rules needs audit, and --audit is off");
	if (o->force && (!o->pacct || strcmp(o->pacct, "own") != 0))
		return cmd_usage_error(hint, "--force goes with --pacct=own");
	return -1;
}

static int parse(struct options *o, int argc, char **argv, const char *hint, int groups,
		 const char *usage)
{
	struct option known[OPTION_ROWS_MAX];
	char letters[2 * OPTION_ROWS_MAX + 1];
	int opt;

	option_rows_collect(groups, known, letters);
	optind = 0; /* from the start, also the second time */
	while ((opt = getopt_long(argc, argv, letters, known, NULL)) != -1) {
		const char *expected = NULL;

		if (opt == '?') /* getopt has told what is wrong */
			return cmd_usage_hint(hint);
		if (opt == 'h') {
			option_rows_help(groups, usage);
			return CMD_DONE;
		}
		if (opt == 'V') {
			printf("exeunt %s\n", exeunt_version());
			return CMD_DONE;
		}
		if (take(o, opt, optarg, &expected) < 0)
			return cmd_usage_error(hint, "--%s=%s: expected %s",
					       option_name(groups, opt), optarg, expected);
	}
	o->first_operand = optind;
	return -1;
}

int options_parse_onto(struct options *o, int argc, char **argv, const char *command, int groups,
		       const char *usage)
{
	char hint[32];
	int status;

	o->n_to_before = o->n_to;
	snprintf(hint, sizeof(hint), "%s ", command);
	status = parse(o, argc, argv, hint, groups, usage);
	return status < 0 ? finish(o, hint) : status;
}

int options_parse(struct options *o, int argc, char **argv, const char *command, int groups,
		  const char *usage)
{
	char hint[32];
	int status;

	*o = (struct options){ 0 };
	snprintf(hint, sizeof(hint), "%s ", command);
	status = parse(o, argc, argv, hint, groups, usage);
	/* what belongs together may stand in the file */
	return status < 0 && !o->config ? finish(o, hint) : status;
}

static int find_for_file(int groups, const char *name, int *has_arg)
{
	int opt = option_find(groups, name, has_arg);

	if (opt == 'h' || opt == 'V' || opt == OPT_CONFIG || opt == OPT_CHECK_CONFIG)
		return -ENOENT;
	return opt;
}

bool options_has(int groups, const char *name)
{
	int has_arg;

	return find_for_file(groups, name, &has_arg) >= 0;
}

int options_set(struct options *o, int groups, const char *name, const char *value, char *error,
		size_t size)
{
	const char *expected = "yes or no";
	int has_arg, opt = find_for_file(groups, name, &has_arg);

	if (opt < 0) {
		snprintf(error, size, "'%s': no such option here", name);
		return -EINVAL;
	}
	if (!has_arg && !strcmp(value, "no"))
		return 0;
	if ((!has_arg && strcmp(value, "yes") != 0) || take(o, opt, value, &expected) < 0) {
		snprintf(error, size, "%s = %s: expected %s", name, value, expected);
		return -EINVAL;
	}
	return 0;
}
