/* SPDX-License-Identifier: MIT */
/* Our end of the courier. See audit-courier.h. */
#include "sink/audit-courier.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"

#define STOP_NS (NS_PER_SEC / 2)

int courier_start(struct courier *c)
{
	int fds[2], r;

	*c = (struct courier){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		courier_run(fds[1]);
	r = c->pid < 0 ? -errno : 0;
	close_fd(fds[1]);
	if (r < 0)
		close_fd(fds[0]);
	else
		c->fd = fds[0];
	return r;
}

int courier_take(struct courier *c, struct courier_report *ret)
{
	struct courier_report next;
	bool any = false;

	for (;;) {
		ssize_t n = recv(c->fd, &next, sizeof(next), MSG_DONTWAIT);

		if (n == sizeof(next)) {
			*ret = next;
			any = true;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (any)
			return 1;
		return n < 0 && errno == EAGAIN ? 0 : -EPIPE;
	}
}

void courier_end(struct courier *c)
{
	shutdown(c->fd, SHUT_WR);
}

void courier_stop(struct courier *c)
{
	int64_t until = mono_now() + STOP_NS;

	if (c->fd < 0)
		return;
	c->fd = close_fd(c->fd);
	while (mono_now() < until && !waitpid(c->pid, NULL, WNOHANG))
		poll(NULL, 0, 1);
}

const char *courier_trouble(const struct courier_report *r, char *buf, size_t size)
{
	switch ((enum courier_state)r->state) {
	case COURIER_UNKNOWN:
	case COURIER_WORKS:
		return NULL;
	case COURIER_OFF:
		return "audit is switched off: auditctl -e 1";
	case COURIER_NO_OWNER:
		return "no auditd is there to read them: systemctl start auditd";
	case COURIER_OURS:
		return "exeunt itself owns audit, so no auditd reads it: --audit=multicast or off";
	case COURIER_BACKLOG:
		return "audit's queue is half full, since its reader does not keep up";
	case COURIER_REFUSED:
		break;
	}
	if (r->error == -EPERM)
		return "that needs CAP_AUDIT_WRITE and CAP_AUDIT_CONTROL";
	if (r->error == -ECONNREFUSED)
		return "audit is not open to this user namespace";
	if (r->error == -EPROTONOSUPPORT)
		return "the kernel has no audit, or was booted with audit=0";
	snprintf(buf, size, "the kernel refuses: %s", strerror(-r->error));
	return buf;
}
