/* SPDX-License-Identifier: MIT */
/* One table of options; --help is made from it. See options.h. */
#include "cmd/options.h"

#include <getopt.h>

#include <exeunt/exeunt.h>

#include "cmd/cmd.h"
#include "cmd/values.h"
#include "source/audit.h"

enum {
	OPT_THREADS = 256,
	OPT_COUNT,
	OPT_DURATION,
	OPT_RCVBUF,
	OPT_USER,
	OPT_STATUS,
	OPT_UTC,
	OPT_COLOR,
	OPT_NO_COLOR,
	OPT_BUFFER,
	OPT_JSON,
	OPT_SOURCE,
	OPT_AUDIT,
	OPT_AUDIT_RULES,
	OPT_PACCT,
	OPT_PACCT_STATE,
	OPT_FORCE,
	OPT_NO_ARGS,
	OPT_REDACT,
	OPT_BY,
	OPT_SORT,
	OPT_TOP,
	OPT_INTERVAL,
};

static const struct row {
	int groups;
	struct option option;
	const char *argument, *help;
} rows[] = {
	{ OPTIONS_SOURCES,
	  { "source", required_argument, NULL, OPT_SOURCE },
	  "LIST",
	  "listen to these, and to nothing else: taskstats, procevents, audit, pacct" },
	{ OPTIONS_BY_HAND,
	  { "audit", required_argument, NULL, OPT_AUDIT },
	  "MODE",
	  "auto, off, multicast, unicast (in the place of auditd), stdin" },
	{ OPTIONS_SOURCES,
	  { "audit-rules", required_argument, NULL, OPT_AUDIT_RULES },
	  "NAMES",
	  "load these sets of audit rules while it runs; see exeunt rules list" },
	{ OPTIONS_SOURCES,
	  { "pacct", required_argument, NULL, OPT_PACCT },
	  "MODE",
	  "auto, off, own (switch accounting on), or the path of a file" },
	{ OPTIONS_SOURCES,
	  { "pacct-state", required_argument, NULL, OPT_PACCT_STATE },
	  "FILE",
	  "remember there how far the accounting file was read" },
	{ OPTIONS_SOURCES,
	  { "force", no_argument, NULL, OPT_FORCE },
	  NULL,
	  "with --pacct=own: take accounting from whoever has it" },
	{ OPTIONS_SOURCES,
	  { "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	  "BYTES",
	  "receive buffer of each socket (default: by memory, up to 32M)" },
	{ OPTIONS_SOURCES,
	  { "no-args", no_argument, NULL, OPT_NO_ARGS },
	  NULL,
	  "do not read the arguments of programs" },
	{ OPTIONS_SOURCES,
	  { "redact", required_argument, NULL, OPT_REDACT },
	  "REGEX",
	  "in arguments, what this matches becomes ***; may be repeated" },
	{ OPTIONS_SOURCES,
	  { "user", required_argument, NULL, OPT_USER },
	  "USER",
	  "become this user once everything is open" },
	{ OPTIONS_REPORT,
	  { "by", required_argument, NULL, OPT_BY },
	  "FIELDS",
	  "group by these, with commas between (default: comm)" },
	{ OPTIONS_REPORT,
	  { "sort", required_argument, NULL, OPT_SORT },
	  "WHAT",
	  "the most first: cpu (default), exits, elapsed, failed; or by name" },
	{ OPTIONS_REPORT,
	  { "top", required_argument, NULL, OPT_TOP },
	  "N",
	  "the first N, and all others in one row" },
	{ OPTIONS_REPORT,
	  { "interval", required_argument, NULL, OPT_INTERVAL },
	  "TIME",
	  "rows for each interval of the time of the exit: 15m, 1h, 1d" },
	{ OPTIONS_JSON | OPTIONS_REPORT,
	  { "json", no_argument, NULL, OPT_JSON },
	  NULL,
	  "JSON Lines, see exeunt-record(5)" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT,
	  { "output", required_argument, NULL, 'o' },
	  "FILE",
	  "write there, not to standard output" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT,
	  { "filter", required_argument, NULL, 'f' },
	  "EXPR",
	  "only these, such as 'exit.code != 0 and comm ~ \"^ssh\"'" },
	{ OPTIONS_RECORDS,
	  { "threads", no_argument, NULL, OPT_THREADS },
	  NULL,
	  "ends of threads too" },
	{ OPTIONS_PEOPLE,
	  { "count", required_argument, NULL, OPT_COUNT },
	  "N",
	  "end after N exits" },
	{ OPTIONS_BY_HAND,
	  { "duration", required_argument, NULL, OPT_DURATION },
	  "TIME",
	  "end after this time: 10, 1.5, 2m, 1h" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT,
	  { "numeric", no_argument, NULL, 'n' },
	  NULL,
	  "numbers for users and groups" },
	{ OPTIONS_PEOPLE | OPTIONS_REPORT,
	  { "utc", no_argument, NULL, OPT_UTC },
	  NULL,
	  "times in UTC, not local" },
	{ OPTIONS_PEOPLE,
	  { "color", required_argument, NULL, OPT_COLOR },
	  "WHEN",
	  "auto, always or never" },
	{ OPTIONS_PEOPLE,
	  { "no-color", no_argument, NULL, OPT_NO_COLOR },
	  NULL,
	  "the same as --color=never" },
	{ OPTIONS_RECORDS,
	  { "status", required_argument, NULL, OPT_STATUS },
	  "TIME",
	  "a status record that often (default: 60 with --json; 0: never)" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT,
	  { "buffer", required_argument, NULL, OPT_BUFFER },
	  "BYTES",
	  "keep so much for a slow reader, then drop and tell (default: 8M)" },
	{ ~0, { "quiet", no_argument, NULL, 'q' }, NULL, "no notes on stderr, only errors" },
	{ ~0, { "help", no_argument, NULL, 'h' }, NULL, "this text" },
	{ ~0, { "version", no_argument, NULL, 'V' }, NULL, "the version" },
};

static void print_help(int groups, const char *usage)
{
	printf("%s\nOptions:\n", usage);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		char left[64], letter[8] = "    ";

		if (!(r->groups & groups))
			continue;
		if (r->option.val < 256)
			snprintf(letter, sizeof(letter), "-%c, ", r->option.val);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, r->option.name,
			 r->argument ? "=" : "", r->argument ? r->argument : "");
		printf("  %-24s %s\n", left, r->help);
	}
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
		r = value_bytes(arg, UINT64_C(1) << 30, &o->buffer);
		return r < 0 || o->buffer < 65536 ? -EINVAL : 0;
	default:
		*expected = "auto, always or never";
		return value_color(arg, &o->color);
	}
}

static int take_for_report(struct options *o, int opt, const char *arg, const char **expected)
{
	static const int64_t most_ns = 366 * 86400 * NS_PER_SEC;
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
		r = value_time(arg, &o->interval_ns);
		return r < 0 || o->interval_ns < NS_PER_SEC || o->interval_ns > most_ns ? -EINVAL
											: 0;
	}
}

static int take(struct options *o, int opt, char *arg, const char **expected)
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
		o->filter = arg;
		return 0;
	case 'n':
		o->numeric = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	default:
		return take_value(o, opt, arg, expected);
	}
}

static const char *name_of(int opt)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].option.val == opt)
			return rows[i].option.name;
	return "";
}

/* What this command takes, for getopt_long(). */
static void collect(int groups, struct option *options, char *letters)
{
	*letters = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		if (!(r->groups & groups))
			continue;
		*options++ = r->option;
		if (r->option.val < 256) {
			*letters++ = (char)r->option.val;
			if (r->option.has_arg)
				*letters++ = ':';
			*letters = '\0';
		}
	}
	*options = (struct option){ 0 };
}

/*
 * A mode names its source: with one that is not the default it has to work. Returns -1, or an exit status.
 */
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

int options_parse(struct options *o, int argc, char **argv, const char *command, int groups,
		  const char *usage)
{
	struct option known[ARRAY_SIZE(rows) + 1];
	char letters[2 * ARRAY_SIZE(rows) + 1], hint[32];
	int opt;

	*o = (struct options){ 0 };
	snprintf(hint, sizeof(hint), "%s ", command);
	collect(groups, known, letters);
	while ((opt = getopt_long(argc, argv, letters, known, NULL)) != -1) {
		const char *expected = NULL;

		if (opt == '?') /* getopt has told what is wrong */
			return cmd_usage_hint(hint);
		if (opt == 'h') {
			print_help(groups, usage);
			return CMD_DONE;
		}
		if (opt == 'V') {
			printf("exeunt %s\n", exeunt_version());
			return CMD_DONE;
		}
		if (take(o, opt, optarg, &expected) < 0)
			return cmd_usage_error(hint, "--%s=%s: expected %s", name_of(opt), optarg,
					       expected);
	}
	o->first_operand = optind;
	return finish(o, hint);
}
