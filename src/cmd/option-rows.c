/* SPDX-License-Identifier: MIT */
/* One table of options; --help is made from it. See option-rows.h. */
#include "cmd/option-rows.h"

#include "base/util.h"
#include "cmd/options.h"
#include "sink/sink.h"

static const struct row {
	int groups;
	struct option option;
	const char *argument, *help;
} rows[] = {
	{ OPTIONS_RUN,
	  { "to", required_argument, NULL, OPT_TO },
	  "SINK",
	  "give the records to SINK, see below; may be repeated" },
	{ OPTIONS_RUN,
	  { "name", required_argument, NULL, OPT_NAME },
	  "NAME",
	  "of the --to before it, in messages and metrics" },
	{ OPTIONS_RUN | OPTIONS_OF_SINK,
	  { "fields", required_argument, NULL, OPT_FIELDS },
	  "LIST",
	  "of the --to before it: only these fields, with commas between" },
	{ OPTIONS_RUN | OPTIONS_OF_SINK,
	  { "rate", required_argument, NULL, OPT_RATE },
	  "N",
	  "of the --to before it: at most N records a second" },
	{ OPTIONS_RUN | OPTIONS_OF_SINK,
	  { "interval", required_argument, NULL, OPT_INTERVAL },
	  "TIME",
	  "of the --to before it: write that often (default of metrics: 15)" },
	{ OPTIONS_RUN | OPTIONS_OF_SINK,
	  { "keep", required_argument, NULL, OPT_KEEP },
	  "TIME",
	  "of a store: drop what is older, such as 30d" },
	{ OPTIONS_RUN | OPTIONS_OF_SINK,
	  { "keep-bytes", required_argument, NULL, OPT_KEEP_BYTES },
	  "BYTES",
	  "of a store: drop the oldest when it is larger, such as 10G" },
	{ OPTIONS_RUN,
	  { "config", required_argument, NULL, OPT_CONFIG },
	  "FILE",
	  "read options from there first; the command line goes before it" },
	{ OPTIONS_RUN,
	  { "check-config", no_argument, NULL, OPT_CHECK_CONFIG },
	  NULL,
	  "tell what is wrong with the options and the file, and end" },
	{ OPTIONS_RUN,
	  { "pid-file", required_argument, NULL, OPT_PID_FILE },
	  "FILE",
	  "written and locked while it runs (default: /run/exeunt/exeunt.pid)" },
	{ OPTIONS_ATTACH,
	  { "socket", required_argument, NULL, OPT_SOCKET },
	  "PATH",
	  "show what the daemon there collects (default: a daemon's, if it runs); or off" },
	{ OPTIONS_HISTORY,
	  { "since", required_argument, NULL, OPT_SINCE },
	  "TIME",
	  "what ended from then on: 14:00, yesterday, '2h ago', 2026-01-31" },
	{ OPTIONS_HISTORY,
	  { "until", required_argument, NULL, OPT_UNTIL },
	  "TIME",
	  "what ended before then" },
	{ OPTIONS_HISTORY,
	  { "user", required_argument, NULL, OPT_OF_USER },
	  "NAME",
	  "only processes of this user" },
	{ OPTIONS_HISTORY,
	  { "signal", optional_argument, NULL, OPT_SIGNAL },
	  "NAME",
	  "only those that a signal ended; this one, if it is named" },
	{ OPTIONS_HISTORY,
	  { "failed", no_argument, NULL, OPT_FAILED },
	  NULL,
	  "only those that did not end with status 0" },
	{ OPTIONS_HISTORY,
	  { "follow", no_argument, NULL, OPT_FOLLOW },
	  NULL,
	  "the last ten, then what comes, as it comes" },
	{ OPTIONS_RUN,
	  { "no-seccomp", no_argument, NULL, OPT_NO_SECCOMP },
	  NULL,
	  "keep the system calls that it does not need" },
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
	{ OPTIONS_SOURCES | OPTIONS_ARGS,
	  { "no-args", no_argument, NULL, OPT_NO_ARGS },
	  NULL,
	  "leave the arguments of programs out" },
	{ OPTIONS_SOURCES | OPTIONS_ARGS,
	  { "redact", required_argument, NULL, OPT_REDACT },
	  "REGEX",
	  "in arguments, what this matches becomes ***; may be repeated" },
	{ OPTIONS_SOURCES,
	  { "user", required_argument, NULL, OPT_USER },
	  "USER",
	  "become this user once everything is open" },
	{ OPTIONS_TOP,
	  { "replay", required_argument, NULL, OPT_REPLAY },
	  "FILE",
	  "play a capture or an accounting file, not what ends now" },
	{ OPTIONS_TOP,
	  { "speed", required_argument, NULL, OPT_SPEED },
	  "N",
	  "of --replay: so many times as fast as it was, or max (default)" },
	{ OPTIONS_TOP,
	  { "window", required_argument, NULL, OPT_WINDOW },
	  "TIME",
	  "10s, 1m (default), 5m or start: what is older fades" },
	{ OPTIONS_TOP,
	  { "batch", no_argument, NULL, 'b' },
	  NULL,
	  "print each screen as text, without keys" },
	{ OPTIONS_TOP, { "iterations", required_argument, NULL, 'n' }, "N", "end after N screens" },
	{ OPTIONS_TOP,
	  { "delay", required_argument, NULL, 'd' },
	  "SECONDS",
	  "from one screen to the next (default: 1)" },
	{ OPTIONS_REPORT | OPTIONS_TOP,
	  { "by", required_argument, NULL, OPT_BY },
	  "FIELDS",
	  "group by these, with commas between (default: comm); top: by one" },
	{ OPTIONS_REPORT | OPTIONS_TOP,
	  { "sort", required_argument, NULL, OPT_SORT },
	  "WHAT",
	  "the most first: cpu (default), exits, failed ...; or by name" },
	{ OPTIONS_REPORT,
	  { "top", required_argument, NULL, OPT_TOP },
	  "N",
	  "the first N, and all others in one row" },
	{ OPTIONS_REPORT,
	  { "interval", required_argument, NULL, OPT_INTERVAL },
	  "TIME",
	  "rows for each interval of the time of the exit: 15m, 1h, 1d" },
	{ OPTIONS_REPORT,
	  { "since-last", optional_argument, NULL, OPT_SINCE_LAST },
	  "NAME",
	  "of a store: only what came since the last report of that name" },
	{ OPTIONS_JSON | OPTIONS_REPORT,
	  { "json", no_argument, NULL, OPT_JSON },
	  NULL,
	  "JSON Lines, see exeunt-record(5)" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT,
	  { "output", required_argument, NULL, 'o' },
	  "FILE",
	  "write there, not to standard output" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT | OPTIONS_RUN | OPTIONS_OF_SINK | OPTIONS_TOP,
	  { "filter", required_argument, NULL, 'f' },
	  "EXPR",
	  "only these, such as 'exit.code != 0 and comm ~ \"^ssh\"'" },
	{ OPTIONS_RECORDS | OPTIONS_RUN,
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
	{ OPTIONS_RECORDS | OPTIONS_REPORT | OPTIONS_RUN,
	  { "numeric", no_argument, NULL, 'n' },
	  NULL,
	  "numbers for users and groups" },
	{ OPTIONS_PEOPLE | OPTIONS_REPORT | OPTIONS_TOP,
	  { "utc", no_argument, NULL, OPT_UTC },
	  NULL,
	  "times in UTC, not local" },
	{ OPTIONS_PEOPLE | OPTIONS_TOP,
	  { "color", required_argument, NULL, OPT_COLOR },
	  "WHEN",
	  "auto, always or never" },
	{ OPTIONS_PEOPLE | OPTIONS_TOP,
	  { "no-color", no_argument, NULL, OPT_NO_COLOR },
	  NULL,
	  "the same as --color=never" },
	{ OPTIONS_RECORDS | OPTIONS_RUN,
	  { "status", required_argument, NULL, OPT_STATUS },
	  "TIME",
	  "a status record that often (default: 60 with --json; 0: never)" },
	{ OPTIONS_RECORDS | OPTIONS_REPORT | OPTIONS_RUN | OPTIONS_OF_SINK,
	  { "buffer", required_argument, NULL, OPT_BUFFER },
	  "BYTES",
	  "keep so much for a slow reader, then drop and tell (default: 8M)" },
	{ ~OPTIONS_OF_SINK,
	  { "quiet", no_argument, NULL, 'q' },
	  NULL,
	  "no notes on stderr, only errors" },
	{ ~OPTIONS_OF_SINK, { "help", no_argument, NULL, 'h' }, NULL, "this text" },
	{ ~OPTIONS_OF_SINK, { "version", no_argument, NULL, 'V' }, NULL, "the version" },
};

_Static_assert(ARRAY_SIZE(rows) < OPTION_ROWS_MAX, "OPTION_ROWS_MAX");

static void sinks_help(void)
{
	size_t n;
	const struct sink_ops *const *all = sink_table(&n);

	printf("\nSinks:\n");
	for (size_t i = 0; i < n; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s", all[i]->word, all[i]->target ? ":" : "",
			 all[i]->target ? all[i]->target : "");
		printf("  %-24s %s\n", left, all[i]->help);
	}
}

void option_rows_help(int groups, const char *usage)
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
	if (groups & OPTIONS_RUN)
		sinks_help();
}

const char *option_name(int groups, int opt)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].option.val == opt && (rows[i].groups & groups))
			return rows[i].option.name;
	return "";
}

void option_rows_collect(int groups, struct option *options, char *letters)
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

int option_find(int groups, const char *name, int *has_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!(rows[i].groups & groups) || strcmp(rows[i].option.name, name) != 0)
			continue;
		*has_arg = rows[i].option.has_arg;
		return rows[i].option.val;
	}
	return -ENOENT;
}
