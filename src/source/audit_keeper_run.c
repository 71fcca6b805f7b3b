/* SPDX-License-Identifier: MIT */
/* The keeper's own life: one question after another, and everything put back at the end. See audit_keeper.h. */
#include "source/audit_keeper_internal.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <libaudit.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/procfile.h"
#include "base/util.h"
#include "source/audit_control.h"
#include "source/audit_keeper.h"

#define BACKLOG_LIMIT 8192
#define SOCKET_FD 3
#define RELEASE_TRIES 100
#define RELEASE_PAUSE_MS 10

struct keeper {
	int control; /* or negative errno */
	uint32_t parent;
	bool owns;
	struct kept_rules rules;
	struct audit_facts before, ours; /* settings as found, and as we made them */
};

static void close_from(unsigned int first)
{
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
	for (long fd = first, most = MIN(sysconf(_SC_OPEN_MAX), 65536L); fd < most; fd++)
		close((int)fd);
}

/* Nothing of the main process may be held open here: its sockets, its output. */
static int leave_alone(int fd)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return -1;
	if (fd != SOCKET_FD && dup2(fd, SOCKET_FD) < 0)
		return -1;
	for (int i = 0; i < SOCKET_FD; i++)
		if (null != i && dup2(null, i) < 0)
			return -1;
	close_from(SOCKET_FD + 1);
	return 0;
}

/* A capability of the initial namespaces, or none; and what ends the main process shall not end this one. */
static void become_small(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "exeunt-audit");
	capng_clear(CAPNG_SELECT_BOTH);
	if (!capng_get_caps_process()) {
		bool able = capng_have_capability(CAPNG_PERMITTED, CAP_AUDIT_CONTROL);

		capng_clear(CAPNG_SELECT_BOTH);
		if (able)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
				     CAP_AUDIT_CONTROL);
		if (capng_apply(CAPNG_SELECT_BOTH))
			capng_apply(CAPNG_SELECT_CAPS); /* without CAP_SETPCAP */
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void read_boot(struct audit_facts *facts)
{
	char line[4096];

	if (procfile_line("/proc/cmdline", line, sizeof(line)) >= 0)
		audit_report_boot(facts, line);
}

/* Only one who would own audit changes anything, and only where it is needed. Locked settings stay as they are. */
static void make_ours(struct keeper *k, const struct audit_facts *now)
{
	k->before = k->ours = *now;
	k->owns = true;
	if (now->backlog_wait_time && audit_set_backlog_wait_time(k->control, 0) > 0)
		k->ours.backlog_wait_time = 0;
	if (now->backlog_limit && now->backlog_limit < BACKLOG_LIMIT &&
	    audit_set_backlog_limit(k->control, BACKLOG_LIMIT) > 0)
		k->ours.backlog_limit = BACKLOG_LIMIT;
	if (!now->enabled && audit_set_enabled(k->control, 1) > 0)
		k->ours.enabled = 1;
}

/*
 * Whoever unregisters an owner that lives is refused with EACCES; one whose socket is gone the kernel finds by itself
 * when it tries to reach it. The main process closes its socket before it asks, but when it is killed that may take
 * a moment.
 */
static void release_pid(struct keeper *k)
{
	struct audit_facts now;

	for (int i = 0; i < RELEASE_TRIES; i++) {
		if (audit_control_status(k->control, &now) < 0 || now.pid != k->parent)
			return;
		if (audit_set_pid(k->control, 0, WAIT_NO) > 0)
			return;
		poll(NULL, 0, RELEASE_PAUSE_MS);
	}
}

/* What somebody else has changed since is not ours any more. */
static void put_back(struct keeper *k)
{
	struct audit_facts now;

	if (!k->owns)
		return;
	k->owns = false;
	release_pid(k);
	if (audit_control_status(k->control, &now) < 0)
		return;
	if (k->ours.enabled != k->before.enabled && now.enabled == k->ours.enabled && !now.pid)
		audit_set_enabled(k->control, k->before.enabled);
	if (k->ours.backlog_limit != k->before.backlog_limit &&
	    now.backlog_limit == k->ours.backlog_limit)
		audit_set_backlog_limit(k->control, k->before.backlog_limit);
	if (k->ours.backlog_wait_time != k->before.backlog_wait_time &&
	    now.backlog_wait_time == k->ours.backlog_wait_time)
		audit_set_backlog_wait_time(k->control, k->before.backlog_wait_time);
}

static void answer(struct keeper *k, unsigned char what, struct audit_facts *facts)
{
	facts->error = facts->kept_error = 0;
	facts->rules_known = false;
	if (k->control < 0) {
		facts->error = k->control;
		return;
	}
	if (what == AUDIT_ASK_RELEASE)
		put_back(k);
	facts->error = audit_control_status(k->control, facts);
	if (facts->error)
		return;
	if (what == AUDIT_ASK_OWN && !facts->pid && !k->owns) {
		make_ours(k, facts);
		facts->error = audit_control_status(k->control, facts);
	}
	if (what == AUDIT_ASK_LOAD)
		kept_rules_load(&k->rules, k->control, facts);
	if (what == AUDIT_ASK_RULES || what == AUDIT_ASK_LOAD)
		kept_rules_facts(&k->rules, k->control, facts);
}

_Noreturn void keeper_run(int fd, const struct audit_ruleset *sets, size_t n)
{
	struct keeper k = { .parent = (uint32_t)getppid() };
	struct audit_facts facts = { 0 };
	unsigned char what;

	if (leave_alone(fd) < 0 || kept_rules_init(&k.rules, sets, n) < 0)
		_exit(1);
	set_aumessage_mode(MSG_QUIET, DBG_NO);
	k.control = audit_control_open();
	become_small();
	read_boot(&facts);
	while (recv(SOCKET_FD, &what, 1, 0) == 1) {
		answer(&k, what, &facts);
		if (send(SOCKET_FD, &facts, sizeof(facts), MSG_NOSIGNAL) < 0)
			break;
	}
	kept_rules_unload(&k.rules, k.control);
	put_back(&k);
	_exit(0);
}
