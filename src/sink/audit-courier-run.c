/* SPDX-License-Identifier: MIT */
/* The courier's own life. See audit-courier.h. */
#include "sink/audit-courier.h"

#include <cap-ng.h>
#include <libaudit.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/privileges.h"
#include "sink/audit-line.h"
#include "source/audit_control.h"
#include "source/audit_report.h"

#define SOCKET_FD 3
#define ASK_IDLE \
	8 /* so many are worth a question when no more come: that itself makes one, by the end of a kernel thread */
#define ASK_NS (5 * NS_PER_SEC) /* while lines are sent */
/* While it does not work: twice as long each time, as each question costs the kernel a thread. */
#define ASK_HELD_NS (NS_PER_SEC / 50)
#define ASK_HELD_MOST_NS (10 * NS_PER_SEC)
/* In the owner's socket, which takes 208 KiB by default. What does not fit the kernel moves to a queue that AUDIT_GET does not tell. */
#define UNREAD_BYTES (96UL * 1024)

struct run {
	int control; /* or negative errno */
	int netlink;
	int owner_fd; /* readable when the owner has ended */
	bool owner_gone;
	uint32_t main_pid, owner, seq;
	int64_t asked_ns;   /* 0: never */
	int64_t pause_ns;   /* until the next question while it does not work */
	uint64_t ask_at;    /* lines taken */
	uint32_t lost;	    /* records of all programs that the kernel has given up */
	uint64_t arrived;   /* lines that the owner has read, as far as is known */
	int64_t arrived_ns; /* CLOCK_REALTIME of that */
	struct courier_report report;
	char buf[65536];
	size_t len;
};

/* Two capabilities, or as many of them as there are; and what ends the main process shall not end this one. */
static void become_small(void)
{
	const uint64_t keep = UINT64_C(1) << CAP_AUDIT_WRITE | UINT64_C(1) << CAP_AUDIT_CONTROL;
	char error[256];
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "exeunt-courier");
	if (privileges_drop(NULL, keep, error, sizeof(error)) < 0)
		_exit(1);
}

static void send_report(struct run *c)
{
	send(SOCKET_FD, &c->report, sizeof(c->report), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Bytes that wait in the owner's socket, which has its pid as number (net/netlink/af_netlink.c); 0 if it is not found. */
static unsigned long waiting_for(uint32_t owner)
{
	FILE *f = fopen("/proc/net/netlink", "re");
	unsigned long rmem, found = 0;
	unsigned int protocol, port;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %u %u %*s %lu", &protocol, &port, &rmem) == 3 &&
		    protocol == NETLINK_AUDIT && port == owner)
			found += rmem;
	if (f)
		fclose(f);
	return found;
}

static void set_arrived(struct run *c)
{
	c->arrived = c->report.taken - c->report.refused;
	c->arrived_ns = real_now();
}

static void suspect(struct run *c, uint64_t n)
{
	if (!n)
		return;
	c->report.suspect += n;
	c->report.from_ns = c->arrived_ns;
	c->report.to_ns = real_now();
}

static uint64_t unproven(const struct run *c)
{
	return c->report.taken - c->report.refused - c->arrived;
}

/* Whoever was to read has gone, or audit was off: nobody knows how many of these it had read. */
static void suspect_all(struct run *c)
{
	suspect(c, unproven(c));
	set_arrived(c);
}

static void set_state(struct run *c, enum courier_state state, int error)
{
	if (state == COURIER_WORKS)
		c->pause_ns = ASK_HELD_NS;
	if (state == COURIER_OFF || state == COURIER_NO_OWNER || state == COURIER_OURS)
		suspect_all(c);
	c->report.state = state;
	c->report.error = error;
}

static bool owner_ended(const struct run *c)
{
	struct pollfd p = { .fd = c->owner_fd, .events = POLLIN };

	return c->owner_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* The kernel goes on to name an owner that was killed until it has something for it. */
static void watch_owner(struct run *c, uint32_t pid)
{
	if (c->owner != pid)
		suspect_all(c);
	else if (c->owner_fd >= 0 && !owner_ended(c))
		return;
	c->owner_fd = close_fd(c->owner_fd);
	c->owner = pid;
	if (pid)
		c->owner_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	/* before Linux 5.3 only asking tells */
	c->owner_gone = owner_ended(c) || (pid && c->owner_fd < 0 && errno == ESRCH);
}

/* Half full, or once it is held a quarter. 0 is no bound. */
static bool is_behind(const struct run *c, const struct audit_facts *f, unsigned long unread)
{
	uint32_t part = c->report.state == COURIER_BACKLOG ? 4 : 2;

	return unread > UNREAD_BYTES * 2 / part ||
	       (f->backlog_limit && f->backlog > f->backlog_limit / part);
}

static enum courier_state judge(const struct run *c, const struct audit_facts *f,
				unsigned long unread)
{
	if (!f->enabled)
		return COURIER_OFF;
	if (!f->pid || c->owner_gone)
		return COURIER_NO_OWNER;
	if (f->pid == c->main_pid)
		return COURIER_OURS;
	return is_behind(c, f, unread) ? COURIER_BACKLOG : COURIER_WORKS;
}

/* Those that the kernel gave up may have been ours. */
static void take_lost(struct run *c, uint32_t lost)
{
	if (lost > c->lost)
		suspect(c, MIN(lost - c->lost, unproven(c)));
	c->lost = lost;
}

static void take_facts(struct run *c, const struct audit_facts *f)
{
	unsigned long unread = f->pid ? waiting_for(f->pid) : 0;

	take_lost(c, f->lost);
	watch_owner(c, f->pid);
	set_state(c, judge(c, f, unread), 0);
	c->ask_at = c->report.taken + (f->backlog_limit ? MAX(f->backlog_limit / 4, 1U) : 2048U);
	if (c->report.state == COURIER_WORKS && !f->backlog && !unread)
		set_arrived(c);
}

/* What no later try will change; it holds for every line, so that the line is kept and not counted as refused. */
static bool is_refusal(int r)
{
	return r == -EPERM || r == -ECONNREFUSED || r == -EPROTONOSUPPORT || r == -EINVAL;
}

static void ask(struct run *c)
{
	struct audit_facts f = { 0 };
	int r = c->control < 0 ? c->control : audit_control_status(c->control, &f);

	c->asked_ns = mono_now();
	if (is_refusal(r))
		set_state(c, COURIER_REFUSED, r);
	if (r < 0)
		return;
	take_facts(c, &f);
}

static bool works(const struct run *c)
{
	return c->report.state == COURIER_WORKS;
}

/* The kernel's answer is there when send() returns. */
static int read_answer(const struct run *c)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[8192];
	} a;

	for (;;) {
		ssize_t n = recv(c->netlink, &a, sizeof(a), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return 0; /* no memory for an answer: it says nothing of the message */
		if (n >= (ssize_t)(sizeof(a.h) + sizeof(a.e)) && a.h.nlmsg_type == NLMSG_ERROR &&
		    a.h.nlmsg_seq == c->seq)
			return a.e.error;
	}
}

/* The kernel makes the last byte a NUL (kernel/audit.c: audit_receive_msg()), so one is there for it. */
static int send_line(struct run *c, const char *text, size_t len)
{
	struct {
		struct nlmsghdr h;
		char text[AUDIT_TEXT_MAX + 1];
	} m;
	ssize_t n;

	len = MIN(len, sizeof(m.text) - 1);
	m.h = (struct nlmsghdr){ .nlmsg_len = (uint32_t)NLMSG_LENGTH(len + 1),
				 .nlmsg_type = AUDIT_TRUSTED_APP,
				 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
				 .nlmsg_seq = ++c->seq };
	memcpy(m.text, text, len);
	m.text[len] = '\0';
	do
		n = send(c->netlink, &m, m.h.nlmsg_len, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : read_answer(c);
}

/* False: it was not taken, and is kept. */
static bool deliver(struct run *c, const char *text, size_t len)
{
	int64_t now = mono_now();
	int r;

	if (owner_ended(c) || now - c->asked_ns >= ASK_NS || c->report.taken >= c->ask_at)
		ask(c);
	if (owner_ended(c))
		set_state(c, COURIER_NO_OWNER, 0);
	if (!works(c))
		return false;
	r = send_line(c, text, len);
	if (is_refusal(r)) {
		set_state(c, COURIER_REFUSED, r);
		return false;
	}
	c->report.taken++;
	c->report.refused += r < 0;
	return true;
}

static void deliver_lines(struct run *c)
{
	const char *at = c->buf, *end = c->buf + c->len;
	const char *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		if (!deliver(c, at, (size_t)(newline - at)))
			break;
		at = newline + 1;
	}
	c->len = (size_t)(end - at);
	memmove(c->buf, at, c->len);
}

/* False: there is no more to come. */
static bool read_lines(struct run *c)
{
	ssize_t n = recv(SOCKET_FD, c->buf + c->len, sizeof(c->buf) - c->len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->len += (size_t)n;
	return n > 0;
}

/* When to ask though no line comes; INT64_MAX: never. */
static int64_t next_question(const struct run *c)
{
	if (c->report.state == COURIER_REFUSED)
		return INT64_MAX;
	if (works(c))
		return unproven(c) < ASK_IDLE ? INT64_MAX : c->asked_ns + ASK_NS;
	return c->asked_ns + c->pause_ns;
}

static void wait_for_work(struct run *c)
{
	struct pollfd p[2] = { { .fd = SOCKET_FD, .events = works(c) ? POLLIN : 0 },
			       { .fd = works(c) ? c->owner_fd : -1, .events = POLLIN } };
	int64_t at = next_question(c), left = at - mono_now();

	p[0].events |= POLLRDHUP;
	poll(p, 2, at == INT64_MAX ? -1 : (int)MAX(left / NS_PER_MSEC + 1, 1));
	if (works(c) && p[1].revents)
		set_state(c, COURIER_NO_OWNER, 0);
}

static bool has_ended(void)
{
	struct pollfd p = { .fd = SOCKET_FD, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* Lines until their end; those that cannot be sent then stay unsent. */
static void run(struct run *c)
{
	bool more = true;

	while (more || (c->len && works(c))) {
		wait_for_work(c);
		if (!works(c) && has_ended())
			break;
		if (mono_now() >= next_question(c)) {
			c->pause_ns = MIN(2 * c->pause_ns, ASK_HELD_MOST_NS);
			ask(c);
		}
		if (works(c)) {
			deliver_lines(c); /* what was kept while it did not */
			more = more && read_lines(c);
			deliver_lines(c);
		}
		send_report(c);
	}
	if (works(c) && unproven(c))
		ask(c);
	send_report(c);
}

_Noreturn void courier_run(int fd)
{
	static struct run c = { .netlink = -1, .owner_fd = -1, .pause_ns = ASK_HELD_NS };

	c.main_pid = (uint32_t)getppid();
	if (descriptors_keep(&fd, 1) < 0)
		_exit(1);
	set_aumessage_mode(MSG_QUIET, DBG_NO);
	c.control = audit_control_open();
	c.netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	become_small();
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_AUDIT_WRITE))
		set_state(&c, COURIER_REFUSED, -EPERM);
	else
		ask(&c);
	send_report(&c);
	run(&c);
	_exit(0);
}
