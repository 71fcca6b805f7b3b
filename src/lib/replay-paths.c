/* SPDX-License-Identifier: MIT */
/* What a user names, as files: a directory is a store, and stands for its segments in their order. See replay.h. */
#include "lib/replay.h"

#include <sys/stat.h>

#include "base/util.h"

static int add(struct store_names *to, const char *path)
{
	char **grown = realloc(to->paths, (to->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	to->paths = grown;
	to->paths[to->n] = strdup(path);
	if (!to->paths[to->n])
		return -ENOMEM;
	to->n++;
	return 0;
}

static int add_store(struct exeunt *x, struct store_names *to, const char *dir)
{
	struct store_names segments;
	int r = store_list(&segments, dir);

	if (r < 0) {
		engine_message(x, 3, "cannot read the directory '%s': %s", dir, strerror(-r));
		return r;
	}
	if (!segments.n) {
		engine_message(x, 3, "the directory '%s' is no store: it has no file exeunt-*.db",
			       dir);
		r = -EBADMSG;
	}
	for (size_t i = 0; i < segments.n && r >= 0; i++)
		r = add(to, segments.paths[i]);
	store_names_done(&segments);
	return r;
}

int replay_paths(struct exeunt *x, struct store_names *ret, const char *const *paths, size_t n)
{
	int failed = 0;

	*ret = (struct store_names){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct stat st;
		int r = !stat(paths[i], &st) && S_ISDIR(st.st_mode) ? add_store(x, ret, paths[i])
								    : add(ret, paths[i]);

		if (r == -ENOMEM) {
			store_names_done(ret);
			return r;
		}
		failed = failed ? failed : r;
	}
	return failed;
}
