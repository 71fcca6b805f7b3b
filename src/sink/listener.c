/* SPDX-License-Identifier: MIT */
/* See listener.h. */
#include "sink/listener.h"

#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/parent.h"

#define BACKLOG 64

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

/*
 * The kernel makes the file with the mode that the socket has, and the group that the thread has for files: no chmod() or
 * chown() by a name that may stand for something else by then.
 */
static int bind_as(int fd, const struct sockaddr_un *address, mode_t mode, gid_t group)
{
	gid_t old_group = (gid_t)-1;
	mode_t old_mask;
	int r;

	if (fchmod(fd, mode))
		return -errno;
	old_mask = umask(0);
	if (group != (gid_t)-1)
		old_group = (gid_t)setfsgid(group);
	r = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : 0;
	if (group != (gid_t)-1)
		setfsgid(old_group);
	umask(old_mask);
	return r;
}

/* What is at the path already: 0 when a dead process left it and it is gone now; else -errno and a sentence. */
static int clear_place(const struct sockaddr_un *address, char *error, size_t size)
{
	const char *path = address->sun_path;
	struct stat before, after;
	int r = 0, fd;

	if (lstat(path, &before))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(before.st_mode)) {
		snprintf(error, size, "'%s' is there already and is no socket; it is left alone",
			 path);
		return -EEXIST;
	}
	fd = new_socket();
	if (fd < 0)
		return fd;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) || errno == EAGAIN)
		r = -EADDRINUSE;
	else if (errno != ECONNREFUSED)
		r = errno == EPROTOTYPE ? -EADDRINUSE : -errno;
	close_fd(fd);
	if (r == -EADDRINUSE)
		snprintf(
			error, size,
			"'%s' is in use: a running process answers there. Stop it, or take another path",
			path);
	if (r < 0)
		return r;
	if (lstat(path, &after) || after.st_ino != before.st_ino || after.st_dev != before.st_dev)
		return -EADDRINUSE;
	return unlink(path) ? -errno : 0;
}

static int take_place(int fd, const struct sockaddr_un *address, mode_t mode, gid_t group,
		      char *error, size_t size)
{
	int r = bind_as(fd, address, mode, group);

	if (r != -EADDRINUSE)
		return r;
	r = clear_place(address, error, size);
	return r < 0 ? r : bind_as(fd, address, mode, group);
}

int listener_open(struct listener *ret, const char *path, mode_t mode, gid_t group, char *error,
		  size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct listener l = LISTENER_CLOSED;
	struct stat st;
	int r;

	*error = '\0';
	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(error, size, "'%s' is too long for a socket: %zu bytes are the most", path,
			 sizeof(address.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	memcpy(l.path, path, strlen(path) + 1);
	parent_make(path);
	l.fd = new_socket();
	r = l.fd < 0 ? l.fd : take_place(l.fd, &address, mode, group, error, size);
	if (r >= 0 && (listen(l.fd, BACKLOG) || lstat(path, &st)))
		r = -errno;
	if (r < 0) {
		close_fd(l.fd);
		if (!*error)
			snprintf(error, size, "cannot make the socket '%s': %s", path,
				 strerror(-r));
		return r;
	}
	l.dev = st.st_dev;
	l.ino = st.st_ino;
	*ret = l;
	return 0;
}

void listener_close(struct listener *l)
{
	struct stat st;

	if (l->fd < 0)
		return;
	if (!lstat(l->path, &st) && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	l->fd = close_fd(l->fd);
}

int listener_accept(const struct listener *l)
{
	int fd;

	do
		fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	return fd < 0 ? -errno : fd;
}
