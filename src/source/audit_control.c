/* SPDX-License-Identifier: MIT */
/* See audit_control.h. */
#include "source/audit_control.h"

#include <libaudit.h>
#include <poll.h>

#include "base/clock.h"
#include "base/procfile.h"
#include "base/util.h"
#include "source/audit_report.h"

#define ANSWER_MS 1000

int audit_control_open(void)
{
	int fd = audit_open();

	if (fd >= 0)
		return fd;
	/* libaudit counts these three as "no audit" too */
	return errno == EINVAL || errno == EAFNOSUPPORT ? -EPROTONOSUPPORT : -errno;
}

/* libaudit returns -1 with errno, or -errno, or what the kernel said, by the call. */
static int error_of(int r)
{
	return r == -1 && errno ? -errno : r;
}

/* The next message of the kernel on this socket; acknowledgements without an error are gone over. */
static int next_reply(int fd, struct audit_reply *reply, int64_t until)
{
	for (;;) {
		int64_t left = (until - mono_now()) / NS_PER_MSEC;
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int r;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return -ETIME;
		r = audit_get_reply(fd, reply, GET_REPLY_NONBLOCKING, 0);
		if (r == -EAGAIN || r == -EINTR || r == 0)
			continue;
		if (r < 0)
			return r;
		if (reply->type != NLMSG_ERROR)
			return 0;
		if (reply->error->error)
			return reply->error->error;
	}
}

/* Older kernels send less of the struct. */
static void take_status(struct audit_facts *facts, const struct audit_reply *reply)
{
	struct audit_status s = { 0 };

	memcpy(&s, NLMSG_DATA(reply->nlh), MIN(sizeof(s), (size_t)NLMSG_PAYLOAD(reply->nlh, 0)));
	facts->enabled = s.enabled;
	facts->failure = s.failure;
	facts->pid = s.pid;
	facts->rate_limit = s.rate_limit;
	facts->lost = s.lost;
	facts->backlog = s.backlog;
	facts->backlog_limit = s.backlog_limit;
	facts->backlog_wait_time = s.backlog_wait_time;
}

static void name_owner(struct audit_facts *facts)
{
	char path[32], name[64];

	facts->owner[0] = '\0';
	if (!facts->pid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", facts->pid);
	if (procfile_line(path, name, sizeof(name)) > 0)
		snprintf(facts->owner, sizeof(facts->owner), "%.15s", name);
}

int audit_control_status(int fd, struct audit_facts *facts)
{
	int64_t until = mono_now() + ANSWER_MS * NS_PER_MSEC;
	struct audit_reply reply;
	int r = audit_request_status(fd);

	if (r <= 0)
		return r ? error_of(r) : -EPERM; /* 0: libaudit makes that of EPERM */
	do {
		r = next_reply(fd, &reply, until);
		if (r < 0)
			return r;
	} while (reply.type != AUDIT_GET);
	take_status(facts, &reply);
	name_owner(facts);
	return 0;
}

int audit_control_rules(int fd, audit_rule_fn fn, void *userdata)
{
	int64_t until = mono_now() + ANSWER_MS * NS_PER_MSEC;
	struct audit_reply reply;
	int r = audit_request_rules_list_data(fd);

	if (r <= 0)
		return r ? error_of(r) : -EPERM;
	for (;;) {
		size_t len;

		r = next_reply(fd, &reply, until);
		if (r < 0 || reply.type == NLMSG_DONE)
			return r;
		if (reply.type != AUDIT_LIST_RULES)
			continue;
		len = NLMSG_PAYLOAD(reply.nlh, 0);
		if (len < sizeof(*reply.ruledata) ||
		    reply.ruledata->buflen > len - sizeof(*reply.ruledata))
			return -EBADMSG;
		r = fn(reply.ruledata, len, userdata);
		if (r < 0)
			return r;
		until = mono_now() + ANSWER_MS * NS_PER_MSEC;
	}
}

static int add_rule(const struct audit_rule_data *rule, size_t len, void *userdata)
{
	(void)len;
	audit_report_add_rule(userdata, rule);
	return 0;
}

int audit_control_rule_facts(int fd, struct audit_facts *facts)
{
	int r;

	facts->rules = facts->own_rules = 0;
	facts->never_task = facts->exit_rule = facts->exit_all = false;
	r = audit_control_rules(fd, add_rule, facts);
	facts->rules_known = r >= 0;
	return r;
}
