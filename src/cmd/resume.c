/* SPDX-License-Identifier: MIT */
/* See resume.h. The note in the state is "length device inode path" of the output. */
#include "cmd/resume.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/util.h"
#include "cmd/cmd.h"
#include "sink/output.h"
#include "source/pacct.h"
#include "source/pacct_state.h"

/* Lines wait for so long, that writing the state costs little beside writing them. */
#define WAIT_NS (50 * NS_PER_MSEC)

struct note {
	uint64_t length, device, inode;
	char path[PACCT_NOTE_MOST + 1];
};

static bool parse_note(const char *text, struct note *n)
{
	int at = 0;

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &n->length, &n->device,
		   &n->inode, &at) < 3 ||
	    !at)
		return false;
	snprintf(n->path, sizeof(n->path), "%s", text + at);
	return true;
}

static void previous_path(char *buf, size_t size, const char *path)
{
	snprintf(buf, size, "%s.previous", path);
}

/* The file the note is about, opened for writing if it is still there; -1. */
static int open_noted(const struct note *n, struct stat *st)
{
	int fd = open(n->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_dev != n->device ||
	    st->st_ino != n->inode)
		return close_fd(fd);
	return fd;
}

/* The batch behind the previous state was written in part: back to before it. */
static int undo_batch(const char *path, int fd, uint64_t size)
{
	char previous[PATH_MAX];
	struct pacct_state *s = calloc(1, sizeof(*s));
	struct note n;
	int r = s ? 0 : -ENOMEM;

	previous_path(previous, sizeof(previous), path);
	if (!r)
		r = pacct_state_load(s, previous);
	if (!r && (!parse_note(s->note, &n) || n.length > size))
		r = -EBADMSG;
	if (!r && ftruncate(fd, (off_t)n.length))
		r = -errno;
	if (!r && rename(previous, path))
		r = -errno;
	if (!r)
		cmd_note(
			"the last %" PRIu64
			" bytes of '%s' were cut off half written by a crash; they are written anew",
			size - n.length, n.path);
	free(s);
	return r;
}

static int agree(const char *path)
{
	struct pacct_state *s = calloc(1, sizeof(*s));
	struct stat st;
	struct note n;
	int r = s ? pacct_state_load(s, path) : -ENOMEM, fd;

	if (r == -ENOENT || r == -EBADMSG || r == -EPROTONOSUPPORT) {
		free(s);
		return 0; /* the source itself sets a bad one aside, and says so */
	}
	if (r < 0 || !parse_note(s->note, &n)) {
		free(s);
		return r;
	}
	free(s);
	fd = open_noted(&n, &st);
	if (fd < 0)
		return 0; /* moved away or removed: nothing there can be half */
	if ((uint64_t)st.st_size < n.length)
		r = undo_batch(path, fd, (uint64_t)st.st_size);
	close_fd(fd);
	return r;
}

int resume_begin(struct resume *r, const char *path, int output_fd)
{
	char previous[PATH_MAX];
	struct stat st;
	int error;

	*r = (struct resume){ .path = path, .fd = output_fd };
	if (!path)
		return 0;
	r->regular = !fstat(output_fd, &st) && S_ISREG(st.st_mode);
	/* a crash between the two renames of a save */
	previous_path(previous, sizeof(previous), path);
	if (access(path, F_OK) && errno == ENOENT)
		rename(previous, path);
	error = agree(path);
	if (error < 0)
		cmd_error(
			"the state in '%s' cannot be used: %s; remove it to begin at the end of what there is",
			path, strerror(-error));
	return error;
}

bool resume_may_wait(const struct resume *r, int64_t now_ns)
{
	return r->path && now_ns < r->saved_ns + WAIT_NS;
}

static void make_note(const struct resume *r, uint64_t pending, char *note, size_t size)
{
	char link[32], path[PACCT_NOTE_MOST] = "";
	struct stat st;
	ssize_t n;

	*note = '\0';
	if (!r->regular || fstat(r->fd, &st))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return;
	path[n] = '\0';
	n = snprintf(note, size, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
		     (uint64_t)st.st_size + pending, (uint64_t)st.st_dev, (uint64_t)st.st_ino,
		     path);
	if (n < 0 || (size_t)n >= size)
		*note = '\0'; /* a path as long as that cannot be remembered */
}

static void save(struct resume *r, struct exeunt *x, uint64_t pending)
{
	char note[PACCT_NOTE_MOST + 1], previous[PATH_MAX];
	int error;

	make_note(r, pending, note, sizeof(note));
	previous_path(previous, sizeof(previous), r->path);
	if (rename(r->path, previous) && errno != ENOENT)
		unlink(previous); /* rather none than one that is not the one before */
	error = exeunt_checkpoint(x, note);
	if (error < 0 && error != r->error)
		cmd_error(
			"the state in '%s' cannot be written: %s; after a crash exits may come twice",
			r->path, strerror(-error));
	r->error = error;
}

void resume_before_flush(struct resume *r, struct exeunt *x, const struct output *o, int64_t now_ns)
{
	if (!r->path || !output_pending(o))
		return;
	r->saved_ns = now_ns;
	save(r, x, output_pending(o));
}

void resume_end(struct resume *r, struct exeunt *x)
{
	if (r->path)
		save(r, x, 0);
}
