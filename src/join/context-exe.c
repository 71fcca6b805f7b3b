/* SPDX-License-Identifier: MIT */
/* Paths of inodes; see context-exe.h. */
#include "join/context-exe.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/util.h"

#define SETS 64
#define WAYS 4
/* Paths are looked at again so often: a file may have been replaced. */
#define TRIES 256
#define TRY_AGAIN_NS (5 * NS_PER_SEC)
/* Times of files are those of the last tick, and estimates of a start are not exact. */
#define CHANGE_NS (20 * NS_PER_MSEC)

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif
#ifndef EROFS_SUPER_MAGIC_V1
#define EROFS_SUPER_MAGIC_V1 0xE0F5E1E2
#endif

struct pair {
	struct pool_item *path; /* NULL: free */
	struct exe_file file;
	uint32_t used;
	bool confirmed;
};

struct
try {
	uint64_t hash;
	int64_t until_ns;
};

struct exe_cache {
	struct pair pairs[SETS][WAYS];
	struct try tries[TRIES];
	uint32_t clock; /* counts uses */
};

/* The last name is not followed either: the path is to be the file's own. */
static int open_cached(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_CACHED | RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

int exe_cache_new(struct exe_cache **ret)
{
	_cleanup_fd_
	int fd = open_cached("/");

	*ret = NULL;
	if (fd < 0 && errno != EAGAIN)
		return -ENOSYS;
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void exe_cache_free(struct exe_cache *x, struct pool *pool)
{
	if (!x)
		return;
	for (size_t i = 0; i < SETS * WAYS; i++)
		pool_unref(pool, x->pairs[i / WAYS][i % WAYS].path);
	free(x);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t hash_path(const char *path, size_t len)
{
	uint64_t h = len, tail = 0;

	for (; len >= 8; path += 8, len -= 8)
		h = mix(h, load_u64(path));
	memcpy(&tail, path, len);
	return mix(h, tail);
}

bool exe_cache_is_due(struct exe_cache *x, const char *path, size_t len, int64_t now_ns)
{
	uint64_t hash = hash_path(path, len);
	struct try *t = &x->tries[hash % TRIES];

	if (t->hash == hash && now_ns < t->until_ns)
		return false;
	*t = (struct try){ hash, now_ns + TRY_AGAIN_NS };
	return true;
}

/* Only a file of one name is told by its inode. Sets inode 0 for others. */
static struct exe_file file_of(const struct statx *st)
{
	struct exe_file none = { 0 };

	if (!S_ISREG(st->stx_mode) || st->stx_nlink != 1)
		return none;
	return (struct exe_file){ makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino };
}

static bool look(int fd, const char *name, int flags, struct statx *ret)
{
	const unsigned int want = STATX_BASIC_STATS;

	return !statx(fd, name, flags | AT_STATX_DONT_SYNC, want, ret) &&
	       (ret->stx_mask & want) == want;
}

/* An inode is one file there: no snapshots, no subvolumes. */
static bool is_plain(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	switch ((uint32_t)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case F2FS_SUPER_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case SQUASHFS_MAGIC:
	case EROFS_SUPER_MAGIC_V1:
		return true;
	default:
		return false;
	}
}

struct exe_file exe_cache_look(int pid_fd, char *path)
{
	struct statx own, here;
	struct exe_file none = { 0 }, file;
	_cleanup_fd_
	int fd = -1;

	if (!look(pid_fd, "exe", 0, &own))
		return none;
	file = file_of(&own);
	if (!file.inode)
		return none;
	fd = open_cached(path);
	if (fd < 0 || !look(fd, "", AT_EMPTY_PATH, &here) || here.stx_ino != own.stx_ino ||
	    here.stx_dev_major != own.stx_dev_major || here.stx_dev_minor != own.stx_dev_minor ||
	    !is_plain(fd))
		return none;
	return file;
}

static struct pair *set_of(struct exe_cache *x, struct exe_file file)
{
	return x->pairs[mix(file.dev, file.inode) % SETS];
}

static struct pair *find(struct exe_cache *x, struct exe_file file)
{
	struct pair *set = set_of(x, file);

	for (int way = 0; way < WAYS; way++)
		if (set[way].path && set[way].file.inode == file.inode &&
		    set[way].file.dev == file.dev)
			return &set[way];
	return NULL;
}

void exe_cache_learn(struct exe_cache *x, struct pool *pool, struct pool_item *path,
		     struct exe_file file)
{
	struct pair *p = find(x, file), *set = set_of(x, file);

	if (p && p->path == path)
		return;
	for (int way = 0; !p && way < WAYS; way++)
		if (!set[way].path)
			p = &set[way];
	if (!p) {
		p = &set[0];
		for (int way = 1; way < WAYS; way++)
			if (set[way].used < p->used)
				p = &set[way];
	}
	pool_unref(pool, p->path);
	*p = (struct pair){ .path = pool_ref(path), .file = file, .used = ++x->clock };
}

void exe_cache_confirm(struct exe_cache *x, const struct pool_item *path, struct exe_file file)
{
	struct pair *p = find(x, file);

	if (p && p->path == path)
		p->confirmed = true;
}

const struct pool_item *exe_cache_find(struct exe_cache *x, struct exe_file file, int64_t start_ns)
{
	struct pair *p = find(x, file);
	struct exe_file now;
	struct statx st;
	char path[PATH_MAX];
	_cleanup_fd_
	int fd = -1;

	if (!p || !p->confirmed || p->path->len >= sizeof(path))
		return NULL;
	p->used = ++x->clock;
	memcpy(path, p->path->parts[0].data, p->path->len);
	path[p->path->len] = '\0';
	fd = open_cached(path);
	if (fd < 0 || !look(fd, "", AT_EMPTY_PATH, &st))
		return NULL;
	now = file_of(&st);
	if (now.inode != file.inode || now.dev != file.dev ||
	    st.stx_ctime.tv_sec * NS_PER_SEC + st.stx_ctime.tv_nsec + CHANGE_NS > start_ns)
		return NULL;
	return p->path;
}
