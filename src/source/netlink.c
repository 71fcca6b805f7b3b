/* SPDX-License-Identifier: MIT */
/* See netlink.h. */
#include "source/netlink.h"

#include <linux/connector.h>
#include <linux/sock_diag.h>
#include <sys/sysinfo.h>

#include "base/clock.h"
#include "base/namespace.h"
#include "base/util.h"

#define ROUNDS 16 /* batches of one socket before another gets its turn */

const char netlink_remedy_host[] =
	"run exeunt on the host itself, or in a container started with the host's "
	"network, pid and user namespaces";

int netlink_refuse(struct exeunt_source_status *status, int error, const char *reason,
		   const char *remedy)
{
	status->state = EXEUNT_STATE_REFUSED;
	status->error = error;
	status->reason = reason;
	status->remedy = remedy;
	return -error;
}

bool netlink_is_elsewhere(void)
{
	unsigned char message[NLMSG_HDRLEN + sizeof(struct cn_msg)];
	struct nlmsghdr header = { .nlmsg_len = sizeof(message), .nlmsg_type = NLMSG_DONE };
	struct cn_msg nobody = { .id = { .idx = UINT32_MAX, .val = UINT32_MAX } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	enum namespace_answer answer = namespace_is_initial("net");
	_cleanup_fd_
	int fd = -1;

	if (answer != NAMESPACE_UNKNOWN)
		return answer == NAMESPACE_OTHER;
	fd = netlink_open(NETLINK_CONNECTOR, 0);
	if (fd < 0)
		return false;
	memcpy(message, &header, sizeof(header));
	memcpy(message + NLMSG_HDRLEN, &nobody, sizeof(nobody));
	return sendto(fd, message, sizeof(message), 0, (struct sockaddr *)&kernel, sizeof(kernel)) <
		       0 &&
	       errno == ECONNREFUSED;
}

int netlink_batch_init(struct netlink_batch *b, unsigned int n, size_t stride, bool connected)
{
	b->n = n;
	b->stride = stride;
	b->msgs = calloc(n, sizeof(*b->msgs));
	b->iov = calloc(n, sizeof(*b->iov));
	b->senders = connected ? NULL : calloc(n, sizeof(*b->senders));
	b->buffers = malloc(n * stride);
	if (!b->msgs || !b->iov || !b->buffers || (!b->senders && !connected))
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		b->iov[i] = (struct iovec){ b->buffers + i * stride, stride };
		b->msgs[i].msg_hdr = (struct msghdr){
			.msg_iov = &b->iov[i],
			.msg_iovlen = 1,
			.msg_name = connected ? NULL : &b->senders[i],
			.msg_namelen = connected ? 0 : sizeof(b->senders[i]),
		};
	}
	return 0;
}

void netlink_batch_done(struct netlink_batch *b)
{
	free(b->msgs);
	free(b->iov);
	free(b->senders);
	free(b->buffers);
}

uint32_t netlink_choose_buffer(int sockets)
{
	const uint64_t most = UINT64_C(32) << 20, least = UINT64_C(1) << 20;
	struct sysinfo info;
	uint64_t share;

	if (sysinfo(&info))
		return least;
	share = (uint64_t)info.totalram * info.mem_unit / 32 / (uint64_t)sockets;
	share = MIN(most, share);
	return (uint32_t)MAX(least, share);
}

int netlink_set_buffer(int fd, uint32_t bytes, uint64_t *granted)
{
	int half = (int)MIN(bytes / 2,
			    (uint32_t)INT32_MAX / 2); /* the kernel doubles what it is given */
	socklen_t len = sizeof(half);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof(half)) &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof(half)))
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, &len))
		return -errno;
	*granted = (uint64_t)half;
	return 0;
}

int netlink_open(int protocol, uint32_t groups)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = groups };
	_cleanup_fd_
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	int opened;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -errno;
	opened = fd;
	fd = -1;
	return opened;
}

int netlink_connect(int fd)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) ? -errno : 0;
}

int netlink_prepare(int fd, uint32_t bytes, uint64_t *granted)
{
	const int one = 1;

	if (setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &one, sizeof(one)))
		return -errno;
	return netlink_set_buffer(fd, bytes, granted);
}

static int read_drops(int fd, uint32_t *drops)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len))
		return -errno;
	*drops = info[SK_MEMINFO_DROPS];
	return 0;
}

int netlink_channel_begin(struct netlink_channel *c)
{
	c->empty_ns = c->checked_ns = mono_now();
	return read_drops(c->fd, &c->drops);
}

/* The length is what the kernel made it, and has to be set anew for the next message. */
static bool is_from_kernel(struct netlink_batch *b, int i)
{
	b->msgs[i].msg_hdr.msg_namelen = sizeof(b->senders[i]);
	return likely(!b->senders[i].nl_pid);
}

static int hand_on(struct netlink_batch *b, struct source *s, struct frame *f, int n, frame_fn fn,
		   void *userdata)
{
	for (int i = 0; i < n; i++) {
		int r;

		f->data = b->iov[i].iov_base;
		f->len = b->msgs[i].msg_len;
		if (b->senders && !is_from_kernel(b, i))
			continue;
		if (b->wanted && !b->wanted(s, f->data, f->len))
			continue;
		s->status->messages++;
		s->status->bytes += f->len;
		r = fn(f, userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * When poll woke us for this socket, its queue was empty until about now; after a pause (we were stopped, or slept to
 * coalesce) the last time it was seen empty is all that is known. More than a few messages mean such a pause.
 */
#define WOKEN_LIMIT 4
#define WOKEN_LATENCY (5 * NS_PER_MSEC)

int netlink_channel_drain(struct netlink_channel *c, struct netlink_batch *b, struct source *s,
			  bool woken, frame_fn fn, void *userdata, bool *more)
{
	struct frame f = { .source = s->ops->id, .kind = FRAME_DATA, .channel = c->number };
	int total = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t before = mono_now();
		int n = recvmmsg(c->fd, b->msgs, b->n, MSG_DONTWAIT, NULL);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != ENOBUFS)
			return -errno;
		if (n > 0) {
			f.mono_ns = mono_now();
			f.real_ns = real_now();
			f.since_ns = c->empty_ns;
			if (woken && n <= WOKEN_LIMIT && round == 0)
				f.since_ns = MAX(c->empty_ns, f.mono_ns - WOKEN_LATENCY);
			r = hand_on(b, s, &f, n, fn, userdata);
			if (r < 0)
				return r;
			total += n;
		}
		if (n < (int)b->n) {
			c->empty_ns = before;
			return total;
		}
	}
	*more = true;
	return total;
}

int netlink_tell_empty(const struct source *s, int64_t mono_ns, frame_fn fn, void *userdata)
{
	struct frame empty = {
		.source = s->ops->id,
		.kind = FRAME_EMPTY,
		.channel = -1,
		.mono_ns = mono_ns,
		.since_ns = mono_ns,
		.real_ns = real_now(),
	};

	return fn(&empty, userdata);
}

int netlink_channel_check(struct netlink_channel *c, struct source *s, frame_fn fn, void *userdata)
{
	struct frame f = { .source = s->ops->id, .kind = FRAME_LOST, .channel = c->number };
	uint32_t drops;
	uint64_t count;
	int r = read_drops(c->fd, &drops);

	if (r < 0)
		return r;
	f.mono_ns = mono_now();
	f.real_ns = real_now();
	f.since_ns = c->checked_ns;
	c->checked_ns = f.mono_ns;
	count = (uint32_t)(drops - c->drops); /* the kernel's counter may wrap */
	c->drops = drops;
	if (!count)
		return 0;
	s->status->lost += count;
	f.data = &count;
	f.len = sizeof(count);
	return fn(&f, userdata);
}
