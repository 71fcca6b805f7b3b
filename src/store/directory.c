/* SPDX-License-Identifier: MIT */
/* See directory.h. */
#include "store/directory.h"

#include <dirent.h>
#include <time.h>

#include "base/util.h"

static const char prefix[] = "exeunt-";

int64_t store_first_id(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(name);
	int64_t id;
	char *end;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || len < 4 ||
	    strcmp(name + len - 3, ".db") != 0)
		return -EINVAL;
	errno = 0;
	id = strtoll(name + sizeof(prefix) - 1, &end, 10);
	return errno || *end != '-' || id <= 0 ? -EINVAL : id;
}

static int is_segment(const struct dirent *e)
{
	return store_first_id(e->d_name) > 0;
}

static int by_first_id(const struct dirent **a, const struct dirent **b)
{
	int64_t x = store_first_id((*a)->d_name), y = store_first_id((*b)->d_name);

	return x != y ? (x < y ? -1 : 1) : strcmp((*a)->d_name, (*b)->d_name);
}

int store_list(struct store_names *ret, const char *dir)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_segment, by_first_id), r = 0;

	if (n < 0)
		return -errno;
	*ret = (struct store_names){ .paths = calloc((size_t)n + 1, sizeof(char *)) };
	for (int i = 0; i < n; i++) {
		if (ret->paths &&
		    asprintf(&ret->paths[ret->n], "%s/%s", dir, entries[i]->d_name) >= 0)
			ret->n++;
		else
			r = -ENOMEM;
		free(entries[i]);
	}
	free(entries);
	if (r < 0 || !ret->paths) {
		store_names_done(ret);
		return -ENOMEM;
	}
	return 0;
}

void store_names_done(struct store_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->paths[i]);
	free(names->paths);
	*names = (struct store_names){ 0 };
}

int store_segment_path(char buf[STORE_PATH_SIZE], const char *dir, int64_t first_id, int64_t now_ns)
{
	time_t seconds = (time_t)(now_ns / NS_PER_SEC);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	if ((size_t)snprintf(buf, STORE_PATH_SIZE, "%s/%s%012lld-%s.db", dir, prefix,
			     (long long)first_id, when) >= STORE_PATH_SIZE - sizeof("-wal.damaged"))
		return -ENAMETOOLONG;
	return 0;
}
