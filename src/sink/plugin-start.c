/* SPDX-License-Identifier: MIT */
/* What may be run as a plugin, and how. See plugin-keeper.h and plugin-keeper-internal.h. */
#include "sink/plugin-keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/descriptors.h"
#include "base/procfile.h"
#include "sink/plugin-keeper-internal.h"

#define MODE_NEEDED 0550
#define MODE_FORBIDDEN 0022

int plugin_check(const char *path, char *why, size_t size)
{
	struct stat st;

	if (*path != '/') {
		snprintf(why, size, "is no absolute path");
		return -EINVAL;
	}
	if (stat(path, &st)) {
		int r = -errno;

		snprintf(why, size, "%s", strerror(-r));
		return r;
	}
	if (!S_ISREG(st.st_mode))
		snprintf(why, size, "is no regular file");
	else if (st.st_uid)
		snprintf(why, size, "belongs to user %u, and must belong to root: chown root",
			 st.st_uid);
	else if (st.st_mode & MODE_FORBIDDEN)
		snprintf(why, size, "can be changed by its group or by all: chmod go-w");
	else if ((st.st_mode & MODE_NEEDED) != MODE_NEEDED)
		snprintf(why, size, "is not for its owner and group to read and run: chmod ug+rx");
	else
		return 0;
	return -EPERM;
}

int plugin_split(const char *target, char **ret_words, char ***ret_argv)
{
	size_t n = 0;
	char *rest;

	*ret_words = strdup(target);
	*ret_argv = calloc(strlen(target) / 2 + 2, sizeof(**ret_argv));
	if (!*ret_words || !*ret_argv)
		return -ENOMEM;
	for (char *word = strtok_r(*ret_words, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest))
		(*ret_argv)[n++] = word;
	return n ? 0 : -EINVAL;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* That we are not the first to be killed when memory runs out is not meant for it. */
static void give_up_protection(void)
{
	static const char path[] = "/proc/self/oom_score_adj";
	char line[16];
	int fd;

	if (procfile_line(path, line, sizeof(line)) < 0 || *line != '-')
		return;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "0", 1) < 0)
		errno = 0;
	close_fd(fd);
}

/* In the child; the errno of what failed goes into the pipe, whose end otherwise closes at exec. */
static _Noreturn void become(char *const *argv, int input, int pipe_fd)
{
	char *const none[] = { NULL };
	int error;

	setpgid(0, 0);
	umask(022);
	give_up_protection();
	if (dup2(input, STDIN_FILENO) >= 0 && !chdir("/")) {
		dup2(pipe_fd, 3);
		fcntl(3, F_SETFD, FD_CLOEXEC);
		descriptors_close_from(4);
		pipe_fd = 3;
		reset_signals();
		execve(argv[0], argv, none);
	}
	error = errno;
	if (write(pipe_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

pid_t plugin_start(char *const *argv, int input)
{
	int fds[2], error = 0, flags = fcntl(input, F_GETFL);
	ssize_t n;
	pid_t pid;

	/* one before it may have left it so */
	if (flags >= 0)
		fcntl(input, F_SETFL, flags & ~(O_NONBLOCK | O_ASYNC));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		become(argv, input, fds[1]);
	error = pid < 0 ? errno : 0;
	close(fds[1]);
	n = pid < 0 ? 0 : read(fds[0], &error, sizeof(error));
	close(fds[0]);
	if (n > 0)
		waitpid(pid, NULL, 0);
	return error ? -error : pid;
}
