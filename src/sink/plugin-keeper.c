/* SPDX-License-Identifier: MIT */
/* Our end of the keeper of a plugin. See plugin-keeper.h. */
#include "sink/plugin-keeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sink/plugin-keeper-internal.h"

#define STOP_MS 200

struct plugin_keeper {
	pid_t pid;
	int control, input;
};

static int make_sockets(int control[2], int input[2])
{
	int r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
		return -errno;
	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input))
		return 0;
	r = -errno;
	close_fd(control[0]);
	close_fd(control[1]);
	return r;
}

int plugin_keeper_new(struct plugin_keeper **ret, char *const *argv)
{
	struct plugin_keeper *k = calloc(1, sizeof(*k));
	int control[2], input[2], r;

	if (!k)
		return -ENOMEM;
	r = make_sockets(control, input);
	if (r < 0) {
		free(k);
		return r;
	}
	*k = (struct plugin_keeper){ .pid = fork(), .control = control[0], .input = input[0] };
	if (!k->pid)
		plugin_keeper_run(control[1], input[1], argv);
	r = k->pid < 0 ? -errno : 0;
	close_fd(control[1]);
	close_fd(input[1]);
	if (r < 0) {
		close_fd(control[0]);
		close_fd(input[0]);
		free(k);
		return r;
	}
	*ret = k;
	return 0;
}

/* It may have a plugin that takes its time; then it ends by itself, later. */
void plugin_keeper_free(struct plugin_keeper *k)
{
	if (!k)
		return;
	close_fd(k->input);
	close_fd(k->control);
	for (int i = 0; i < STOP_MS && !waitpid(k->pid, NULL, WNOHANG); i++)
		poll(NULL, 0, 1);
	free(k);
}

int plugin_keeper_input(const struct plugin_keeper *k)
{
	return k->input;
}

int plugin_keeper_fd(const struct plugin_keeper *k)
{
	return k->control;
}

int plugin_keeper_ask(struct plugin_keeper *k, enum plugin_ask what)
{
	unsigned char byte = (unsigned char)what;

	if (send(k->control, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		return 0;
	return errno == EAGAIN ? -EAGAIN : -EPIPE;
}

int plugin_keeper_word(struct plugin_keeper *k, struct plugin_word *ret)
{
	ssize_t n = recv(k->control, ret, sizeof(*ret), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	return n == sizeof(*ret) ? 1 : -EPIPE;
}
