/* SPDX-License-Identifier: MIT */
/* See parent.h. */
#include "base/parent.h"

#include <sys/stat.h>

#include "base/util.h"

int parent_make(const char *path)
{
	char dir[4096];
	char *slash;

	if ((size_t)snprintf(dir, sizeof(dir), "%s", path) >= sizeof(dir))
		return -ENAMETOOLONG;
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	return mkdir(dir, 0755) && errno != EEXIST ? -errno : 0;
}
