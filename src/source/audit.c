/* SPDX-License-Identifier: MIT */
/* Opening in each mode, reading netlink, refusing with a reason. See audit.h. */
#include "source/audit.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/namespace.h"
#include "base/procfile.h"
#include "source/audit_internal.h"

#define BATCH 64
/* MAX_AUDIT_MESSAGE_LENGTH of 8,970 and a header; see netlink_batch_init() for what it must not be. */
#define STRIDE 9280

static const char *const mode_names[] = {
	[AUDIT_MODE_AUTO] = "auto",	      [AUDIT_MODE_OFF] = "off",
	[AUDIT_MODE_MULTICAST] = "multicast", [AUDIT_MODE_UNICAST] = "unicast",
	[AUDIT_MODE_STDIN] = "stdin",
};

int audit_mode_parse(enum audit_mode *ret, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(mode_names); i++)
		if (!strcmp(mode_names[i], name)) {
			*ret = (enum audit_mode)i;
			return 0;
		}
	return -EINVAL;
}

const char *audit_mode_now(const struct source *s)
{
	return mode_names[((const struct audit_source *)s)->mode];
}

int audit_watch_fd(struct audit_source *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0) /* standard input has ended */
		return epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, STDIN_FILENO, NULL) ? -errno : 0;
	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Replies and probes are not records; and a record of a changed setting is a reason to ask what changed. */
static bool is_record(struct source *base, const void *data, size_t len)
{
	struct audit_source *s = (struct audit_source *)base;
	uint16_t type;

	if (len < NLMSG_HDRLEN)
		return false;
	type = load_u16((const unsigned char *)data + offsetof(struct nlmsghdr, nlmsg_type));
	if (type == AUDIT_REPLACE)
		s->challenged = true;
	if (type < AUDIT_FIRST_USER_MSG || type == AUDIT_REPLACE)
		return false;
	s->seen++;
	s->config_changed |= type == AUDIT_CONFIG_CHANGE;
	return true;
}

/*
 * Joining the group asks for CAP_AUDIT_READ; in another network namespace it succeeds, and nothing ever comes
 * (kernel/audit.c: kauditd_send_multicast_skb() sends in the initial one only).
 */
int audit_open_multicast(struct audit_source *s, uint32_t receive_buffer)
{
	s->channel.fd = netlink_open(NETLINK_AUDIT, 1u << (AUDIT_NLGRP_READLOG - 1));
	if (s->channel.fd < 0)
		return s->channel.fd;
	return netlink_prepare(s->channel.fd, receive_buffer, &s->base.status->receive_buffer);
}

static int open_netlink(struct audit_source *s, const struct source_options *o)
{
	uint32_t bytes = o->receive_buffer ? o->receive_buffer : netlink_choose_buffer(1);
	int r = netlink_batch_init(&s->batch, BATCH, STRIDE, false);

	if (r < 0)
		return r;
	s->batch.wanted = is_record;
	watch_begin(s);
	r = 0;
	if (o->audit_mode == AUDIT_MODE_UNICAST)
		r = own_begin(s, bytes);
	if (r > 0)
		s->mode = AUDIT_MODE_UNICAST;
	else if (r == 0)
		r = audit_open_multicast(s, bytes);
	if (r < 0)
		return r;
	s->channel.number = AUDIT_CHANNEL_NETLINK;
	r = netlink_channel_begin(&s->channel);
	return r < 0 ? r : audit_watch_fd(s, s->channel.fd);
}

static int refuse_place(struct exeunt_source_status *st, enum audit_mode mode)
{
	if (mode == AUDIT_MODE_STDIN)
		return 0;
	if (namespace_is_initial("user") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"audit needs the initial user namespace, and this is another one",
			netlink_remedy_host);
	if (mode == AUDIT_MODE_UNICAST && namespace_is_initial("pid") == NAMESPACE_OTHER)
		return netlink_refuse(
			st, EPERM,
			"owning audit needs the initial pid namespace, and this is another one",
			netlink_remedy_host);
	if (mode == AUDIT_MODE_UNICAST && !capability_effective(CAP_AUDIT_CONTROL))
		return netlink_refuse(st, EPERM,
				      "owning audit needs the capability CAP_AUDIT_CONTROL",
				      "sudo exeunt ...");
	if (mode != AUDIT_MODE_UNICAST && netlink_is_elsewhere())
		return netlink_refuse(
			st, EPERM,
			"audit needs the initial network namespace: in this one nothing would ever arrive",
			"nsenter --target 1 --net exeunt ...");
	if (mode != AUDIT_MODE_UNICAST && !capability_effective(CAP_AUDIT_READ))
		return netlink_refuse(st, EPERM, "audit needs the capability CAP_AUDIT_READ",
				      "sudo exeunt ...");
	return 0;
}

static int refuse_absent(struct exeunt_source_status *st)
{
	struct audit_facts facts = { 0 };
	char line[4096];

	if (procfile_line("/proc/cmdline", line, sizeof(line)) >= 0)
		audit_report_boot(&facts, line);
	if (facts.booted_off)
		return netlink_refuse(st, EOPNOTSUPP, "the kernel was booted with audit=0",
				      "take audit=0 off the kernel's command line, and reboot");
	return netlink_refuse(st, EOPNOTSUPP, "this kernel has no audit",
			      "use a kernel with CONFIG_AUDIT=y");
}

static int explain(struct exeunt_source_status *st, int error)
{
	switch (error) {
	case -ENOMEM:
		return netlink_refuse(st, ENOMEM, "not enough memory for the audit source", NULL);
	case -EPROTONOSUPPORT:
		return refuse_absent(st);
	case -ETIME:
		return netlink_refuse(
			st, ETIME,
			"audit does not answer: its queue is full, and who asks has to wait",
			"see why the owner of audit does not read; or --audit multicast");
	case -EPERM:
	case -ECONNREFUSED:
		return netlink_refuse(st, EPERM, "the kernel does not let this process read audit",
				      "run as root in the host's own namespaces");
	case -ESPIPE:
		return netlink_refuse(st, ESPIPE,
				      "standard input is a file, and no stream of auditd",
				      "exeunt replay FILE");
	default:
		return netlink_refuse(st, -error, "the audit source could not be opened",
				      "exeunt check tells what works here");
	}
}

static void audit_free(struct source *base)
{
	struct audit_source *s = (struct audit_source *)base;

	if (!s)
		return;
	if (s->base.status->state == EXEUNT_STATE_OPEN) /* that is a text of ours */
		s->base.status->reason = s->base.status->remedy = NULL;
	own_end(s);
	close_fd(s->epoll_fd);
	netlink_batch_done(&s->batch);
	free(s->text);
	free(s);
}

static int audit_source_open(struct source **ret, const struct source_options *o,
			     struct exeunt_source_status *st)
{
	struct audit_source *s;
	int r;

	if (o->audit_mode == AUDIT_MODE_OFF) {
		st->state = EXEUNT_STATE_OFF;
		return -EOPNOTSUPP;
	}
	r = refuse_place(st, o->audit_mode);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return explain(st, -ENOMEM);
	s->base = (struct source){ .ops = &source_audit, .status = st };
	s->mode = o->audit_mode == AUDIT_MODE_STDIN ? AUDIT_MODE_STDIN : AUDIT_MODE_MULTICAST;
	s->rules = o->audit_rules;
	s->n_rules = o->n_audit_rules;
	s->channel.fd = s->spare_fd = -1;
	st->state = EXEUNT_STATE_OPEN;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		r = -errno;
	else if (s->mode == AUDIT_MODE_STDIN)
		r = text_begin(s);
	else
		r = open_netlink(s, o);
	if (r < 0) {
		audit_free(&s->base);
		return explain(st, r);
	}
	if (s->mode == AUDIT_MODE_STDIN)
		watch_begin(s);
	r = kept_begin(s, st);
	s->rules = NULL;
	if (r < 0) {
		const struct exeunt_source_status why = *st;

		audit_free(&s->base);
		*st = why;
		return r;
	}
	st->sockets = 1;
	*ret = &s->base;
	return 0;
}

static int audit_fd(const struct source *base)
{
	return ((const struct audit_source *)base)->epoll_fd;
}

static int audit_drain(struct source *base, bool woken, frame_fn fn, void *userdata, bool *more)
{
	struct audit_source *s = (struct audit_source *)base;
	int64_t now = mono_now();
	int total, r;

	*more = false;
	if (s->mode == AUDIT_MODE_STDIN)
		total = text_drain(s, fn, userdata, more);
	else
		total = netlink_channel_drain(&s->channel, &s->batch, base, woken, fn, userdata,
					      more);
	if (total < 0)
		return total;
	r = watch_answer(s, fn, userdata);
	if (r >= 0 && !*more)
		r = netlink_tell_empty(base, now, fn, userdata);
	return r < 0 ? r : total;
}

static int audit_check(struct source *base, frame_fn fn, void *userdata)
{
	struct audit_source *s = (struct audit_source *)base;
	int r = 0;

	if (s->mode == AUDIT_MODE_MULTICAST)
		r = netlink_channel_check(&s->channel, base, fn, userdata);
	if (r >= 0 && s->challenged)
		r = own_step_aside(s, fn, userdata);
	if (r >= 0)
		r = watch_answer(s, fn, userdata);
	watch_check(s, mono_now());
	return r;
}

static int audit_finish(struct source *base, frame_fn fn, void *userdata)
{
	int r = audit_check(base, fn, userdata);

	return r < 0 ? r : watch_finish((struct audit_source *)base, fn, userdata);
}

static const char *audit_message(struct source *base, int *level)
{
	return watch_message((struct audit_source *)base, level);
}

const struct source_ops source_audit = {
	.id = EXEUNT_SOURCE_AUDIT,
	.open = audit_source_open,
	.free = audit_free,
	.fd = audit_fd,
	.drain = audit_drain,
	.check = audit_check,
	.finish = audit_finish,
	.message = audit_message,
};
