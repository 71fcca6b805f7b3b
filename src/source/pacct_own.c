/* SPDX-License-Identifier: MIT */
/*
 * See pacct_own.h. The directory holds pacct-a, pacct-b, the lock, and found: the path to put back
 * after a crash.
 */
#include "source/pacct_own.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/util.h"

int pacct_own_possible(void)
{
	/*
	 * No file has this name: the answer is ENOENT where accounting could be switched on, and
	 * nothing changes.
	 */
	if (!acct("") || errno == ENOENT)
		return 0;
	return errno == ENOSYS ? -ENOSYS : errno == EPERM ? -EPERM : 0;
}

static int make_files(struct pacct_own *o)
{
	char lock[PATH_MAX];

	if (mkdir(o->dir, 0755) && errno != EEXIST)
		return -errno;
	snprintf(lock, sizeof(lock), "%s/lock", o->dir);
	o->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (o->lock_fd < 0)
		return -errno;
	if (flock(o->lock_fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	for (int i = 0; i < 2; i++) {
		int fd = open(o->paths[i], O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return -errno;
		close_fd(fd);
	}
	return 0;
}

/*
 * The file last written to is the one that the kernel was left writing to, or the one to go on
 * with.
 */
static int last_written(const struct pacct_own *o)
{
	struct stat a, b;

	if (stat(o->paths[0], &a) || stat(o->paths[1], &b) || !b.st_size)
		return 0;
	if (!a.st_size || b.st_mtim.tv_sec != a.st_mtim.tv_sec)
		return !a.st_size || b.st_mtim.tv_sec > a.st_mtim.tv_sec;
	return b.st_mtim.tv_nsec > a.st_mtim.tv_nsec;
}

int pacct_own_new(struct pacct_own **ret, const char *dir, uint64_t bound)
{
	struct pacct_own *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->lock_fd = -1;
	o->bound = bound ? bound : PACCT_OWN_BOUND;
	if ((size_t)snprintf(o->dir, sizeof(o->dir), "%s", dir ? dir : PACCT_OWN_DIR) >=
	    sizeof(o->dir)) {
		free(o);
		return -ENAMETOOLONG;
	}
	for (int i = 0; i < 2; i++)
		snprintf(o->paths[i], sizeof(o->paths[i]), "%s/" PACCT_OWN_PREFIX "%c", o->dir,
			 'a' + i);
	r = make_files(o);
	if (r < 0) {
		pacct_own_free(o);
		return r;
	}
	o->active = last_written(o);
	*ret = o;
	return 0;
}

void pacct_own_free(struct pacct_own *o)
{
	if (!o)
		return;
	close_fd(o->lock_fd);
	free(o);
}

int pacct_own_index(const struct pacct_own *o, const char *path)
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(path, o->paths[i]))
			return i;
	return -1;
}

static void found_path(const struct pacct_own *o, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/found", o->dir);
}

static void remember_found(const struct pacct_own *o)
{
	char path[PATH_MAX];
	FILE *f;

	found_path(o, path);
	if (!o->found[0]) {
		unlink(path);
		return;
	}
	f = fopen(path, "we");
	if (!f)
		return;
	fputs(o->found, f);
	fclose(f);
}

static void recall_found(struct pacct_own *o)
{
	char path[PATH_MAX];
	size_t n;
	FILE *f;

	found_path(o, path);
	f = fopen(path, "re");
	if (!f)
		return;
	n = fread(o->found, 1, sizeof(o->found) - 1, f);
	o->found[n] = '\0';
	fclose(f);
}

int pacct_own_on(struct pacct_own *o, const char *found)
{
	/* First the note, then the deed: a crash in between costs nothing. */
	snprintf(o->found, sizeof(o->found), "%s", found ? found : "");
	remember_found(o);
	if (acct(o->paths[o->active]))
		return -errno;
	o->on = true;
	return 0;
}

void pacct_own_adopt(struct pacct_own *o, int index)
{
	o->active = index;
	o->on = true;
	recall_found(o);
}

bool pacct_own_is_full(const struct pacct_own *o, uint64_t size)
{
	if (!o->on || size < MAX(o->bound, o->try_at))
		return false;
	/* Where nobody saves a position, waiting for that must not cost the bound. */
	return o->spare_is_free || size >= 2 * o->bound;
}

int pacct_own_switch(struct pacct_own *o)
{
	int spare = !o->active;
	struct stat st;

	if (truncate(o->paths[spare], 0) || acct(o->paths[spare])) {
		int error = -errno;

		o->try_at =
			stat(o->paths[o->active], &st) ? 2 * o->try_at : 2 * (uint64_t)st.st_size;
		return error;
	}
	o->active = spare;
	o->spare_is_free = false;
	o->try_at = 0;
	return 0;
}

void pacct_own_empty_spare(struct pacct_own *o)
{
	struct stat st;

	if (!stat(o->paths[!o->active], &st) && (!st.st_size || !truncate(o->paths[!o->active], 0)))
		o->spare_is_free = true;
}

int pacct_own_off(struct pacct_own *o)
{
	int error = 0;

	if (o->found[0] && acct(o->found))
		error = -errno;
	if ((!o->found[0] || error) && acct(NULL))
		return -errno;
	o->on = false;
	o->found[0] = '\0';
	remember_found(o);
	return error;
}

void pacct_own_empty(struct pacct_own *o)
{
	for (int i = 0; i < 2; i++)
		if (truncate(o->paths[i], 0))
			break;
}
