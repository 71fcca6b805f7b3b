/* SPDX-License-Identifier: MIT */
/* exeunt replay FILE...: the same records, sinks and filters as live, from files instead of the kernel. */
#include "cmd/cmd.h"

#include <sys/stat.h>

#include "cmd/stream.h"

static const char usage[] =
	"Usage: exeunt replay [OPTION]... FILE...\n"
	"Show the processes that files tell of: captures, accounting files (all versions, either byte\n"
	"order), audit logs; plain or .gz, known by their content. '-' is standard input.\n"
	"Several files are one stream, put in order by when they begin.\n";

/* Opened for writing it would be empty before it is read, or be read for as long as it is written. */
static bool is_output(const struct options *o, const char *path)
{
	bool named = o->output && strcmp(o->output, "-");
	struct stat in, out;

	if ((strcmp(path, "-") ? stat(path, &in) : fstat(STDIN_FILENO, &in)) ||
	    (named ? stat(o->output, &out) : fstat(STDOUT_FILENO, &out)))
		return false;
	return S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static int replay(struct stream *s, char **paths, int n)
{
	int status = exeunt_replay(s->x, (const char *const *)paths, (size_t)n) < 0 ? CMD_FAILED
										    : CMD_DONE;
	int finished;

	if (output_error(s->output) == EPIPE)
		return CMD_DONE;
	if (exeunt_stop(s->x) < 0)
		status = CMD_FAILED;
	stream_flush(s);
	finished = stream_finish(s);
	if (!s->options->quiet && !s->options->json)
		cmd_note("%s", s->summary);
	return status ? status : finished;
}

int cmd_replay(int argc, char **argv)
{
	struct options o;
	struct stream s;
	struct exeunt_options options = { .size = sizeof(options),
					  .on_record = stream_record,
					  .on_message = stream_message,
					  .userdata = &s };
	int status = options_parse(&o, argc, argv, "replay", OPTIONS_SHOW | OPTIONS_ARGS, usage), r;

	if (status >= 0)
		return status;
	if (o.first_operand >= argc)
		return cmd_usage_error("replay ", "which FILE?");
	for (int i = o.first_operand; i < argc; i++)
		if (is_output(&o, argv[i]))
			return cmd_usage_error("replay ", "'%s' is also where the output goes",
					       argv[i]);
	status = stream_open(&s, &o, "replay");
	if (status < 0) {
		s.batch = true;
		options.threads = o.threads;
		options.numeric = o.numeric;
		options.no_args = o.no_args;
		options.redact = o.redact;
		options.n_redact = o.n_redact;
		r = exeunt_new(&s.x, &options);
		if (r < 0) {
			cmd_error("cannot begin: %s", strerror(-r));
			status = CMD_FAILED;
		} else {
			status = replay(&s, argv + o.first_operand, argc - o.first_operand);
		}
		exeunt_free(s.x);
	}
	stream_close(&s);
	return status;
}
