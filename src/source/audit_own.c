/* SPDX-License-Identifier: MIT */
/*
 * Owning audit in the place of auditd. The kernel has one owner (kernel/audit.c: auditd_set()); it is named by its pid,
 * and has to ask on the socket that it will read. We never take it from anybody, and leave it to whoever wants it.
 */
#include "source/audit_internal.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <sys/epoll.h>

#include "base/clock.h"

/*
 * When we step aside all privileges are gone, so the socket that is needed then is opened now. A filter that takes
 * nothing keeps it empty.
 */
static int open_spare(uint32_t receive_buffer)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &nothing };
	_cleanup_fd_
	int fd = -1;
	uint64_t granted;
	int opened;

	if (netlink_is_elsewhere())
		return -1;
	fd = netlink_open(NETLINK_AUDIT, 0);
	if (fd < 0)
		return -1;
	opened = AUDIT_NLGRP_READLOG;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    netlink_prepare(fd, receive_buffer, &granted) < 0 ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &opened, sizeof(opened)))
		return -1;
	opened = fd;
	fd = -1;
	return opened;
}

/*
 * Without asking for an acknowledgement: records come on this socket from the moment that the kernel takes us, and
 * whether it has is seen by asking who the owner is. An error it sends anyway; nothing else can be there then.
 */
static int send_pid(int fd)
{
	struct {
		struct nlmsghdr header;
		struct audit_status status;
	} message = {
		.header = { .nlmsg_len = sizeof(message),
			    .nlmsg_type = AUDIT_SET,
			    .nlmsg_flags = NLM_F_REQUEST },
		.status = { .mask = AUDIT_STATUS_PID, .pid = (uint32_t)getpid() },
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(fd, &message, sizeof(message), 0, (struct sockaddr *)&kernel,
		      sizeof(kernel)) < 0
		       ? -errno
		       : 0;
}

static void say_owner(struct audit_source *s, const struct audit_facts *facts)
{
	watch_say(s, 4,
		  "audit belongs to %s (pid %u): its records are read beside it, by multicast",
		  facts->owner[0] ? facts->owner : "another process", facts->pid);
}

static int become_owner(struct audit_source *s, uint32_t receive_buffer)
{
	struct audit_facts facts;
	int r = watch_ask(s, AUDIT_ASK_OWN, &facts);

	if (r < 0)
		return r;
	if (!facts.pid) {
		r = send_pid(s->channel.fd);
		if (r >= 0)
			r = watch_ask(s, AUDIT_ASK_STATUS, &facts);
		if (r < 0)
			return r;
	}
	if (facts.pid == (uint32_t)getpid()) {
		watch_take(s, &facts, NULL, NULL);
		s->spare_fd = open_spare(receive_buffer);
		if (facts.backlog_wait_time)
			watch_say(s, 4,
				  "audit's settings are locked: processes may have to wait "
				  "when its queue is full");
		return 1;
	}
	watch_ask(s, AUDIT_ASK_RELEASE, &facts);
	if (!facts.pid)
		return -EPERM;
	say_owner(s, &facts);
	return 0;
}

int own_begin(struct audit_source *s, uint32_t receive_buffer)
{
	int r;

	if (!s->keeper || s->asked)
		return -ETIME;
	if (s->report.facts.error)
		return s->report.facts.error;
	if (s->report.facts.pid) {
		say_owner(s, &s->report.facts);
		return 0;
	}
	s->channel.fd = netlink_open(NETLINK_AUDIT, 0);
	if (s->channel.fd < 0)
		return s->channel.fd;
	r = netlink_prepare(s->channel.fd, receive_buffer, &s->base.status->receive_buffer);
	if (r >= 0)
		r = become_owner(s, receive_buffer);
	if (r > 0)
		return r;
	s->channel.fd = close_fd(s->channel.fd);
	return r;
}

/*
 * Our buffer lets records in before the unicast side is closed, so that none falls between; those that came by both
 * ways are told apart by their serial numbers, by the decoder.
 */
int own_step_aside(struct audit_source *s, frame_fn fn, void *userdata)
{
	bool more = true;
	int r = 0;

	s->challenged = false;
	if (s->spare_fd < 0) {
		watch_say(s, 4,
			  "another process tried to own audit, and could not because exeunt does");
		return 0;
	}
	setsockopt(s->spare_fd, SOL_SOCKET, SO_DETACH_FILTER, &r, sizeof(r));
	while (more && r >= 0) {
		more = false;
		r = netlink_channel_drain(&s->channel, &s->batch, &s->base, false, fn, userdata,
					  &more);
	}
	if (r < 0)
		return r;
	close_fd(s->channel.fd);
	s->channel.fd = s->spare_fd;
	s->spare_fd = -1;
	s->mode = AUDIT_MODE_MULTICAST;
	if (s->keeper && !audit_keeper_ask(s->keeper, AUDIT_ASK_RELEASE))
		s->asked = true;
	watch_say(
		s, 4,
		"another process wants to own audit: exeunt leaves it to it, and reads beside it");
	r = netlink_channel_begin(&s->channel);
	return r < 0 ? r : audit_watch_fd(s, s->channel.fd);
}

/* The keeper cannot make the kernel let go of a socket that is open. */
void own_end(struct audit_source *s)
{
	close_fd(s->channel.fd);
	s->channel.fd = -1;
	close_fd(s->spare_fd);
	audit_keeper_stop(s->keeper);
	s->keeper = NULL;
}
