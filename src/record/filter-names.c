/* SPDX-License-Identifier: MIT */
/*
 * Names of accounts in a filter, as numbers. Where nobody may be waited for, they are read from the files of the host
 * itself, few of them, as a directory service may take seconds to answer.
 */
#include "record/filter-internal.h"

#include <grp.h>
#include <pwd.h>

#define PROMPT_NAMES_MAX 16

/* False: this one is one too many. */
static bool may_look_up(struct filter_parser *p)
{
	return p->looked_up++ < PROMPT_NAMES_MAX;
}

static const struct passwd *user_of_host(const char *name)
{
	_cleanup_file_
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f)) && strcmp(pw->pw_name, name) != 0)
		;
	return pw;
}

static const struct group *group_of_host(const char *name)
{
	_cleanup_file_
	FILE *f = fopen("/etc/group", "re");
	const struct group *gr = NULL;

	while (f && (gr = fgetgrent(f)) && strcmp(gr->gr_name, name) != 0)
		;
	return gr;
}

bool filter_user_id(struct filter_parser *p, const char *name, uint32_t *ret)
{
	const struct passwd *pw;

	if (p->prompt && !may_look_up(p))
		return false;
	pw = p->prompt ? user_of_host(name) : getpwnam(name);
	if (pw)
		*ret = pw->pw_uid;
	return pw != NULL;
}

bool filter_group_id(struct filter_parser *p, const char *name, uint32_t *ret)
{
	const struct group *gr;

	if (p->prompt && !may_look_up(p))
		return false;
	gr = p->prompt ? group_of_host(name) : getgrnam(name);
	if (gr)
		*ret = gr->gr_gid;
	return gr != NULL;
}
