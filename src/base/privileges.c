/* SPDX-License-Identifier: MIT */
/* See privileges.h. */
#include "base/privileges.h"

#include <cap-ng.h>
#include <pwd.h>
#include <sys/prctl.h>

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

static int change_user(uid_t uid, gid_t gid)
{
	capng_clear(CAPNG_SELECT_BOTH);
	return capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING)
		       ? -EPERM
		       : 0;
}

/* The bounding set can only be cleared with CAP_SETPCAP; without it nobody here can raise anything from it either. */
static int drop_capabilities(void)
{
	capng_clear(CAPNG_SELECT_BOTH);
	if (!capng_apply(CAPNG_SELECT_BOTH))
		return 0;
	capng_clear(CAPNG_SELECT_CAPS);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

int privileges_drop(const char *user, char *error, size_t error_size)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	int r;

	if (user && find_user(user, &uid, &gid) < 0) {
		snprintf(error, error_size, "there is no user '%s'", user);
		return -ENOENT;
	}
	r = user && uid != getuid() ? change_user(uid, gid) : drop_capabilities();
	if (r >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		r = -EPERM;
	if (r >= 0 && (getuid() != uid || geteuid() != uid || getgid() != gid || getegid() != gid))
		r = -EPERM;
	if (r >= 0 &&
	    (capng_get_caps_process() || capng_have_capabilities(CAPNG_SELECT_CAPS) != CAPNG_NONE))
		r = -EPERM;
	if (r < 0)
		snprintf(error, error_size, "privileges could not be dropped%s%s",
			 user ? " to user " : "", user ? user : "");
	return r;
}
