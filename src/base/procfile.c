/* SPDX-License-Identifier: MIT */
/* See procfile.h. */
#include "base/procfile.h"

#include <fcntl.h>

#include "base/util.h"

int procfile_line(const char *path, char *buf, size_t size)
{
	_cleanup_fd_
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return (int)strlen(buf);
}
