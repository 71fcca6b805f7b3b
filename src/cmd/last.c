/* SPDX-License-Identifier: MIT */
/*
 * exeunt last: what ended, the newest first, out of a store or of files. Of a store only as much is read as is shown. What
 * corrected an exit later is shown in its line.
 */
#include "cmd/cmd.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "cmd/last.h"
#include "cmd/values.h"
#include "record/copy.h"

#define STORE "/var/lib/exeunt"

static const char usage[] =
	"Usage: exeunt last [OPTION]... [DIR|FILE]...\n"
	"Show what ended, the newest first: out of the store that exeunt run has written (default: " STORE
	"),\nor out of captures, accounting files and audit logs.\n";

/* Each of them has to be true. */
static int add_condition(char **filter, const char *condition)
{
	char *longer;

	if (!*filter) {
		*filter = strdup(condition);
		return *filter ? 0 : -ENOMEM;
	}
	if (asprintf(&longer, "(%s) and (%s)", *filter, condition) < 0)
		return -ENOMEM;
	free(*filter);
	*filter = longer;
	return 0;
}

/* `name` within quotes, for the filter language. */
static int add_named(char **filter, const char *field, const char *prefix, const char *name)
{
	char condition[512];

	if (strlen(name) > 256 || strpbrk(name, "\"\\"))
		return -EINVAL;
	snprintf(condition, sizeof(condition), "%s == \"%s%s\"", field, prefix, name);
	return add_condition(filter, condition);
}

/* --signal=KILL, SIGKILL or 9; without a value any. */
static int add_signal(char **filter, const char *signal)
{
	char condition[64];

	if (!*signal)
		return add_condition(filter, "signal >= 1");
	if (signal[strspn(signal, "0123456789")] == '\0' && strlen(signal) < 4) {
		snprintf(condition, sizeof(condition), "signal == %s", signal);
		return add_condition(filter, condition);
	}
	return add_named(filter, "signal_name", strncmp(signal, "SIG", 3) ? "SIG" : "", signal);
}

static int make_filter(struct last *l)
{
	const struct options *o = &l->options;
	int r = o->filter ? add_condition(&l->filter, o->filter) : 0;

	if (r >= 0 && o->of_user)
		r = add_named(&l->filter, "user", "", o->of_user);
	if (r == -EINVAL)
		return cmd_usage_error("last ", "--user=%s: expected the name of a user",
				       o->of_user);
	if (r >= 0 && o->signal)
		r = add_signal(&l->filter, o->signal);
	if (r == -EINVAL)
		return cmd_usage_error("last ", "--signal=%s: expected a signal such as KILL or 9",
				       o->signal);
	if (r >= 0 && o->failed)
		r = add_condition(&l->filter, "code != 0");
	if (r < 0) {
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	l->options.filter = l->filter;
	return -1;
}

static int read_time(const char *option, const char *text, int64_t *ns)
{
	if (!text || value_when(text, real_now(), ns) >= 0)
		return -1;
	return cmd_usage_error(
		"last ",
		"--%s=%s: expected a time such as 14:00, yesterday, '2h ago' or 2026-01-31", option,
		text);
}

static bool is_in_time(const struct last *l, const struct exeunt_record *r)
{
	int64_t at = exeunt_has(r, EXEUNT_F_EXIT_TIME) ? r->exit_time_ns : r->time_ns;

	return (!l->since_ns || at >= l->since_ns) && (!l->until_ns || at < l->until_ns);
}

void last_take_host(struct last *l, const char *host, const char *boot)
{
	if (!l->options.json ||
	    (l->stream.json && !strcmp(l->host, host) && !strcmp(l->boot, boot)))
		return;
	json_free(TAKE(l->stream.json));
	snprintf(l->host, sizeof(l->host), "%s", host);
	snprintf(l->boot, sizeof(l->boot), "%s", boot);
	if (json_new(&l->stream.json, host, boot) < 0)
		l->no_memory = true;
}

bool last_show(struct last *l, const struct exeunt_record *r)
{
	int r_value = 0;

	if (r->loss || is_in_time(l, r))
		r_value = stream_record(r, &l->stream);
	return r_value || l->no_memory;
}

static bool show_newest(const struct exeunt_record *r, void *userdata)
{
	return last_show(userdata, r);
}

/* Files are read from front to back, and kept. */
static int keep(const struct exeunt_record *r, void *userdata)
{
	struct last *l = userdata;
	void *copy;

	if (r->status)
		return 0;
	if (l->n_kept == l->room) {
		size_t room = l->room ? l->room * 2 : 1024;
		struct exeunt_record **kept = realloc(l->kept, room * sizeof(*kept));

		if (!kept)
			goto no_memory;
		l->kept = kept;
		l->room = room;
	}
	copy = malloc(record_copy_size(r));
	if (!copy)
		goto no_memory;
	l->kept[l->n_kept++] = record_copy(copy, r);
	return 0;
no_memory:
	l->no_memory = true;
	return 1;
}

static int read_files(struct last *l, char **paths, int n)
{
	struct exeunt_options options = { .size = sizeof(options),
					  .numeric = l->options.numeric,
					  .on_record = keep,
					  .on_message = stream_message,
					  .userdata = l };
	struct exeunt *x;
	int status = CMD_DONE;
	bool done = false;

	if (exeunt_new(&x, &options) < 0)
		return CMD_FAILED;
	if (exeunt_replay(x, (const char *const *)paths, (size_t)n) < 0 || exeunt_stop(x) < 0)
		status = CMD_FAILED;
	last_take_host(l, exeunt_host_name(x), exeunt_boot_id(x));
	for (size_t i = l->n_kept; i-- && !done;) {
		done = newest_take(l->newest, l->kept[i]);
		stream_flush(&l->stream);
	}
	exeunt_free(x);
	return status;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int read_all(struct last *l, char **paths, int n)
{
	static char store[] = STORE;
	char *standard[] = { store };
	bool stores = true;
	int status = CMD_DONE;

	if (!n) {
		paths = standard;
		n = 1;
	}
	for (int i = 0; i < n; i++)
		stores &= !i && (is_directory(paths[i]) || paths == standard);
	if (l->options.follow)
		return stores ? last_follow(l, paths[0])
			      : cmd_usage_error("last ", "--follow goes with one store alone");
	status = stores ? last_read_store(l, paths[0]) : read_files(l, paths, n);
	if (l->no_memory) {
		cmd_error("not enough memory");
		status = CMD_FAILED;
	}
	return status;
}

static int run(struct last *l, char **paths, int n)
{
	const struct exeunt_options options = { .size = sizeof(options), .numeric = true };
	int status, finished;

	if (exeunt_new(&l->stream.x, &options) < 0 || newest_new(&l->newest, show_newest, l) < 0) {
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	l->stream.batch = !l->options.follow;
	status = read_all(l, paths, n);
	if (output_error(l->stream.output) == EPIPE)
		return CMD_DONE;
	finished = stream_finish(&l->stream);
	return status ? status : finished;
}

int cmd_last(int argc, char **argv)
{
	struct last l = { .stream = { .fd = -1 } };
	struct options *o = &l.options;
	int status = options_parse(o, argc, argv, "last", OPTIONS_SHOW | OPTIONS_HISTORY, usage);

	if (status < 0) {
		o->history = true;
		status = read_time("since", o->since, &l.since_ns);
	}
	if (status < 0)
		status = read_time("until", o->until, &l.until_ns);
	if (status < 0)
		status = make_filter(&l);
	if (status < 0)
		status = stream_open(&l.stream, o, "last");
	if (status < 0)
		status = run(&l, argv + o->first_operand, argc - o->first_operand);
	for (size_t i = 0; i < l.n_kept; i++)
		free(l.kept[i]);
	free(l.kept);
	free(l.filter);
	newest_free(l.newest);
	exeunt_free(l.stream.x);
	stream_close(&l.stream);
	return status;
}
