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
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/cpulist.h"
#include "base/namespace.h"
#include "base/util.h"
#include "source/netlink.h"

#define BATCH 64
#define STRIDE 3136
#define SETUP_TIMEOUT_SEC 2

struct channel {
	struct netlink_channel netlink; /* its number is the CPU */
	struct nl_sock *nl;
};

struct taskstats_source {
	struct source base;
	int epoll_fd;
	int family;
	struct channel *channels;
	int n_channels;
	struct netlink_batch batch;
	struct epoll_event *events;
};

/*
 * What the kernel answers in the wrong place is misleading (EPERM, EINVAL, or a success after which nothing comes),
 * so the place is looked at first. kernel/taskstats.c: add_del_listener() wants the initial user and pid namespace,
 * send_cpu_listeners() sends into the initial network namespace only.
 */
static int check_place(struct exeunt_source_status *st)
{
	if (namespace_is_initial("user") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"taskstats needs the initial user namespace, and this is another one",
			netlink_remedy_host);
	if (namespace_is_initial("pid") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"taskstats needs the initial pid namespace, and this is another one",
			netlink_remedy_host);
	if (namespace_is_initial("net") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"taskstats needs the initial network namespace: in this one nothing would ever arrive",
			"nsenter --target 1 --net exeunt ...");
	if (!capability_effective(CAP_NET_ADMIN))
		return netlink_refuse(st, EPERM, "taskstats needs the capability CAP_NET_ADMIN",
				      "sudo exeunt ...");
	return 0;
}

static int too_few_files(struct exeunt_source_status *st, int error)
{
	return netlink_refuse(
		st, error,
		"there are too few file descriptors: taskstats needs one for each possible CPU",
		"ulimit -n 4096");
}

static bool is_about_files(int error)
{
	return error == EMFILE || error == ENFILE;
}

/* error: errno, where libnl has no number for it. */
static int explain(struct exeunt_source_status *st, int nl_error, int error)
{
	if (is_about_files(error))
		return too_few_files(st, error);
	switch (nl_error) {
	case -NLE_OBJ_NOTFOUND:
		return netlink_refuse(
			st, EOPNOTSUPP, "this kernel has no taskstats",
			"use a kernel with CONFIG_TASKSTATS=y, or another source: --source pacct");
	case -NLE_PERM:
		return netlink_refuse(st, EPERM,
				      "the kernel refused the registration with taskstats",
				      "run as root in the host's own namespaces");
	case -NLE_NOMEM:
		return netlink_refuse(st, ENOMEM, "not enough memory for the taskstats sockets",
				      NULL);
	case -NLE_AGAIN:
		return netlink_refuse(
			st, ETIME,
			"the kernel did not answer the registration with taskstats in time", NULL);
	default:
		return netlink_refuse(st, EINVAL,
				      "the kernel did not accept the registration with taskstats",
				      "exeunt check tells what works here");
	}
}

/* Registers this socket for the exits on one CPU; negative libnl error. */
static int register_cpu(struct taskstats_source *s, struct channel *c)
{
	struct nl_msg *msg = nlmsg_alloc();
	char mask[16];
	int r = -NLE_NOMEM;

	if (!msg)
		return r;
	snprintf(mask, sizeof(mask), "%d", c->netlink.number);
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
	int fd, r;

	c->nl = nl_socket_alloc();
	if (!c->nl)
		return -NLE_NOMEM;
	nl_socket_disable_seq_check(c->nl);
	r = genl_connect(c->nl);
	if (r < 0)
		return r;
	fd = c->netlink.fd = nl_socket_get_fd(c->nl);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
	    netlink_prepare(fd, receive_buffer, &s->base.status->receive_buffer))
		return -NLE_FAILURE;
	if (!s->family) {
		s->family = genl_ctrl_resolve(c->nl, TASKSTATS_GENL_NAME);
		if (s->family < 0)
			return s->family;
	}
	r = register_cpu(s, c);
	if (r < 0)
		return r;
	if (netlink_connect(fd) || netlink_channel_begin(&c->netlink) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK))
		return -NLE_FAILURE;
	return 0;
}

static int open_channels(struct taskstats_source *s, const struct source_options *o,
			 const struct cpu_list *cpus)
{
	uint32_t bytes = o->receive_buffer ? o->receive_buffer : netlink_choose_buffer(cpus->n);

	s->channels = calloc((size_t)cpus->n, sizeof(*s->channels));
	s->events = calloc((size_t)cpus->n, sizeof(*s->events));
	if (!s->channels || !s->events)
		return -NLE_NOMEM;
	for (int i = 0; i < cpus->n; i++) {
		struct channel *c = &s->channels[i];
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
		int r;

		c->netlink = (struct netlink_channel){ .fd = -1, .number = cpus->cpu[i] };
		s->n_channels = i + 1;
		r = channel_open(s, c, bytes);
		if (r < 0)
			return r;
		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, c->netlink.fd, &event))
			return -NLE_FAILURE;
	}
	return 0;
}

static void taskstats_free(struct source *base)
{
	struct taskstats_source *s = (struct taskstats_source *)base;

	if (!s)
		return;
	for (int i = 0; i < s->n_channels; i++)
		nl_socket_free(s->channels[i].nl);
	close_fd(s->epoll_fd);
	netlink_batch_done(&s->batch);
	free(s->channels);
	free(s->events);
	free(s);
}

static int taskstats_open(struct source **ret, const struct source_options *o,
			  struct exeunt_source_status *st)
{
	_cleanup_cpu_list_ struct cpu_list cpus = { 0 };
	struct taskstats_source *s;
	int r, error;

	r = check_place(st);
	if (r < 0)
		return r;
	r = cpu_list_possible(&cpus);
	if (r < 0)
		return is_about_files(-r)
			       ? too_few_files(st, -r)
			       : netlink_refuse(st, -r,
						"/sys/devices/system/cpu/possible cannot be read",
						"mount sysfs on /sys");
	s = calloc(1, sizeof(*s));
	if (!s)
		return netlink_refuse(st, ENOMEM, "not enough memory", NULL);
	s->base.ops = &source_taskstats;
	s->base.status = st;
	errno = 0;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = netlink_batch_init(&s->batch, BATCH, STRIDE, true) < 0 ? -NLE_NOMEM : 0;
	if (r >= 0)
		r = s->epoll_fd < 0 ? -NLE_FAILURE : open_channels(s, o, &cpus);
	if (r < 0) {
		error = errno;
		taskstats_free(&s->base);
		return explain(st, r, error);
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

/* With few CPUs asking each socket is cheaper than asking which. */
#define ASK_ALL 8

static int taskstats_drain(struct source *base, bool woken, frame_fn fn, void *userdata, bool *more)
{
	struct taskstats_source *s = (struct taskstats_source *)base;
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

		r = netlink_channel_drain(&c->netlink, &s->batch, base, woken, fn, userdata, more);
		if (r < 0)
			return r;
		total += r;
	}
	if (*more)
		return total;
	for (int i = 0; i < s->n_channels; i++)
		s->channels[i].netlink.empty_ns = MAX(s->channels[i].netlink.empty_ns, now);
	r = netlink_tell_empty(base, now, fn, userdata);
	return r < 0 ? r : total;
}

static int taskstats_check(struct source *base, frame_fn fn, void *userdata)
{
	struct taskstats_source *s = (struct taskstats_source *)base;
	int r = 0;

	for (int i = 0; i < s->n_channels && r >= 0; i++)
		r = netlink_channel_check(&s->channels[i].netlink, base, fn, userdata);
	return r;
}

const struct source_ops source_taskstats = {
	.id = EXEUNT_SOURCE_TASKSTATS,
	.open = taskstats_open,
	.free = taskstats_free,
	.fd = taskstats_fd,
	.drain = taskstats_drain,
	.check = taskstats_check,
};
