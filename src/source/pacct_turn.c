/* SPDX-License-Identifier: MIT */
/*
 * Where the following of a path starts, and what it does when a file turns out to be another: the
 * path leads to a new one, or what was read is no longer where it was. In all cases the files
 * beside it tell what became of the old one.
 */
#include "source/pacct_follow_internal.h"

#include <fcntl.h>

#include "base/util.h"
#include "source/pacct_scan.h"

/*
 * A file that was changed so long before the last look may already be known, but then it still is:
 * FOLLOW_DONE and LINGER_NS see to that. The clock of file times lags by a tick.
 */
#define SLACK_NS (NS_PER_SEC)
#define SLACK_SAVED_NS (5 * NS_PER_SEC)

static struct pacct_file *take(struct pacct_candidate *c)
{
	return TAKE(c->file);
}

static int append(struct pacct_follow *f, struct pacct_file *file, int64_t read_ns)
{
	int r = follow_insert(f, f->n, file);

	if (r < 0) {
		pacct_file_close(file);
		free(file);
		return r;
	}
	file->read_ns = read_ns;
	return 0;
}

/* Returns 1, or 0 if there is no such file. Errors: as pacct_file_open(), pacct_file_seek(). */
static int append_at_end(struct pacct_follow *f, const char *dir, const char *name, int64_t now)
{
	_cleanup_fd_
	int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct pacct_file *file;
	int r;

	if (dir_fd < 0)
		return -errno;
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	r = pacct_file_open(file, dir_fd, name);
	if (r >= 0 && file->gz)
		r = -EINVAL;
	if (r >= 0)
		r = pacct_file_seek(file, file->size);
	if (r < 0) {
		pacct_file_close(file);
		free(file);
		return r == -ENOENT ? 0 : r;
	}
	r = append(f, file, now);
	return r < 0 ? r : 1;
}

int pacct_follow_begin(struct pacct_follow *f, const char *written, struct pacct_now now)
{
	int r = 0;

	f->looked = now;
	if (written && strcmp(written, f->name) != 0)
		r = append_at_end(f, f->dir, written, now.mono_ns);
	if (r >= 0)
		r = append_at_end(f, f->dir, f->name, now.mono_ns);
	return MIN(r, 0);
}

static bool holds(const struct pacct_follow *f, const struct pacct_file *file)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (f->files[i]->dev == file->dev && f->files[i]->ino == file->ino)
			return true;
	return false;
}

/* A copy of a file that we hold, as that is now: it may have been cut off since it was read. */
static bool holds_same(const struct pacct_follow *f, struct pacct_file *file)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (!f->files[i]->gz && pacct_file_is_like(f->files[i], file))
			return true;
	return false;
}

/*
 * The file at the path is a copy of an older one, with as much as was read of that, or less: what
 * both begin with is read there, and here only what follows. If the old one is not at hand and the
 * copy is shorter, all that is in it now counts as read, with a gap told.
 */
static int begin_copy(struct pacct_follow *f, struct pacct_candidate *c,
		      const struct pacct_position *p, int64_t since_ns)
{
	for (unsigned int i = 0; i < f->n; i++) {
		const struct pacct_file *old = f->files[i];
		uint64_t same;

		if (old->ino != p->ino || old->dev != p->dev)
			continue;
		same = pacct_file_common(old, c->file, c->file->size);
		/* Two records begin alike. */
		if (same < c->file->size)
			same -= same % PACCT_MARK;
		return pacct_file_seek(c->file, same);
	}
	if (c->found == PACCT_FOUND_KNOWN)
		return 0;
	pacct_follow_gap(f, since_ns);
	return pacct_file_seek(c->file, c->file->size);
}

/* Is this file to be read? Its position is then set. */
static bool wanted(struct pacct_follow *f, struct pacct_candidate *c,
		   const struct pacct_position *positions, int64_t since_ns)
{
	if (holds(f, c->file))
		return false;
	switch (c->found) {
	case PACCT_FOUND_NEW:
		return c->is_path || !holds_same(f, c->file);
	case PACCT_FOUND_KNOWN:
	case PACCT_FOUND_SHORTER:
		return c->is_path && begin_copy(f, c, &positions[c->match], since_ns) >= 0;
	case PACCT_FOUND_OTHER:
		/* An old file was put in place: nothing of it is news. */
		return c->is_path && pacct_file_seek(c->file, c->file->size) >= 0;
	case PACCT_FOUND_COPY:
		break;
	}
	return false;
}

static int scan(struct pacct_follow *f, struct pacct_scan *s, struct pacct_state *known,
		int64_t newer_ns)
{
	int r = pacct_scan_open(s, f->dir, f->name, f->prefix);

	if (r >= 0)
		r = pacct_scan_match(s, known->positions, known->n, newer_ns);
	return r;
}

/* The oldest give way: better some that are read than none. */
static void bound(struct pacct_follow *f, int64_t since_ns)
{
	while (f->n > FOLLOW_MOST) {
		pacct_follow_gap(f, since_ns);
		follow_drop(f, 0);
	}
}

/* The path is that of a file we hold, which was renamed back. */
static bool renamed_back(struct pacct_follow *f, const struct stat *st)
{
	for (unsigned int i = 0; i < f->n; i++) {
		struct pacct_file *file = f->files[i];

		if (file->dev != st->st_dev || file->ino != st->st_ino)
			continue;
		memmove(f->files + i, f->files + i + 1,
			(f->n - i - 1) * sizeof(struct pacct_file *));
		f->files[f->n - 1] = file;
		return true;
	}
	return false;
}

/* The path leads to another file than before; others may have had its name in between. */
static int turn(struct pacct_follow *f, struct pacct_now now)
{
	struct pacct_state *known = calloc(1, sizeof(*known));
	struct pacct_scan s = { 0 };
	unsigned int before = f->n;
	int r;

	if (!known)
		return -ENOMEM;
	pacct_follow_save(f, known);
	r = scan(f, &s, known, f->looked.real_ns - SLACK_NS);
	for (unsigned int i = 0; i < s.n && r >= 0; i++)
		if (wanted(f, &s.all[i], known->positions, f->looked.mono_ns))
			r = append(f, take(&s.all[i]), f->looked.mono_ns);
	pacct_scan_close(&s);
	free(known);
	if (f->n > before)
		f->turned_ns = now.mono_ns;
	bound(f, f->looked.mono_ns);
	return r < 0 ? r : f->n > before;
}

/* A copy made before the file was cut off has what we had not read; it comes first. */
static int insert_copies(struct pacct_follow *f, struct pacct_scan *s,
			 const struct pacct_state *known, uint64_t head, unsigned int at,
			 int64_t read_ns)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct pacct_candidate *c = &s->all[i];
		bool copy =
			c->found == PACCT_FOUND_KNOWN && known->positions[c->match].head == head;
		struct pacct_file *file;
		int r;

		if (holds(f, c->file) || c->is_path ||
		    (!copy && (c->found != PACCT_FOUND_NEW || holds_same(f, c->file))))
			continue;
		file = take(c);
		file->read_ns = read_ns;
		r = follow_insert(f, at++, file);
		if (r < 0) {
			pacct_file_close(file);
			free(file);
			return r;
		}
	}
	return 0;
}

int follow_cut_off(struct pacct_follow *f, struct pacct_file *file, struct pacct_now now)
{
	struct pacct_state *known = calloc(1, sizeof(*known));
	struct pacct_scan s = { 0 };
	struct pacct_position p;
	unsigned int at = 0;
	bool cut_short;
	int r;

	if (!known)
		return -ENOMEM;
	while (f->files[at] != file)
		at++;
	pacct_file_position(file, &p);
	pacct_follow_save(f, known);
	pacct_follow_gap(f, file->read_ns);
	r = scan(f, &s, known,
		 MIN(file->read_ns - now.mono_ns + now.real_ns, f->looked.real_ns) - SLACK_NS);
	if (r >= 0)
		r = insert_copies(f, &s, known, p.head, at, file->read_ns);
	pacct_scan_close(&s);
	free(known);
	cut_short = pacct_file_is_shorter(file, &p);
	follow_remember(f, &p);
	if (f->current == file)
		follow_leave(f);
	pacct_file_restart(file);
	file->head = 0;
	/* Not cut off, but short: what is left of it was handed on. */
	if (cut_short)
		pacct_file_seek(file, file->size);
	/* Without a look at the files beside it, what is in this one can still be read. */
	return r == -ENOMEM ? r : 0;
}

/* What was cut off must be known before a position in it is saved. */
static int check_all(struct pacct_follow *f, struct pacct_now now)
{
	int r = 0;

	for (unsigned int i = 0; i < f->n && r >= 0; i++) {
		struct pacct_file *file = f->files[i];

		/* The decoder comes first: see pacct_follow_next(). */
		if (!(file == f->current && file->undecoded) && pacct_file_has_changed(file))
			r = follow_cut_off(f, file, now);
	}
	return r;
}

static bool leads_to_last(const struct pacct_follow *f, const struct stat *st)
{
	const struct pacct_file *last;

	if (!f->n)
		return false;
	last = f->files[f->n - 1];
	return last->dev == st->st_dev && last->ino == st->st_ino;
}

int pacct_follow_look(struct pacct_follow *f, struct pacct_now now)
{
	struct stat st;
	int r = check_all(f, now);

	if (r < 0)
		return r;
	if (stat(f->path, &st))
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (!leads_to_last(f, &st))
		r = renamed_back(f, &st) ? 1 : turn(f, now);
	if (r >= 0)
		f->looked = now;
	return r;
}

int pacct_follow_switch(struct pacct_follow *f, const char *path, struct pacct_now now)
{
	int r = follow_set_path(f, path);

	if (r >= 0)
		r = pacct_follow_look(f, now);
	for (unsigned int i = 0; i + 1 < f->n && r >= 0; i++)
		f->files[i]->closed = true;
	return MIN(r, 0);
}

/*
 * Is this file, or what became of it, there? One that was empty is now among the new ones, if it
 * was written to.
 */
static bool is_there(const struct pacct_scan *s, const struct pacct_state *state,
		     const struct pacct_position *p)
{
	bool empty = !p->offset && !p->head;

	for (unsigned int i = 0; i < s->n; i++) {
		const struct pacct_candidate *c = &s->all[i];

		if (empty && (c->found == PACCT_FOUND_NEW || c->file->ino == p->ino))
			return true;
		if ((c->found == PACCT_FOUND_KNOWN || c->found == PACCT_FOUND_SHORTER) &&
		    state->positions[c->match].head == p->head)
			return true;
	}
	return false;
}

/* Something may have been in a file that is gone. */
static bool lacks(const struct pacct_scan *s, const struct pacct_state *state)
{
	for (unsigned int k = 0; k < state->n; k++)
		if (!state->positions[k].done && !is_there(s, state, &state->positions[k]))
			return true;
	return false;
}

static int resume_one(struct pacct_follow *f, struct pacct_candidate *c,
		      const struct pacct_state *state, int64_t since_ns)
{
	bool known = c->found == PACCT_FOUND_KNOWN;

	/* Read to its end before, and has no more. */
	if (known && !c->is_path && state->positions[c->match].done && !c->file->gz &&
	    c->file->size <= c->file->pos) {
		follow_remember(f, &state->positions[c->match]);
		return 0;
	}
	if ((!known || c->is_path) && !wanted(f, c, state->positions, since_ns))
		return 0;
	if (c->found == PACCT_FOUND_OTHER && state->n)
		pacct_follow_gap(f, since_ns);
	return append(f, take(c), since_ns);
}

int pacct_follow_resume(struct pacct_follow *f, const struct pacct_state *state,
			struct pacct_now now)
{
	int64_t since_ns = now.mono_ns - MAX(now.real_ns - state->saved_ns, 0);
	struct pacct_state *known = malloc(sizeof(*known));
	struct pacct_scan s = { 0 };
	int r;

	if (!known)
		return -ENOMEM;
	*known = *state;
	f->looked = now;
	r = scan(f, &s, known, state->saved_ns - SLACK_SAVED_NS);
	if (r >= 0 && lacks(&s, state))
		pacct_follow_gap(f, since_ns);
	for (unsigned int i = 0; i < s.n && r >= 0; i++)
		r = resume_one(f, &s.all[i], state, since_ns);
	pacct_scan_close(&s);
	free(known);
	bound(f, since_ns);
	return MIN(r, 0);
}
