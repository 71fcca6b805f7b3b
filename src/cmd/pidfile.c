/* SPDX-License-Identifier: MIT */
/*
 * See pidfile.h. A lock of the open file description: what we start before exec may inherit it, and so has O_CLOEXEC. Whoever can
 * read the file could take the lock as well, and keep us from starting: it is for its owner only.
 */
#include "cmd/pidfile.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/parent.h"
#include "cmd/cmd.h"

/* 0, or -errno. */
static int tell_owner(int fd, const char *path)
{
	char text[32] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
	cmd_error(
		"'%s' is locked: exeunt runs already%s%s. Stop that one, or give another --pid-file",
		path, *text ? ", as process " : "", text);
	close_fd(fd);
	return -EEXIST;
}

int pidfile_open(const char *path)
{
	struct stat st;
	char text[32];
	int fd, len, made;

	made = parent_make(path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0) {
		fd = errno == ENOENT && made < 0 ? made : -errno;
		cmd_error("cannot open '%s' for writing: %s", path, strerror(-fd));
		return fd;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		cmd_error("'%s' is no regular file; give another --pid-file", path);
		close_fd(fd);
		return -EINVAL;
	}
	if (flock(fd, LOCK_EX | LOCK_NB))
		return tell_owner(fd, path);
	len = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	/* a full disk is no reason not to run: the lock is what counts */
	if (fchmod(fd, 0600) || ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len)
		cmd_error("writing to '%s' failed: %s", path, strerror(errno));
	return fd;
}

void pidfile_close(int fd)
{
	if (fd >= 0 && ftruncate(fd, 0))
		cmd_error("emptying the pid file failed: %s", strerror(errno));
	close_fd(fd);
}
