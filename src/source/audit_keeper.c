/* SPDX-License-Identifier: MIT */
/* Our end of the keeper: starting it, asking, waiting for its end. See audit_keeper.h. */
#include "source/audit_keeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/audit_keeper_internal.h"

#define STOP_MS 2000
#define IDLE_STOP_MS 200

struct audit_keeper {
	pid_t pid;
	int fd;
	bool owns, loads; /* there is something to put back */
};

int audit_keeper_start(struct audit_keeper **ret, const struct audit_ruleset *sets, size_t n)
{
	struct audit_keeper *k = calloc(1, sizeof(*k));
	int fds[2], r;

	if (!k)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		r = -errno;
		free(k);
		return r;
	}
	k->fd = fds[0];
	k->pid = fork();
	if (!k->pid)
		keeper_run(fds[1], sets, n);
	close_fd(fds[1]);
	if (k->pid < 0) {
		r = -errno;
		close_fd(k->fd);
		free(k);
		return r;
	}
	*ret = k;
	return 0;
}

/* It may sleep in the kernel for a minute; then it ends by itself, later. */
void audit_keeper_stop(struct audit_keeper *k)
{
	int64_t until =
		mono_now() + (k && (k->owns || k->loads) ? STOP_MS : IDLE_STOP_MS) * NS_PER_MSEC;
	struct audit_facts facts;
	int r;

	if (!k)
		return;
	shutdown(k->fd, SHUT_WR);
	do {
		struct pollfd p = { .fd = k->fd, .events = POLLIN };
		int64_t left = (until - mono_now()) / NS_PER_MSEC;

		if (left <= 0)
			break;
		poll(&p, 1, (int)left);
		r = audit_keeper_answer(k, &facts);
	} while (r >= 0);
	close_fd(k->fd);
	/* the end of its socket is all but the end of it */
	while (mono_now() < until && !waitpid(k->pid, NULL, WNOHANG))
		poll(NULL, 0, 1);
	free(k);
}

int audit_keeper_fd(const struct audit_keeper *k)
{
	return k->fd;
}

int audit_keeper_ask(struct audit_keeper *k, enum audit_ask what)
{
	unsigned char byte = (unsigned char)what;

	if (what == AUDIT_ASK_OWN || what == AUDIT_ASK_RELEASE)
		k->owns = what == AUDIT_ASK_OWN;
	k->loads |= what == AUDIT_ASK_LOAD;
	return send(k->fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int audit_keeper_answer(struct audit_keeper *k, struct audit_facts *ret)
{
	ssize_t n = recv(k->fd, ret, sizeof(*ret), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	return n == sizeof(*ret) ? 1 : -EPIPE;
}

int audit_keeper_wait(struct audit_keeper *k, struct audit_facts *ret, int timeout_ms)
{
	int64_t until = mono_now() + timeout_ms * NS_PER_MSEC;

	for (;;) {
		struct pollfd p = { .fd = k->fd, .events = POLLIN };
		int64_t left = (until - mono_now()) / NS_PER_MSEC;
		int r = audit_keeper_answer(k, ret);

		if (r)
			return r < 0 ? r : 0;
		if (left <= 0)
			return -ETIME;
		poll(&p, 1, (int)left);
	}
}
