/* SPDX-License-Identifier: MIT */
/* See cursor.h. */
#include "store/cursor.h"

#include <fcntl.h>

#include "base/util.h"
#include "store/directory.h"

#define NAME_MOST 64

bool store_cursor_is_name(const char *name)
{
	size_t len =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	return len && len <= NAME_MOST && !name[len] && *name != '.';
}

static int path_of(char buf[STORE_PATH_SIZE], const char *dir, const char *name, const char *behind)
{
	return (size_t)snprintf(buf, STORE_PATH_SIZE, "%s/cursor-%s%s", dir, name, behind) <
			       STORE_PATH_SIZE
		       ? 0
		       : -ENAMETOOLONG;
}

int store_cursor_read(const char *dir, const char *name, int64_t *ret_id)
{
	char path[STORE_PATH_SIZE], text[32], *end;
	int r = path_of(path, dir, name, "");
	_cleanup_fd_
	int fd = r < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	*ret_id = 0;
	if (r < 0)
		return r;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	errno = 0;
	*ret_id = strtoll(text, &end, 10);
	return errno || end == text || *end != '\n' || *ret_id < 0 ? -EBADMSG : 0;
}

static int write_file(const char *path, int64_t id)
{
	_cleanup_fd_
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	char text[32];
	int len = snprintf(text, sizeof(text), "%lld\n", (long long)id);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, (size_t)len);
	if (n != len)
		return n < 0 ? -errno : -ENOSPC;
	return fsync(fd) ? -errno : 0;
}

int store_cursor_write(const char *dir, const char *name, int64_t id)
{
	char path[STORE_PATH_SIZE], begun[STORE_PATH_SIZE];
	int r = path_of(path, dir, name, "");

	if (r >= 0)
		r = path_of(begun, dir, name, ".new");
	if (r >= 0)
		r = write_file(begun, id);
	if (r >= 0 && rename(begun, path))
		r = -errno;
	return r;
}
