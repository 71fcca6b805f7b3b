/* SPDX-License-Identifier: MIT */
/* Choices that were to be remembered: $XDG_CONFIG_HOME/exeunt/toprc. Read at the start, written on the key W alone. */
#include "cmd/cmd.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "cmd/top.h"

#define FILE_MOST 4096

/* The folder that all configuration is in; -ENOENT without a home. */
static int config_home(char *buf, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (config && *config == '/')
		n = snprintf(buf, size, "%s", config);
	else if (home && *home == '/')
		n = snprintf(buf, size, "%s/.config", home);
	else
		return -ENOENT;
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

void top_file_read(struct top_view *v)
{
	char path[PATH_MAX - 32], file[PATH_MAX], text[FILE_MOST];
	_cleanup_fd_
	int fd = -1;
	struct top_view before = *v;
	ssize_t n;
	int line;

	if (config_home(path, sizeof(path)) < 0)
		return;
	snprintf(file, sizeof(file), "%s/exeunt/toprc", path);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			cmd_note("cannot read '%s': %s", file, strerror(errno));
		return;
	}
	text[n] = '\0';
	line = top_view_read(v, text);
	if (!line)
		return;
	*v = before;
	cmd_note("'%s', line %d is not understood; the file is passed over", file, line);
}

static int write_new(const char *file, const char *text)
{
	char temporary[PATH_MAX];
	size_t len = strlen(text);
	int fd, r = 0;

	if (snprintf(temporary, sizeof(temporary), "%s.new", file) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		  0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	close_fd(fd);
	if (r >= 0 && rename(temporary, file) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

void top_file_write(struct top_view *v)
{
	char path[PATH_MAX - 32], file[PATH_MAX], text[FILE_MOST];
	int r = config_home(path, sizeof(path));

	if (r >= 0) {
		mkdir(path, 0700);
		snprintf(file, sizeof(file), "%s/exeunt", path);
		mkdir(file, 0700);
		snprintf(file, sizeof(file), "%s/exeunt/toprc", path);
		top_view_write(v, text, sizeof(text));
		r = write_new(file, text);
	}
	if (r < 0)
		snprintf(v->note, sizeof(v->note), "not remembered: %s",
			 r == -ENOENT ? "there is no home directory" : strerror(-r));
	else
		snprintf(v->note, sizeof(v->note), "remembered in %.300s", file);
}
