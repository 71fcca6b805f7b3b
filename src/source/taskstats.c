/* SPDX-License-Identifier: MIT */
/*
 * The taskstats source: one generic netlink socket for each possible CPU, registered for that CPU's exits.
 * Promises that loss is known exactly: overflow neither stops reading nor goes uncounted (SO_MEMINFO). Decodes nothing.
 */
#include "source/source.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>

#include "base/clock.h"
#include "base/cpulist.h"
#include "base/namespace.h"
#include "base/util.h"

#define BATCH 64
/* Not a power of two: buffers 4,096 apart would all fall into the same few cache sets. */
#define STRIDE 3136
#define ROUNDS 16 /* batches of one socket before another gets its turn */
#define SETUP_TIMEOUT_SEC 2

struct channel {
	struct nl_sock *nl;
	int fd;
	int cpu;
	uint32_t drops;	    /* SO_MEMINFO as last told */
	int64_t empty_ns;   /* monotonic: the queue was seen empty then */
	int64_t checked_ns; /* monotonic: drops were read then */
};

struct taskstats_source {
	struct source base;
	int epoll_fd;
	int family;
	struct channel *channels;
	int n_channels;
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH];
	unsigned char buffers[BATCH * STRIDE];
	struct epoll_event *events;
};

static const char remedy_host[] =
	"run exeunt on the host itself, or in a container started with the host's "
	"network, pid and user namespaces";

static int refuse(struct exeunt_source_status *st, int error, const char *reason,
		  const char *remedy)
{
	st->state = EXEUNT_STATE_REFUSED;
	st->error = error;
	st->reason = reason;
	st->remedy = remedy;
	return -error;
}

/*
 * What the kernel answers in the wrong place is misleading (EPERM, EINVAL, or a success after which nothing comes),
 * so the place is looked at first. kernel/taskstats.c: add_del_listener() wants the initial user and pid namespace,
 * send_cpu_listeners() sends into the initial network namespace only.
 */
static int check_place(struct exeunt_source_status *st)
{
	if (namespace_is_initial("user") == NAMESPACE_OTHER)
		return refuse(st, EPERM,
			      "taskstats needs the initial user namespace, and this is another one",
			      remedy_host);
	if (namespace_is_initial("pid") == NAMESPACE_OTHER)
		return refuse(st, EPERM,
			      "taskstats needs the initial pid namespace, and this is another one",
			      remedy_host);
	if (namespace_is_initial("net") == NAMESPACE_OTHER)
		return refuse(
			st, EPERM,
			"taskstats needs the initial network namespace: in this one nothing would ever arrive",
			"nsenter --target 1 --net exeunt ...");
	if (!capability_effective(CAP_NET_ADMIN))
		return refuse(st, EPERM, "taskstats needs the capability CAP_NET_ADMIN",
			      "sudo exeunt ...");
	return 0;
}

static int explain(struct exeunt_source_status *st, int nl_error)
{
	switch (nl_error) {
	case -NLE_OBJ_NOTFOUND:
		return refuse(
			st, EOPNOTSUPP, "this kernel has no taskstats",
			"use a kernel with CONFIG_TASKSTATS=y, or another source: --source pacct");
	case -NLE_PERM:
		return refuse(st, EPERM, "the kernel refused the registration with taskstats",
			      "run as root in the host's own namespaces");
	case -NLE_NOMEM:
		return refuse(st, ENOMEM, "not enough memory for the taskstats sockets", NULL);
	case -NLE_AGAIN:
		return refuse(st, ETIME,
			      "the kernel did not answer the registration with taskstats in time",
			      NULL);
	default:
		return refuse(st, EINVAL,
			      "the kernel did not accept the registration with taskstats",
			      "exeunt check tells what works here");
	}
}

/*
 * A buffer large enough to sit out half a second of a busy CPU (a queued message costs 1,280 bytes), small enough that
 * all of them full is a thirty-second of memory. The kernel uses it only while we are behind.
 */
static uint32_t choose_receive_buffer(int n_cpus)
{
	const uint64_t most = UINT64_C(32) << 20, least = UINT64_C(1) << 20;
	struct sysinfo info;
	uint64_t share;

	if (sysinfo(&info))
		return least;
	share = (uint64_t)info.totalram * info.mem_unit / 32 / (uint64_t)n_cpus;
	share = MIN(most, share);
	return (uint32_t)MAX(least, share);
}

static int set_receive_buffer(int fd, uint32_t bytes, uint64_t *granted)
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

static int read_drops(int fd, uint32_t *drops)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len))
		return -errno;
	*drops = info[SK_MEMINFO_DROPS];
	return 0;
}

/* Registers this socket for the exits on one CPU; negative libnl error. */
static int register_cpu(struct taskstats_source *s, struct channel *c)
{
	struct nl_msg *msg = nlmsg_alloc();
	char mask[16];
	int r = -NLE_NOMEM;

	if (!msg)
		return r;
	snprintf(mask, sizeof(mask), "%d", c->cpu);
	if (genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, s->family, 0, NLM_F_REQUEST | NLM_F_ACK,
			TASKSTATS_CMD_GET, TASKSTATS_GENL_VERSION))
		r = nla_put_string(msg, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, mask);
	if (r < 0) {
		nlmsg_free(msg);
		return r;
	}
	return nl_send_sync(c->nl, msg); /* frees msg, waits for the answer */
}

static int channel_open(struct taskstats_source *s, struct channel *c, uint32_t receive_buffer)
{
	struct timeval timeout = { .tv_sec = SETUP_TIMEOUT_SEC };
	const int one = 1;
	int r;

	c->nl = nl_socket_alloc();
	if (!c->nl)
		return -NLE_NOMEM;
	nl_socket_disable_seq_check(c->nl);
	r = genl_connect(c->nl);
	if (r < 0)
		return r;
	c->fd = nl_socket_get_fd(c->nl);
	/* While congested the kernel drops everything until the queue has been read empty, but not so with this. */
	if (setsockopt(c->fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &one, sizeof(one)) ||
	    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
	    set_receive_buffer(c->fd, receive_buffer, &s->base.status->receive_buffer))
		return -NLE_FAILURE;
	if (!s->family) {
		s->family = genl_ctrl_resolve(c->nl, TASKSTATS_GENL_NAME);
		if (s->family < 0)
			return s->family;
	}
	r = register_cpu(s, c);
	if (r < 0)
		return r;
	c->empty_ns = c->checked_ns = mono_now();
	if (read_drops(c->fd, &c->drops) || fcntl(c->fd, F_SETFL, O_NONBLOCK))
		return -NLE_FAILURE;
	return 0;
}

static int open_channels(struct taskstats_source *s, const struct source_options *o,
			 const struct cpu_list *cpus)
{
	uint32_t bytes = o->receive_buffer ? o->receive_buffer : choose_receive_buffer(cpus->n);

	s->channels = calloc((size_t)cpus->n, sizeof(*s->channels));
	s->events = calloc((size_t)cpus->n, sizeof(*s->events));
	if (!s->channels || !s->events)
		return -NLE_NOMEM;
	for (int i = 0; i < cpus->n; i++) {
		struct channel *c = &s->channels[i];
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
		int r;

		*c = (struct channel){ .fd = -1, .cpu = cpus->cpu[i] };
		s->n_channels = i + 1;
		r = channel_open(s, c, bytes);
		if (r < 0)
			return r;
		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, c->fd, &event))
			return -NLE_FAILURE;
	}
	return 0;
}

static void prepare_messages(struct taskstats_source *s)
{
	for (int i = 0; i < BATCH; i++) {
		s->iov[i] = (struct iovec){ s->buffers + (size_t)i * STRIDE, STRIDE };
		s->msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &s->iov[i], .msg_iovlen = 1 };
	}
}

static void taskstats_free(struct source *base)
{
	struct taskstats_source *s = (struct taskstats_source *)base;

	if (!s)
		return;
	for (int i = 0; i < s->n_channels; i++)
		nl_socket_free(s->channels[i].nl);
	close_fd(s->epoll_fd);
	free(s->channels);
	free(s->events);
	free(s);
}

static int taskstats_open(struct source **ret, const struct source_options *o,
			  struct exeunt_source_status *st)
{
	_cleanup_cpu_list_ struct cpu_list cpus = { 0 };
	struct taskstats_source *s;
	int r;

	r = check_place(st);
	if (r < 0)
		return r;
	r = cpu_list_possible(&cpus);
	if (r < 0)
		return refuse(st, -r, "/sys/devices/system/cpu/possible cannot be read",
			      "mount sysfs on /sys");
	s = calloc(1, sizeof(*s));
	if (!s)
		return refuse(st, ENOMEM, "not enough memory", NULL);
	s->base.ops = &source_taskstats;
	s->base.status = st;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	prepare_messages(s);
	r = s->epoll_fd < 0 ? -NLE_FAILURE : open_channels(s, o, &cpus);
	if (r < 0) {
		taskstats_free(&s->base);
		return explain(st, r);
	}
	st->state = EXEUNT_STATE_OPEN;
	st->sockets = (uint32_t)s->n_channels;
	*ret = &s->base;
	return 0;
}

static int taskstats_fd(const struct source *base)
{
	return ((const struct taskstats_source *)base)->epoll_fd;
}

static int hand_on(struct taskstats_source *s, struct frame *f, int n, frame_fn fn, void *userdata)
{
	for (int i = 0; i < n; i++) {
		int r;

		f->data = s->iov[i].iov_base;
		f->len = s->msgs[i].msg_len;
		s->base.status->messages++;
		s->base.status->bytes += f->len;
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
#define WOKEN_LATENCY NS_PER_MSEC

static int channel_drain(struct taskstats_source *s, struct channel *c, bool woken, frame_fn fn,
			 void *userdata, bool *more)
{
	struct frame f = { .source = EXEUNT_SOURCE_TASKSTATS,
			   .kind = FRAME_DATA,
			   .channel = c->cpu };
	int total = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t before = mono_now();
		int n = recvmmsg(c->fd, s->msgs, BATCH, MSG_DONTWAIT, NULL);
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
			r = hand_on(s, &f, n, fn, userdata);
			if (r < 0)
				return r;
			total += n;
		}
		if (n < BATCH) {
			c->empty_ns = before;
			return total;
		}
	}
	*more = true;
	return total;
}

/* With few CPUs asking each socket is cheaper than asking which. */
#define ASK_ALL 8

static int taskstats_drain(struct source *base, bool woken, frame_fn fn, void *userdata, bool *more)
{
	struct taskstats_source *s = (struct taskstats_source *)base;
	struct frame empty = { .source = EXEUNT_SOURCE_TASKSTATS,
			       .kind = FRAME_EMPTY,
			       .channel = -1 };
	int64_t now = mono_now();
	int total = 0, n, r;

	*more = false;
	n = s->n_channels;
	if (n > ASK_ALL) {
		n = epoll_wait(s->epoll_fd, s->events, s->n_channels, 0);
		if (n < 0)
			return errno == EINTR ? 0 : -errno;
	}
	for (int i = 0; i < n; i++) {
		struct channel *c =
			s->n_channels > ASK_ALL ? s->events[i].data.ptr : &s->channels[i];

		r = channel_drain(s, c, woken, fn, userdata, more);
		if (r < 0)
			return r;
		total += r;
	}
	if (*more)
		return total;
	for (int i = 0; i < s->n_channels; i++)
		s->channels[i].empty_ns = MAX(s->channels[i].empty_ns, now);
	empty.mono_ns = empty.since_ns = now;
	empty.real_ns = real_now();
	r = fn(&empty, userdata);
	return r < 0 ? r : total;
}

static int taskstats_check(struct source *base, frame_fn fn, void *userdata)
{
	struct taskstats_source *s = (struct taskstats_source *)base;

	for (int i = 0; i < s->n_channels; i++) {
		struct channel *c = &s->channels[i];
		struct frame f = { .source = EXEUNT_SOURCE_TASKSTATS,
				   .kind = FRAME_LOST,
				   .channel = c->cpu };
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
			continue;
		s->base.status->lost += count;
		f.data = &count;
		f.len = sizeof(count);
		r = fn(&f, userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

const struct source_ops source_taskstats = {
	.id = EXEUNT_SOURCE_TASKSTATS,
	.open = taskstats_open,
	.free = taskstats_free,
	.fd = taskstats_fd,
	.drain = taskstats_drain,
	.check = taskstats_check,
};
