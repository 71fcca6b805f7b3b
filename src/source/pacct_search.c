/* SPDX-License-Identifier: MIT */
/*
 * The file that a child's end changes, wherever it is: fanotify marks on all local file systems for
 * the moment in which the child ends. The kernel's own writes are told too, with the pid of the
 * process that ended; but the descriptors that fanotify gives lead to a private mount and have no
 * path, so the directory and the name are asked for.
 */
#include "source/pacct_detect.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/fanotify.h>
#include <sys/vfs.h>

#include "base/util.h"

#define MOUNTS 256
#define TRIES 3

struct mounts {
	struct {
		fsid_t id;
		int fd;
	} all[MOUNTS];
	unsigned int n;
};

/* Others may hang (a server that is away), or are refused by acct(2). */
static bool is_local(const char *type)
{
	static const char *const types[] = { "ext2",	 "ext3",     "ext4",  "xfs",	  "btrfs",
					     "f2fs",	 "tmpfs",    "ramfs", "overlay",  "zfs",
					     "bcachefs", "devtmpfs", "jfs",   "reiserfs", "vfat" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static void mark(struct mounts *m, int fan, const char *dir)
{
	struct statfs st;
	int fd;

	if (m->n == MOUNTS)
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstatfs(fd, &st) ||
	    fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_MODIFY, fd, NULL)) {
		close_fd(fd);
		return;
	}
	m->all[m->n].id = st.f_fsid;
	m->all[m->n++].fd = fd;
}

static int mark_all(struct mounts *m, int fan)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *e;

	if (!f)
		return -errno;
	while ((e = getmntent(f)))
		if (is_local(e->mnt_type))
			mark(m, fan, e->mnt_dir);
	endmntent(f);
	return 0;
}

/*
 * What follows the head of an event, copied out: events are as long as their names, and so lie
 * anywhere.
 */
struct where_event {
	struct fanotify_event_info_header head;
	fsid_t fsid;
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ + NAME_MAX + 8];
	} u;
};

static bool copy_event(struct where_event *to, const char *info, size_t len)
{
	const size_t fixed = sizeof(to->head) + sizeof(to->fsid);
	size_t rest = len - fixed;

	if (len < fixed + sizeof(struct file_handle) || rest >= sizeof(to->u))
		return false;
	memset(to, 0, sizeof(*to));
	memcpy(&to->head, info, sizeof(to->head));
	memcpy(&to->fsid, info + sizeof(to->head), sizeof(to->fsid));
	memcpy(&to->u, info + fixed, rest);
	return to->head.info_type == FAN_EVENT_INFO_TYPE_DFID_NAME &&
	       sizeof(struct file_handle) + to->u.handle.handle_bytes < rest;
}

static bool take_path(struct pacct_where *w, const struct mounts *m, struct where_event *e)
{
	const char *name = e->u.bytes + sizeof(struct file_handle) + e->u.handle.handle_bytes;
	char link[32], dir[PATH_MAX];

	for (unsigned int i = 0; i < m->n; i++) {
		_cleanup_fd_
		int fd = -1;
		ssize_t n;

		if (memcmp(&m->all[i].id, &e->fsid, sizeof(e->fsid)) != 0)
			continue;
		fd = open_by_handle_at(m->all[i].fd, &e->u.handle,
				       O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, dir, sizeof(dir) - 1);
		if (n <= 0)
			continue;
		dir[n] = '\0';
		if ((size_t)snprintf(w->path, sizeof(w->path), "%s/%s", n > 1 ? dir : "", name) >=
		    sizeof(w->path))
			continue;
		memcpy(w->follow, w->path, sizeof(w->follow));
		w->found = true;
		return true;
	}
	return false;
}

/* Returns 1 when the event of `pid` was among them, 0 if not, -EAGAIN if some were dropped. */
static int read_events(struct pacct_where *w, const struct mounts *m, int fan, pid_t pid)
{
	char buf[16384];
	bool dropped = false;
	ssize_t n;

	while ((n = read(fan, buf, sizeof(buf))) > 0) {
		struct fanotify_event_metadata e;

		for (size_t at = 0; at + sizeof(e) <= (size_t)n; at += e.event_len) {
			struct where_event event;

			memcpy(&e, buf + at, sizeof(e));
			if (e.event_len < sizeof(e) || e.event_len > (size_t)n - at)
				return 0;
			dropped |= (e.mask & FAN_Q_OVERFLOW) != 0;
			if (e.pid == pid &&
			    copy_event(&event, buf + at + e.metadata_len,
				       e.event_len - e.metadata_len) &&
			    take_path(w, m, &event))
				return 1;
		}
	}
	return dropped ? -EAGAIN : 0;
}

int pacct_search(struct pacct_where *w)
{
	struct mounts *m = calloc(1, sizeof(*m));
	int fan, r = -EAGAIN;

	if (!m)
		return -ENOMEM;
	fan = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_DFID_NAME, 0);
	if (fan < 0)
		r = -errno;
	else if (mark_all(m, fan) < 0)
		r = -ENOENT;
	for (int i = 0; i < TRIES && r == -EAGAIN && w->n_children < PACCT_PROBES; i++) {
		pid_t pid = pacct_end_child();

		if (pid < 0) {
			r = pid;
			break;
		}
		w->children[w->n_children++] = pid;
		r = read_events(w, m, fan, pid);
	}
	close_fd(fan);
	for (unsigned int i = 0; i < m->n; i++)
		close_fd(m->all[i].fd);
	free(m);
	return r;
}
