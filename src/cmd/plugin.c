/* SPDX-License-Identifier: MIT */
/*
 * exeunt plugin: a child of auditd (plugins.d), which writes records as text to our standard input and waits for us when
 * we do not read. So that is read whatever becomes of the output, which is bounded, and nobody is waited for.
 *
 * auditd gives no environment, /dev/null as output, and signals ignored (first start) or blocked (started again by
 * auditd 3.0). It ends us by closing the input, and by a SIGTERM; but a SIGTERM from somebody else, which a stop of the
 * whole service sends to all its processes, must not: auditd would take that for a crash and start us again.
 */
#include "cmd/cmd.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "cmd/listen.h"
#include "cmd/stream.h"

static const char usage[] =
	"Usage: exeunt plugin [OPTION]...\n"
	"Run by auditd as one of its plugins: audit records on standard input (format = string), joined with the\n"
	"kernel's other sources where they work, out as JSON Lines. Ends with its input.\n";

/* Rotation of auditd's log, and what it is asked to tell or to read anew, reaches all processes of the service. */
static const int harmless[] = { SIGHUP, SIGUSR1, SIGUSR2 };

/* What was ignored or blocked before us is not for us. Returns a descriptor that reads what is left. */
static int take_over_signals(void)
{
	struct sigaction was;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	/* Ctrl-C is for auditd in the foreground; it ignores that, and so do we. */
	if (!sigaction(SIGINT, NULL, &was) && was.sa_handler != SIG_IGN)
		sigaddset(&set, SIGINT);
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		signal(harmless[i], SIG_IGN);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would keep waitpid(2) from finding our children */
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool take_signal(const struct signalfd_siginfo *info, struct stream *s)
{
	(void)s;
	if (info->ssi_signo != SIGTERM || (pid_t)info->ssi_pid == getppid())
		return true;
	cmd_note("SIGTERM of process %u is passed over: a plugin of auditd is ended by auditd",
		 info->ssi_pid);
	return false;
}

static void announce(const struct exeunt *x)
{
	char names[256];
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(x, &n);

	listen_names(x, names, sizeof(names));
	cmd_note("plugin of auditd: listening to %s", names);
	for (size_t i = 0; i < n; i++)
		if (s[i].state == EXEUNT_STATE_REFUSED && s[i].reason)
			cmd_note("without %s: %s", exeunt_source_name(s[i].source), s[i].reason);
}

static int start(struct stream *s, struct options *o)
{
	int status = listen_open(&s->x, o, stream_record, stream_message, s, -1);

	if (status >= 0)
		return status;
	if (exeunt_start(s->x) >= 0)
		return -1;
	listen_explain(s->x);
	return CMD_FAILED;
}

/* A kernel source that took the registration and then is silent is no reason to give up audit. */
static int start_with_less(struct stream *s, struct options *o)
{
	int status = start(s, o);

	if (status != CMD_FAILED || !s->x || o->source_given)
		return status;
	exeunt_free(s->x);
	s->x = NULL;
	o->sources = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT);
	o->pacct = "off";
	cmd_error("going on with audit alone");
	return start(s, o);
}

static int run(struct stream *s, struct options *o, int signal_fd)
{
	struct listening l = { .stream = s,
			       .signal_fd = signal_fd,
			       .take_signal = take_signal,
			       .while_open = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT) };
	int status = start_with_less(s, o), r;

	if (status >= 0)
		return status;
	if (!o->quiet)
		announce(s->x);
	r = listen_run(&l);
	if (r == -EPIPE)
		return CMD_DONE;
	if (r < 0)
		cmd_error("%s", exeunt_error(s->x));
	if (stream_stop(s) < 0)
		r = -1;
	status = stream_finish(s);
	if (!o->quiet)
		cmd_note("%s", s->summary);
	return r < 0 ? CMD_FAILED : status;
}

static int check_place(const struct options *o)
{
	if (!o->output && cmd_is_null(STDOUT_FILENO))
		return cmd_usage_error("plugin ",
				       "standard output is /dev/null: where to? --output=FILE");
	if (isatty(STDIN_FILENO))
		return cmd_usage_error("plugin ",
				       "it is auditd that runs this, with its records as input");
	return -1;
}

int cmd_plugin(int argc, char **argv)
{
	int signal_fd, status;
	struct options o;
	struct stream s;

	syscall(SYS_close_range, 3, ~0U, 0); /* auditd leaves some open */
	signal_fd = take_over_signals();
	cmd_messages_to_log();
	status = options_parse(&o, argc, argv, "plugin",
			       OPTIONS_SOURCES | OPTIONS_RECORDS | OPTIONS_JSON, usage);
	if (status >= 0)
		return status;
	if (o.first_operand < argc)
		return cmd_usage_error("plugin ", "unexpected operand '%s'", argv[o.first_operand]);
	status = check_place(&o);
	if (status >= 0)
		return status;
	o.json = o.append = true;
	o.audit = "stdin";
	o.needed |= EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT);
	status = stream_open(&s, &o, "plugin");
	if (status < 0)
		status = stream_resume(&s);
	if (status < 0)
		status = run(&s, &o, signal_fd);
	exeunt_free(s.x);
	stream_close(&s);
	close_fd(signal_fd);
	return status;
}
