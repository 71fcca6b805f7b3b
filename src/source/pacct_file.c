/* SPDX-License-Identifier: MIT */
/* See pacct_file.h. */
#include "source/pacct_file.h"

#include <fcntl.h>

#include "base/util.h"

/* FNV-1a. It is to tell files apart that do not mean to deceive: whoever writes them is root. */
uint64_t pacct_digest(const unsigned char *data, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ data[i]) * UINT64_C(0x100000001b3);
	return h;
}

static ssize_t read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* The whole of `len`, or up to the end of what was packed. */
static ssize_t unpack(gzFile gz, void *buf, size_t len)
{
	int n = gzread(gz, buf, (unsigned int)len), error;

	if (n > 0)
		return n;
	gzerror(gz, &error);
	return n < 0 || error == Z_BUF_ERROR ? -EBADMSG : 0;
}

static int open_packed(struct pacct_file *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	f->gz = gzdopen(fd, "rb");
	if (!f->gz) {
		close_fd(fd);
		return -ENOMEM;
	}
	gzbuffer(f->gz, 65536);
	return 0;
}

static void take_stat(struct pacct_file *f, const struct stat *st)
{
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->size = (uint64_t)st->st_size;
	f->mtime_ns = st->st_mtim.tv_sec * NS_PER_SEC + st->st_mtim.tv_nsec;
}

int pacct_file_open(struct pacct_file *f, int dir_fd, const char *name)
{
	unsigned char magic[2];
	struct stat st;
	int r = 0;

	memset(f, 0, sizeof(*f));
	/* O_NONBLOCK: a pipe of that name shall not make us wait. */
	f->fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (f->fd < 0)
		return -errno;
	if (fstat(f->fd, &st))
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	else if (read_at(f->fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
		r = open_packed(f);
	if (r < 0) {
		pacct_file_close(f);
		return r;
	}
	take_stat(f, &st);
	return 0;
}

void pacct_file_close(struct pacct_file *f)
{
	if (f->gz)
		gzclose(f->gz);
	f->gz = NULL;
	f->fd = close_fd(f->fd);
}

void pacct_file_restart(struct pacct_file *f)
{
	if (f->gz)
		gzrewind(f->gz);
	f->pos = f->undecoded = 0;
	f->n_first = f->n_kept = 0;
}

static int seek_packed(struct pacct_file *f, uint64_t pos)
{
	unsigned char buf[16384];

	pacct_file_restart(f);
	while (f->pos < pos) {
		ssize_t n = unpack(f->gz, buf, (size_t)MIN(sizeof(buf), pos - f->pos));

		if (n <= 0)
			return n < 0 ? (int)n : -ENODATA;
		pacct_file_advance(f, buf, (size_t)n);
	}
	return 0;
}

int pacct_file_seek(struct pacct_file *f, uint64_t pos)
{
	size_t n_first = (size_t)MIN(pos, PACCT_MARK), n_kept = (size_t)MIN(pos, PACCT_KEPT);
	ssize_t n;

	if (f->gz)
		return seek_packed(f, pos);
	pacct_file_restart(f);
	n = read_at(f->fd, f->first, n_first, 0);
	if (n >= 0 && (size_t)n < n_first)
		n = -ENODATA;
	if (n < 0)
		return (int)n;
	n = read_at(f->fd, f->kept, n_kept, pos - n_kept);
	if (n >= 0 && (size_t)n < n_kept)
		n = -ENODATA;
	if (n < 0)
		return (int)n;
	f->n_first = n_first;
	f->n_kept = n_kept;
	f->pos = pos;
	return 0;
}

/* Nothing was read of it yet. */
static int resume_at_start(struct pacct_file *f, const struct pacct_position *p)
{
	bool same = p->head && !pacct_file_seek(f, PACCT_MARK) &&
		    pacct_digest(f->first, PACCT_MARK) == p->head;

	pacct_file_restart(f);
	return same;
}

int pacct_file_resume(struct pacct_file *f, const struct pacct_position *p)
{
	size_t mark = (size_t)MIN(p->offset, PACCT_MARK);
	int r;

	if (!p->offset)
		return resume_at_start(f, p);
	r = pacct_file_seek(f, mark);
	/*
	 * The beginning first: to unpack a large file up to the offset takes time, and most are
	 * other files.
	 */
	if (r >= 0 && pacct_digest(f->first, mark) == p->head)
		r = pacct_file_seek(f, p->offset);
	if (r >= 0 && f->pos == p->offset && pacct_digest(f->first, mark) == p->head &&
	    pacct_digest(f->kept + f->n_kept - mark, mark) == p->tail)
		return 1;
	pacct_file_restart(f);
	return r == -ENODATA || r == -EBADMSG ? 0 : MIN(r, 0);
}

bool pacct_file_is_shorter(struct pacct_file *f, const struct pacct_position *p)
{
	struct stat st;
	bool yes;

	if (p->offset < PACCT_MARK || f->gz || fstat(f->fd, &st))
		return false;
	take_stat(f, &st);
	yes = f->size < p->offset && !pacct_file_seek(f, PACCT_MARK) &&
	      pacct_digest(f->first, PACCT_MARK) == p->head;
	pacct_file_restart(f);
	return yes;
}

/*
 * The last bytes that were handed on are read again in front of what is new: that they are still
 * there is the only proof that the file is still the same one and no shorter.
 */
ssize_t pacct_file_peek(struct pacct_file *f, unsigned char *buf, const unsigned char **data)
{
	size_t again = MIN(f->n_kept, PACCT_MARK);
	ssize_t n;

	if (f->gz) {
		*data = buf;
		n = gztell(f->gz) > (z_off_t)f->pos ? seek_packed(f, f->pos) : 0;
		return n < 0 ? n : unpack(f->gz, buf, PACCT_CHUNK);
	}
	do
		n = pread(f->fd, buf, again + PACCT_CHUNK, (off_t)(f->pos - again));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < again || memcmp(buf, f->kept + f->n_kept - again, again))
		return -ESTALE;
	*data = buf + again;
	return n - (ssize_t)again;
}

void pacct_file_advance(struct pacct_file *f, const unsigned char *data, size_t len)
{
	size_t head = MIN(len, PACCT_MARK - f->n_first), keep;

	memcpy(f->first + f->n_first, data, head);
	f->n_first += head;
	f->pos += len;
	if (len >= PACCT_KEPT) {
		memcpy(f->kept, data + len - PACCT_KEPT, PACCT_KEPT);
		f->n_kept = PACCT_KEPT;
		return;
	}
	keep = MIN(f->n_kept, PACCT_KEPT - len);
	memmove(f->kept, f->kept + f->n_kept - keep, keep);
	memcpy(f->kept + keep, data, len);
	f->n_kept = keep + len;
}

/* The digest of the first record, 0 if it is not there yet; nothing was handed on. */
static uint64_t first_mark(struct pacct_file *f)
{
	uint64_t digest = 0;

	if (!pacct_file_seek(f, PACCT_MARK))
		digest = pacct_digest(f->first, PACCT_MARK);
	pacct_file_restart(f);
	return digest;
}

bool pacct_file_has_changed(struct pacct_file *f)
{
	size_t again = MIN(f->n_kept, PACCT_MARK);
	unsigned char last[PACCT_MARK];
	uint64_t head;

	if (f->gz)
		return false;
	if (f->pos)
		return read_at(f->fd, last, again, f->pos - again) != (ssize_t)again ||
		       memcmp(last, f->kept + f->n_kept - again, again) != 0;
	head = first_mark(f);
	if (f->head)
		return head != f->head;
	f->head = head;
	return false;
}

void pacct_file_position(struct pacct_file *f, struct pacct_position *p)
{
	/* What is remembered must reach one mark further back than what the decoder holds. */
	size_t held = (size_t)MIN(f->undecoded, f->n_kept), mark;

	if (f->pos > PACCT_KEPT)
		held = MIN(held, PACCT_KEPT - PACCT_MARK);
	*p = (struct pacct_position){ .dev = f->dev, .ino = f->ino, .offset = f->pos - held };
	if (!p->offset) {
		if (f->pos)
			p->head = f->n_first == PACCT_MARK ? pacct_digest(f->first, PACCT_MARK) : 0;
		else
			p->head = f->head ? f->head : first_mark(f);
		return;
	}
	mark = (size_t)MIN(p->offset, PACCT_MARK);
	p->head = pacct_digest(f->first, mark);
	p->tail = pacct_digest(f->kept + f->n_kept - held - mark, mark);
}

void pacct_file_position_anew(const struct pacct_file *f, struct pacct_position *p)
{
	unsigned char first[PACCT_MARK];

	*p = (struct pacct_position){ .dev = f->dev, .ino = f->ino };
	if (read_at(f->fd, first, PACCT_MARK, 0) == (ssize_t)PACCT_MARK)
		p->head = pacct_digest(first, PACCT_MARK);
}

bool pacct_file_is_like(const struct pacct_file *a, struct pacct_file *b)
{
	unsigned char first[PACCT_MARK];
	bool same = read_at(a->fd, first, PACCT_MARK, 0) == (ssize_t)PACCT_MARK &&
		    !pacct_file_seek(b, PACCT_MARK) && !memcmp(first, b->first, PACCT_MARK);

	pacct_file_restart(b);
	return same;
}

uint64_t pacct_file_common(const struct pacct_file *a, const struct pacct_file *b, uint64_t most)
{
	unsigned char x[4096], y[4096];
	uint64_t at = 0;

	while (at < most) {
		size_t want = (size_t)MIN(sizeof(x), most - at), same = 0;
		ssize_t n = read_at(a->fd, x, want, at), m = read_at(b->fd, y, want, at);

		n = MIN(n, m);
		if (n <= 0)
			break;
		while (same < (size_t)n && x[same] == y[same])
			same++;
		at += same;
		if (same < want)
			break;
	}
	return at;
}
