/* SPDX-License-Identifier: MIT */
/*
 * The proc connector source: one netlink socket on the group of process events. Promises that what
 * its receive buffer had no room for is counted exactly (SO_MEMINFO), and that the kernel is told
 * when it need not make events for us any more. Decodes nothing but the acknowledgement.
 *
 * Births, executions and changes of ids and names are wanted; ends are not, for other sources tell
 * of them with more, nor are threads. A socket filter leaves them out before they are copied, which
 * works on every kernel, where naming the events wanted does only since 6.6, and cannot tell a
 * thread from a process.
 */
#include "source/source.h"

#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <poll.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/namespace.h"
#include "base/util.h"
#include "decode/procevents.h"
#include "source/netlink.h"

#define BATCH 128
/* The kernel's messages have 76 bytes. */
#define STRIDE 192
#define ACK_TIMEOUT_MS 200
#define BELL_BYTES 65536
#define BELL_BATCH 32
/* One in so many of the events that are no EXEC rings, more often where the buffer is small. */
#define BELL_OTHERS_MOST 1024
#define BELL_OTHERS_SHARE 16384

struct procevents_source {
	struct source base;
	int epoll_fd;
	int bell_fd; /* what we are woken by; -1: the channel itself */
	struct netlink_channel channel;
	struct netlink_batch batch;
	bool listening;
};

/*
 * In another user or pid namespace the kernel ignores the request without an answer
 * (drivers/connector/cn_proc.c: cn_proc_mcast_ctl()), and its own end of the socket is in the
 * initial network namespace only; so the place is looked at first.
 */
static int check_place(struct exeunt_source_status *st)
{
	if (namespace_is_initial("user") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"the proc connector needs the initial user namespace, and this is another one",
			netlink_remedy_host);
	if (namespace_is_initial("pid") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"the proc connector needs the initial pid namespace, and this is another one",
			netlink_remedy_host);
	if (namespace_is_initial("net") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"the proc connector needs the initial network namespace, and this is another one",
			"nsenter --target 1 --net exeunt ...");
	return 0;
}

static int explain(struct exeunt_source_status *st, int error)
{
	switch (error) {
	case -ENOMEM:
		return netlink_refuse(st, ENOMEM, "not enough memory for the proc connector", NULL);
	case -EPERM:
	case -EACCES:
		return netlink_refuse(
			st, EPERM,
			"before Linux 6.6 the proc connector needs the capability CAP_NET_ADMIN",
			"sudo exeunt ...");
	case -EPROTONOSUPPORT:
	case -ETIME: /* the place is right, and nobody answers */
		return netlink_refuse(
			st, EOPNOTSUPP, "this kernel has no proc connector",
			"use a kernel with CONFIG_PROC_EVENTS=y; exits are collected without it, "
			"with less said about who the process was");
	case -ECONNREFUSED:
		return netlink_refuse(st, EPERM,
				      "the proc connector cannot be reached from this network "
				      "namespace",
				      netlink_remedy_host);
	default:
		return netlink_refuse(st, -error, "the proc connector did not accept the request",
				      "exeunt check tells what works here");
	}
}

/* nlmsghdr, cn_msg and one word; `ack` comes back increased by one. */
static int send_request(int fd, uint32_t what, uint32_t ack)
{
	unsigned char message[NLMSG_HDRLEN + sizeof(struct cn_msg) + sizeof(what)];
	struct nlmsghdr header = { .nlmsg_len = sizeof(message), .nlmsg_type = NLMSG_DONE };
	struct cn_msg cn = {
		.id = { .idx = CN_IDX_PROC, .val = CN_VAL_PROC },
		.ack = ack,
		.len = sizeof(what),
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	memcpy(message, &header, sizeof(header));
	memcpy(message + NLMSG_HDRLEN, &cn, sizeof(cn));
	memcpy(message + NLMSG_HDRLEN + sizeof(cn), &what, sizeof(what));
	return sendto(fd, message, sizeof(message), 0, (struct sockaddr *)&kernel, sizeof(kernel)) <
			       0
		       ? -errno
		       : 0;
}

/* The acknowledgements of all listeners come to all of them. */
static bool is_answer(const unsigned char *message, size_t len, uint32_t ack, int *error)
{
	struct proc_event_info event;
	size_t used;

	if (procevents_decode(message, len, &event, &used) != 1 || event.kind != PROC_KIND_ACK ||
	    load_u32(message + NLMSG_HDRLEN + offsetof(struct cn_msg, ack)) != ack + 1)
		return false;
	*error = -(int)event.u.error;
	return true;
}

/* What comes before the answer was sent for others who listen, before we began to. */
static int await_answer(int fd, uint32_t ack)
{
	int64_t until = mono_now() + ACK_TIMEOUT_MS * NS_PER_MSEC;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned char message[STRIDE];

	while (mono_now() < until) {
		struct sockaddr_nl sender = { 0 };
		socklen_t sender_len = sizeof(sender);
		ssize_t n = recvfrom(fd, message, sizeof(message), MSG_DONTWAIT,
				     (struct sockaddr *)&sender, &sender_len);
		int error;

		if (n >= 0 && !sender.nl_pid && is_answer(message, (size_t)n, ack, &error))
			return error;
		if (n < 0 && errno == EAGAIN)
			poll(&p, 1, ACK_TIMEOUT_MS);
		else if (n < 0 && errno != EINTR && errno != ENOBUFS)
			return -errno;
	}
	return -ETIME;
}

/* Where struct proc_event lies in the datagram, and what of it the filter looks at. */
#define AT_WHAT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define AT_CHILD_PID (AT_WHAT + offsetof(struct proc_event, event_data.fork.child_pid))
#define AT_CHILD_TGID (AT_WHAT + offsetof(struct proc_event, event_data.fork.child_tgid))

static int attach(int fd, struct sock_filter *code, unsigned short n)
{
	const struct sock_fprog program = { n, code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

/* The filter machine reads numbers as of the network; those of the message are the host's. */
static int leave_out_ends(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_WHAT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXIT), 8, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_COREDUMP), 7, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_PTRACE), 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_CHILD_PID),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_CHILD_TGID),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};

	return attach(fd, code, ARRAY_SIZE(code));
}

/* A power of two. */
static uint32_t count_others(uint32_t bytes)
{
	uint32_t n = 1;

	while (n < BELL_OTHERS_MOST && n * BELL_OTHERS_SHARE < bytes)
		n *= 2;
	return n;
}

/*
 * The bell: a second socket, to be woken by, not to be read from. An EXEC has to be looked up in
 * /proc at once, all else has time until something ends; to be woken for each birth would be half
 * of all the wakes, and more where processes only fork. It rings for each EXEC, and for one in so
 * many others, lest the queue runs full while nothing ends.
 *
 * It has to be there before the socket that is read: the kernel serves the latest listener first
 * (net/netlink/af_netlink.c: netlink_update_subscriptions() adds at the head), so that what rang is
 * in the queue by then.
 */
static int hang_bell(int fd, uint32_t bytes)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_WHAT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXIT), 4, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, count_others(bytes) - 1),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	uint64_t granted;
	int r = netlink_prepare(fd, BELL_BYTES, &granted);

	return r < 0 ? r : attach(fd, code, ARRAY_SIZE(code));
}

static void open_bell(struct procevents_source *s, uint32_t bytes)
{
	int fd = netlink_open(NETLINK_CONNECTOR, 1u << (CN_IDX_PROC - 1));

	s->bell_fd = fd;
	if (fd < 0 || hang_bell(fd, bytes) >= 0)
		return;
	close_fd(fd); /* before Linux 3.16: then each event wakes us */
	s->bell_fd = -1;
}

/* Nothing of it is of use: no bytes are asked for. */
static void silence_bell(const struct procevents_source *s)
{
	struct mmsghdr nothing[BELL_BATCH] = { 0 };

	while (s->bell_fd >= 0 &&
	       recvmmsg(s->bell_fd, nothing, BELL_BATCH, MSG_DONTWAIT, NULL) == BELL_BATCH)
		;
}

static int listen_to_kernel(struct procevents_source *s, const struct source_options *o)
{
	uint32_t bytes = o->receive_buffer ? o->receive_buffer : netlink_choose_buffer(1);
	struct epoll_event event = { .events = EPOLLIN };
	uint32_t ack = (uint32_t)mono_now();
	int r, fd;

	s->channel = (struct netlink_channel){ .number = -1 };
	open_bell(s, bytes);
	s->channel.fd = netlink_open(NETLINK_CONNECTOR, 1u << (CN_IDX_PROC - 1));
	if (s->channel.fd < 0)
		return s->channel.fd;
	r = netlink_prepare(s->channel.fd, bytes, &s->base.status->receive_buffer);
	if (r >= 0)
		r = leave_out_ends(s->channel.fd);
	if (r >= 0)
		r = send_request(s->channel.fd, PROC_CN_MCAST_LISTEN, ack);
	if (r >= 0)
		r = await_answer(s->channel.fd, ack);
	if (r < 0)
		return r;
	s->listening = true;
	r = netlink_batch_init(&s->batch, BATCH, STRIDE, false);
	if (r >= 0)
		r = netlink_channel_begin(&s->channel);
	fd = s->bell_fd >= 0 ? s->bell_fd : s->channel.fd;
	if (r >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		r = -errno;
	return r;
}

/*
 * A listener that only closes its socket stays counted before 6.6, and each fork and exit is paid
 * for it for ever.
 */
static void procevents_free(struct source *base)
{
	struct procevents_source *s = (struct procevents_source *)base;

	if (!s)
		return;
	if (s->listening)
		send_request(s->channel.fd, PROC_CN_MCAST_IGNORE, 0);
	close_fd(s->channel.fd);
	close_fd(s->bell_fd);
	close_fd(s->epoll_fd);
	netlink_batch_done(&s->batch);
	free(s);
}

static int procevents_open(struct source **ret, const struct source_options *o,
			   struct exeunt_source_status *st)
{
	struct procevents_source *s;
	int r;

	r = check_place(st);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return netlink_refuse(st, ENOMEM, "not enough memory", NULL);
	s->base.ops = &source_procevents;
	s->base.status = st;
	s->channel.fd = s->bell_fd = -1;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = s->epoll_fd < 0 ? -errno : listen_to_kernel(s, o);
	if (r < 0) {
		procevents_free(&s->base);
		return explain(st, r);
	}
	st->state = EXEUNT_STATE_OPEN;
	st->sockets = 1;
	*ret = &s->base;
	return 0;
}

static int procevents_fd(const struct source *base)
{
	return ((const struct procevents_source *)base)->epoll_fd;
}

static int procevents_drain(struct source *base, bool woken, frame_fn fn, void *userdata,
			    bool *more)
{
	struct procevents_source *s = (struct procevents_source *)base;
	int total, r;

	*more = false;
	silence_bell(s); /* first: what comes in between rings again */
	total = netlink_channel_drain(&s->channel, &s->batch, base, woken, fn, userdata, more);
	if (total < 0 || *more)
		return total;
	r = netlink_tell_empty(base, s->channel.empty_ns, fn, userdata);
	return r < 0 ? r : total;
}

static int procevents_check(struct source *base, frame_fn fn, void *userdata)
{
	struct procevents_source *s = (struct procevents_source *)base;

	return netlink_channel_check(&s->channel, base, fn, userdata);
}

const struct source_ops source_procevents = {
	.id = EXEUNT_SOURCE_PROCEVENTS,
	.open = procevents_open,
	.free = procevents_free,
	.fd = procevents_fd,
	.drain = procevents_drain,
	.check = procevents_check,
};
