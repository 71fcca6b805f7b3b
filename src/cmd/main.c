/* SPDX-License-Identifier: MIT */
/* The program: finds the command and runs it. Nothing else. */
#include "cmd/cmd.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>

#include <exeunt/exeunt.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "live", cmd_live, "a line for each process that ends, as it ends (the default)" },
	{ "top", cmd_top, "full screen: what ends most here, and what it costs" },
	{ "run", cmd_run, "the daemon: each exit to files, sockets, plugins ..." },
	{ "plugin", cmd_plugin,
	  "run by auditd: its records, joined with the kernel's other sources" },
	{ "replay", cmd_replay, "the same from files: captures, accounting files, audit logs" },
	{ "last", cmd_last, "what ended, the newest first: of the daemon's store, or of files" },
	{ "report", cmd_report, "what files tell of, counted and summed by name, user ..." },
	{ "capture", cmd_capture,
	  "write what the kernel says to a file, for replay and bug reports" },
	{ "check", cmd_check, "what can be collected on this host, what not, and what mends it" },
	{ "rules", cmd_rules, "audit rules that tell of exits: load and unload them" },
};

static void help(void)
{
	printf("Usage: exeunt [COMMAND] [OPTION]...\n"
	       "Show what ended on this host, how, what it cost and who ran it.\n\n"
	       "Commands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-9s %s\n", commands[i].name, commands[i].summary);
	printf("\n'exeunt COMMAND --help' tells the options; exeunt(8) has it all, exeunt-record(5) the output.\n"
	       "Listening to the kernel needs root: sudo exeunt live\n");
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* printf() errors surface only when the buffer goes out; a full disk is not a success. */
static int close_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	cmd_error("writing to standard output failed: %s", strerror(errno));
	return status ? status : CMD_FAILED;
}

/* auditd before 4.0.1 passes two words on: by a link called exeunt-plugin neither has to be the command. */
static const char *called_as(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;

	return name && !strcmp(name, "exeunt-plugin") ? "plugin" : commands[0].name;
}

/*
 * Started without one of the three, the next file opened would take its place, and messages would go into a socket or the
 * output. What stands in fails where it is used: it is open the wrong way round. Returns false when it cannot be had.
 */
static bool fill_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static char program[] = "exeunt";
	const struct command *command = find(called_as(argv[0]));

	if (!fill_standard_fds())
		return CMD_FAILED;
	setlocale(LC_CTYPE, "");
	/* A reader that went away, and a file at its limit, are errors of a write, not reasons to die. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (argc > 1 &&
	    (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))) {
		help();
		return close_stdout(CMD_DONE);
	}
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("exeunt %s\n", exeunt_version());
		return close_stdout(CMD_DONE);
	}
	if (argc > 1 && argv[1][0] != '-') {
		command = find(argv[1]);
		if (!command)
			return cmd_usage_error("", "unknown command '%s'", argv[1]);
		argc--;
		argv++;
	}
	argv[0] = program; /* for the messages of getopt_long() */
	return close_stdout(command->run(argc, argv));
}
