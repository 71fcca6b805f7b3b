/* SPDX-License-Identifier: MIT */
/* See outfile.h. */
#include "sink/outfile.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/util.h"

/* A run that was killed may have left half a line, which the next one shall not become a part of. */
static void end_half_line(int fd, const char *path)
{
	_cleanup_fd_
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char last;

	if (reader < 0 || fstat(reader, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	/* a full disk is no reason not to begin: what cannot be written yet is tried again, but not this */
	if (pread(reader, &last, 1, st.st_size - 1) == 1 && last != '\n' && write(fd, "\n", 1) < 0)
		return;
}

int outfile_open(const char *path, enum outfile_how how)
{
	int flags = how == OUTFILE_REPLACE ? O_TRUNC : O_APPEND, fd;
	struct stat st;

	if (how == OUTFILE_ADD && !stat(path, &st) && S_ISFIFO(st.st_mode)) {
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (how == OUTFILE_ADD)
		flags |= O_NONBLOCK; /* a line without a carrier would be waited for */
	fd = open(path, O_WRONLY | O_CREAT | flags | O_CLOEXEC | O_NOCTTY, 0640);
	if (fd < 0)
		return -errno;
	if (how == OUTFILE_ADD)
		end_half_line(fd, path);
	return fd;
}
