/* SPDX-License-Identifier: MIT */
/*
 * Reads of /proc/PID; see procfs.h. Formats: fs/proc/array.c, fs/proc/base.c;
 * Documentation/filesystems/proc.rst.
 */
#include "base/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "base/util.h"

/* stat is at most 52 numbers of 20 digits and a name; of status only the head is of interest. */
#define TEXT_MAX 2048

int procfs_open(const char *path)
{
	int fd = open(path ? path : "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Writes the decimal digits of a pid, and a NUL. */
static void pid_text(char out[12], pid_t pid)
{
	char *p = out + 11;
	unsigned int v = (unsigned int)pid;
	size_t n;

	*p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	n = (size_t)(out + 12 - p);
	memmove(out, p, n);
}

int procfs_open_pid(int proc_fd, pid_t pid)
{
	char name[12];
	int fd;

	if (pid <= 0)
		return -ENOENT;
	pid_text(name, pid);
	fd = openat(proc_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * One read: the kernel gives these files whole, as far as the buffer goes, so the read that tells
 * of the end is spared.
 */
ssize_t procfs_read(int pid_fd, const char *name, char *buf, size_t size)
{
	ssize_t n;
	int fd = openat(pid_fd, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

ssize_t procfs_readlink(int pid_fd, const char *name, char *buf, size_t size)
{
	ssize_t n = readlinkat(pid_fd, name, buf, size);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? -ENAMETOOLONG : n;
}

/* Reads a number and what blanks stand before it; moves *p. Returns false where there is none. */
static bool take_number(const char **p, const char *end, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s < end && *s == '-')
		s++; /* negative numbers stand only in fields that are skipped */
	if (s >= end || *s < '0' || *s > '9')
		return false;
	for (; s < end && *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	*p = s;
	*ret = v;
	return true;
}

/*
 * The name in stat has '\n' and '\\' escaped (fs/proc/array.c: proc_task_name), all other bytes
 * raw.
 */
static void take_comm(const char *s, const char *end, char comm[16])
{
	size_t n = 0;

	for (; s < end && n < 15; s++) {
		char c = *s;

		if (c == '\\' && s + 1 < end && (s[1] == 'n' || s[1] == '\\'))
			c = *++s == 'n' ? '\n' : '\\';
		comm[n++] = c;
	}
	memset(comm + n, 0, 16 - n);
}

/* The name may hold blanks and parentheses: it ends at the last ')', and only numbers follow. */
int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret)
{
	const char *open = memchr(text, '(', len);
	const char *close = len ? memrchr(text, ')', len) : NULL;
	const char *end = text + len;
	uint64_t v;

	if (!open || !close || close < open || end - close < 4 || close[1] != ' ')
		return -EBADMSG;
	take_comm(open + 1, close, ret->comm);
	ret->state = close[2];
	text = close + 3;
	for (int field = 4; field <= 22; field++) {
		if (!take_number(&text, end, &v))
			return -EBADMSG;
		if (field == 4)
			ret->ppid = (int32_t)v;
		else if (field == 9)
			ret->flags = (uint32_t)v;
		else if (field == 20)
			ret->threads = (uint32_t)v;
		else if (field == 22)
			ret->start_ticks = v;
	}
	return 0;
}

static bool parse_id_line(const char *text, size_t len, const char *key, uint32_t ids[3])
{
	const char *p = memmem(text, len, key, strlen(key));
	const char *end = text + len;
	uint64_t v;

	if (!p)
		return false;
	p += strlen(key);
	for (int i = 0; i < 3; i++) {
		if (!take_number(&p, end, &v))
			return false;
		ids[i] = (uint32_t)v;
	}
	return true;
}

/*
 * "Name:" comes first, with newlines escaped, so a line break before the key makes it the real one.
 */
int procfs_parse_ids(const char *text, size_t len, struct procfs_ids *ret)
{
	uint32_t u[3], g[3];

	if (!parse_id_line(text, len, "\nUid:", u) || !parse_id_line(text, len, "\nGid:", g))
		return -EBADMSG;
	*ret = (struct procfs_ids){ u[0], u[1], u[2], g[0], g[1], g[2] };
	return 0;
}

int procfs_read_stat(int pid_fd, struct procfs_stat *ret)
{
	char text[TEXT_MAX];
	ssize_t n = procfs_read(pid_fd, "stat", text, sizeof(text));

	return n < 0 ? (int)n : procfs_parse_stat(text, (size_t)n, ret);
}

int procfs_read_ids(int pid_fd, struct procfs_ids *ret)
{
	char text[TEXT_MAX];
	ssize_t n = procfs_read(pid_fd, "status", text, sizeof(text));

	return n < 0 ? (int)n : procfs_parse_ids(text, (size_t)n, ret);
}

static int read_u32(int pid_fd, const char *name, uint32_t *ret)
{
	char text[16];
	const char *p = text;
	uint64_t v;
	ssize_t n = procfs_read(pid_fd, name, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (!take_number(&p, text + n, &v) || v > UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)v;
	return 0;
}

int procfs_read_loginuid(int pid_fd, uint32_t *ret)
{
	return read_u32(pid_fd, "loginuid", ret);
}

int procfs_read_sessionid(int pid_fd, uint32_t *ret)
{
	return read_u32(pid_fd, "sessionid", ret);
}

int procfs_iter_init(struct procfs_iter *it, int proc_fd)
{
	it->fd = proc_fd;
	it->pos = it->end = 0;
	return lseek(proc_fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static pid_t pid_of_name(const char *name)
{
	pid_t pid = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9' || pid > INT32_MAX / 10 - 1)
			return 0;
		pid = pid * 10 + (*name - '0');
	}
	return pid;
}

pid_t procfs_iter_next(struct procfs_iter *it)
{
	for (;;) {
		const struct dirent64 *d;
		pid_t pid;

		if (it->pos >= it->end) {
			/* getdents64(2) itself: readdir(3) allocates */
			long n = syscall(SYS_getdents64, it->fd, it->buf, sizeof(it->buf));

			if (n <= 0)
				return n < 0 ? -errno : 0;
			it->pos = 0;
			it->end = (uint32_t)n;
		}
		d = (const struct dirent64 *)(const void *)(it->buf + it->pos);
		it->pos += d->d_reclen;
		pid = pid_of_name(d->d_name);
		if (pid > 0)
			return pid;
	}
}
