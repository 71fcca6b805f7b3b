/* SPDX-License-Identifier: MIT */
/* See privileges.h. */
#include "base/privileges.h"

#include <cap-ng.h>
#include <pwd.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/util.h"

static int find_user(const char *user, uid_t *uid, gid_t *gid)
{
	struct passwd *pw = getpwnam(user);
	char *end;
	unsigned long number;

	if (!pw) {
		number = strtoul(user, &end, 10);
		if (*end || end == user || *user == '-' || number > UINT32_MAX - 1)
			return -ENOENT;
		pw = getpwuid((uid_t)number);
		if (!pw)
			return -ENOENT;
	}
	*uid = pw->pw_uid;
	*gid = pw->pw_gid;
	return 0;
}

static void select_kept(uint64_t keep)
{
	capng_clear(CAPNG_SELECT_BOTH);
	for (unsigned int cap = 0; cap < 64; cap++)
		if (keep >> cap & 1)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, cap);
}

static int change_user(uid_t uid, gid_t gid, uint64_t keep)
{
	select_kept(keep);
	return capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING)
		       ? -EPERM
		       : 0;
}

/* The bounding set can only be cleared with CAP_SETPCAP; without it nobody here can raise anything from it either. */
static int drop_capabilities(uint64_t keep)
{
	select_kept(keep);
	if (!capng_apply(CAPNG_SELECT_BOTH))
		return 0;
	select_kept(keep);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

/* Exactly what was to be kept, of what there was. */
static bool only_kept(uint64_t keep)
{
	if (capng_get_caps_process())
		return false;
	for (unsigned int cap = 0; cap <= (unsigned int)CAP_LAST_CAP; cap++)
		if (!(keep >> cap & 1) && (capng_have_capability(CAPNG_EFFECTIVE, cap) ||
					   capng_have_capability(CAPNG_PERMITTED, cap)))
			return false;
	return true;
}

/* One that is not there cannot be kept, and asking for it would fail. */
static uint64_t available(uint64_t keep)
{
	uint64_t have = 0;

	if (capng_get_caps_process())
		return 0;
	for (unsigned int cap = 0; cap < 64; cap++)
		if ((keep >> cap & 1) && capng_have_capability(CAPNG_PERMITTED, cap))
			have |= UINT64_C(1) << cap;
	return have;
}

int privileges_drop(const char *user, uint64_t keep, char *error, size_t error_size)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	int r;

	if (user && find_user(user, &uid, &gid) < 0) {
		snprintf(error, error_size, "there is no user '%s'", user);
		return -ENOENT;
	}
	keep = available(keep);
	r = user && uid != getuid() ? change_user(uid, gid, keep) : drop_capabilities(keep);
	if (r >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		r = -EPERM;
	if (r >= 0 && (getuid() != uid || geteuid() != uid || getgid() != gid || getegid() != gid))
		r = -EPERM;
	if (r >= 0 && !only_kept(keep))
		r = -EPERM;
	if (r < 0)
		snprintf(error, error_size, "privileges could not be dropped%s%s",
			 user ? " to user " : "", user ? user : "");
	return r;
}

void privileges_run_promptly(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		setpriority(PRIO_PROCESS, 0, -10);
}
