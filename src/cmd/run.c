/* SPDX-License-Identifier: MIT */
/*
 * exeunt run: the daemon. Opens sources and sinks, gives up all privileges but what these have to keep, then hands every
 * record to every sink until SIGTERM. SIGHUP opens files again. How a service manager sees it: notify.h.
 */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/config.h"
#include "cmd/confine.h"
#include "cmd/listen.h"
#include "cmd/pidfile.h"
#include "cmd/serve.h"

#define PID_FILE "/run/exeunt/exeunt.pid"
#define STATUS_SECONDS 60
#define GROUPS (OPTIONS_LISTEN | OPTIONS_RUN)

static const char usage[] =
	"Usage: exeunt run --to=SINK [OPTION]... [--to=SINK [OPTION]...]...\n"
	"Collect each process exit, as a service, and give it to every SINK.\n"
	"What stands behind a --to is said of that sink: --filter, --fields, --buffer, --rate, --name.\n"
	"Needs root to open its sources and sinks, and gives up what it does not have to keep.\n";

/* Options of the command line and of the file, the former over the latter. */
static int read_options(struct options *o, struct config **config, int argc, char **argv)
{
	int status = options_parse(o, argc, argv, "run", GROUPS, usage);
	const char *path = o->config;

	if (status >= 0 || !path)
		return status;
	*o = (struct options){ 0 };
	status = config_read(config, path, o, GROUPS);
	if (status >= 0)
		return status;
	return options_parse_onto(o, argc, argv, "run", GROUPS, usage);
}

static void tell_end(const struct serving *s, int r)
{
	if (r == -ENOLINK)
		cmd_error("no source is left to listen to; see what was told before");
	else
		cmd_error("%s", *exeunt_error(s->x) ? exeunt_error(s->x) : strerror(-r));
}

/* After the start, which forks on each CPU. A kernel without it is told of, and no reason not to run. */
static void give_up_calls(const struct serving *s, const struct options *o)
{
	int r = o->no_seccomp ? 0 : confine(exeunt_capabilities(s->x) | serve_capabilities(s));

	if (r < 0)
		cmd_say(4, "system calls that are not needed could not be given up: %s",
			strerror(-r));
}

static int run(struct serving *s, const struct options *o)
{
	char names[256];
	int status = serve_start(s), r;

	if (status >= 0)
		return status;
	give_up_calls(s, o);
	listen_names(s->x, names, sizeof(names));
	if (!o->quiet)
		cmd_note("listening to %s; %zu sink%s", names, s->n_sinks,
			 s->n_sinks == 1 ? "" : "s");
	notify_send(&s->notify, "READY=1\nSTATUS=listening to %s", names);
	r = serve_run(s, o->duration_ns ? mono_now() + o->duration_ns : 0);
	if (r < 0)
		tell_end(s, r);
	status = serve_stop(s);
	if (!o->quiet)
		cmd_note("%s", s->summary);
	return r < 0 ? CMD_FAILED : status;
}

static int open_and_run(struct serving *s, struct options *o)
{
	int signal_fd = listen_signals();
	int status;

	s->signal_fd = signal_fd;
	status = signal_fd < 0 ? CMD_FAILED
			       : listen_open_sources(&s->x, o, serve_record, serve_message, s, -1);

	if (status < 0)
		status = serve_open(s);
	if (status < 0)
		status = listen_drop(s->x, o, serve_capabilities(s));
	if (status < 0)
		status = run(s, o);
	close_fd(signal_fd);
	return status;
}

static int serve(struct options *o)
{
	const char *path = o->pid_file ? o->pid_file : PID_FILE;
	struct serving s;
	int status = serve_check(&s, o), pid_fd = -1;

	if (status < 0 && o->check_config)
		status = CMD_DONE;
	if (status < 0) {
		cmd_messages_prompt();
		notify_open(&s.notify);
		pid_fd = pidfile_open(path);
		if (pid_fd >= 0)
			status = open_and_run(&s, o);
		else
			status = pid_fd == -EACCES || pid_fd == -EPERM ? CMD_NOT_PERMITTED
								       : CMD_FAILED;
	}
	serve_close(&s);
	exeunt_free(s.x);
	pidfile_close(pid_fd);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct config *config = NULL;
	struct options o;
	int status = read_options(&o, &config, argc, argv);

	if (status < 0 && o.first_operand < argc)
		status = cmd_usage_error("run ", "unexpected operand '%s'", argv[o.first_operand]);
	if (status < 0) {
		if (!o.status_given) {
			o.status_given = true;
			o.status_seconds = STATUS_SECONDS;
		}
		status = serve(&o);
	}
	config_free(config);
	return status;
}
