/* SPDX-License-Identifier: MIT */
/*
 * See pacct_follow.h. Owns the files, oldest first; what to do when one of them turns out to be
 * another is in pacct_turn.c.
 */
#include "source/pacct_follow_internal.h"

#include "base/util.h"

/*
 * An older file is let go when the next one is written to and nothing came in this one for so long:
 * an exit may have been writing to it while accounting was switched over.
 */
#define LINGER_NS (10 * NS_PER_SEC)

static char *copy_part(const char *text, size_t len)
{
	char *s = malloc(len + 1);

	if (s) {
		memcpy(s, text, len);
		s[len] = '\0';
	}
	return s;
}

int follow_set_path(struct pacct_follow *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *whole = copy_part(path, strlen(path));
	char *dir = !slash ? copy_part(".", 1)
			   : copy_part(path, slash == path ? 1 : (size_t)(slash - path));

	if (!whole || !dir) {
		free(whole);
		free(dir);
		return -ENOMEM;
	}
	free(f->path);
	free(f->dir);
	f->path = whole;
	f->dir = dir;
	f->name = slash ? whole + (slash - path) + 1 : whole;
	return 0;
}

int pacct_follow_new(struct pacct_follow **ret, const char *path, const char *prefix)
{
	struct pacct_follow *f = calloc(1, sizeof(*f));
	int r = f ? follow_set_path(f, path) : -ENOMEM;

	if (r >= 0) {
		f->prefix = copy_part(prefix ? prefix : f->name, strlen(prefix ? prefix : f->name));
		if (!f->prefix)
			r = -ENOMEM;
	}
	if (r < 0) {
		pacct_follow_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

static void free_file(struct pacct_file *file)
{
	pacct_file_close(file);
	free(file);
}

void pacct_follow_free(struct pacct_follow *f)
{
	if (!f)
		return;
	for (unsigned int i = 0; i < f->n; i++)
		free_file(f->files[i]);
	free(f->files);
	free(f->path);
	free(f->dir);
	free(f->prefix);
	free(f);
}

int follow_insert(struct pacct_follow *f, unsigned int at, struct pacct_file *file)
{
	if (f->n == f->size) {
		unsigned int size = f->size ? f->size * 2 : 4;
		struct pacct_file **grown = realloc(f->files, size * sizeof(struct pacct_file *));

		if (!grown)
			return -ENOMEM;
		f->files = grown;
		f->size = size;
	}
	memmove(f->files + at + 1, f->files + at, (f->n - at) * sizeof(struct pacct_file *));
	f->files[at] = file;
	f->n++;
	f->changes++;
	file->closed = file->gz != NULL;
	pacct_file_has_changed(file);
	return 0;
}

void follow_remember(struct pacct_follow *f, const struct pacct_position *p)
{
	if (!p->offset)
		return;
	if (f->n_done == FOLLOW_DONE) {
		memmove(f->done, f->done + 1, (FOLLOW_DONE - 1) * sizeof(f->done[0]));
		f->n_done--;
	}
	f->done[f->n_done] = *p;
	f->done[f->n_done++].done = true;
}

void follow_drop(struct pacct_follow *f, unsigned int at)
{
	struct pacct_file *file = f->files[at];
	struct pacct_position p;

	pacct_file_position(file, &p);
	follow_remember(f, &p);
	if (f->current == file)
		f->current = NULL;
	free_file(file);
	f->changes++;
	f->n--;
	memmove(f->files + at, f->files + at + 1, (f->n - at) * sizeof(struct pacct_file *));
}

void pacct_follow_gap(struct pacct_follow *f, int64_t since_ns)
{
	f->gap_since_ns = f->gap ? MIN(f->gap_since_ns, since_ns) : since_ns;
	f->gap = true;
}

void follow_leave(struct pacct_follow *f)
{
	if (f->current)
		f->current->undecoded = 0;
	f->current = NULL;
}

void pacct_follow_undecoded(struct pacct_follow *f, size_t bytes)
{
	if (f->current)
		f->current->undecoded = bytes;
}

void pacct_follow_save(struct pacct_follow *f, struct pacct_state *s)
{
	unsigned int room = f->n < PACCT_POSITIONS ? PACCT_POSITIONS - f->n : 0;
	unsigned int done = MIN(f->n_done, room);

	memcpy(s->positions, f->done + f->n_done - done, done * sizeof(s->positions[0]));
	s->n = done;
	for (unsigned int i = 0; i < f->n && s->n < PACCT_POSITIONS; i++) {
		struct pacct_file *file = f->files[i];

		pacct_file_position(file, &s->positions[s->n++]);
		/*
		 * What is in the place of a file that was cut off is all new; the rest of the old
		 * may be in a copy.
		 */
		if (file->undecoded && s->n < PACCT_POSITIONS && pacct_file_has_changed(file))
			pacct_file_position_anew(file, &s->positions[s->n++]);
	}
}

/* Is the older file at `i` done with? It was just seen to hold no more. */
static bool is_over(const struct pacct_follow *f, unsigned int i, int64_t now)
{
	const struct pacct_file *file = f->files[i], *next = f->files[i + 1];

	if (file == f->current && file->undecoded && !file->closed)
		return false;
	if (file->closed)
		return file != f->current || !file->undecoded;
	/*
	 * While the path's own file has nothing, the kernel was not told of it, and writes to the
	 * older.
	 */
	if (!next->grew_ns && i + 2 == f->n)
		return false;
	return now - MAX(file->grew_ns, next->grew_ns) > LINGER_NS;
}

static void hand_on(struct pacct_follow *f, struct pacct_file *file, struct pacct_step *step,
		    const unsigned char *data, size_t len, int64_t now)
{
	if (f->current != file) {
		follow_leave(f);
		f->current = file;
		step->kind = PACCT_STEP_FILE;
		step->offset = file->pos;
		return;
	}
	step->kind = PACCT_STEP_BYTES;
	step->offset = file->pos;
	step->data = data;
	step->len = len;
	step->end = f->n == 1 && len < PACCT_CHUNK && !file->gz;
	if (step->end)
		file->read_ns = now;
	pacct_file_advance(file, data, len);
	file->grew_ns = now;
}

int pacct_follow_next(struct pacct_follow *f, struct pacct_now now, struct pacct_step *step)
{
	*step = (struct pacct_step){ .kind = PACCT_STEP_NOTHING };
	for (unsigned int i = 0; i < f->n && !f->gap;) {
		struct pacct_file *file = f->files[i];
		const unsigned char *data;
		ssize_t n = pacct_file_peek(file, f->buffer, &data);

		if (n > 0) {
			hand_on(f, file, step, data, (size_t)n, now.mono_ns);
			return 0;
		}
		if (n == -ESTALE && f->current == file) {
			/* The decoder is to decide on what it holds before we look for the rest. */
			follow_leave(f);
			step->kind = PACCT_STEP_FILE;
			step->offset = file->pos;
			return 0;
		}
		if (n == -ESTALE) {
			int r = follow_cut_off(f, file, now);

			if (r < 0)
				return r;
			i = 0; /* what was cut off may have been found elsewhere */
			continue;
		}
		if (n == -EBADMSG) {
			pacct_follow_gap(f, file->read_ns);
			follow_drop(f, i);
			continue;
		}
		if (n < 0)
			return (int)n;
		file->read_ns = now.mono_ns;
		if (i + 1 < f->n && is_over(f, i, now.mono_ns))
			follow_drop(f, i);
		else
			i++;
	}
	if (f->gap) {
		f->gap = false;
		step->kind = PACCT_STEP_GAP;
		step->since_ns = f->gap_since_ns;
	}
	return 0;
}

unsigned int pacct_follow_files(const struct pacct_follow *f)
{
	return f->n;
}

bool pacct_follow_is_behind(const struct pacct_follow *f)
{
	const struct pacct_file *last = f->n ? f->files[f->n - 1] : NULL;

	return f->n > 1 && !last->pos && f->files[f->n - 2]->grew_ns > f->turned_ns;
}

int pacct_follow_fd(const struct pacct_follow *f)
{
	const struct pacct_file *best = f->n ? f->files[f->n - 1] : NULL;

	for (unsigned int i = 0; i < f->n; i++)
		if (!f->files[i]->gz && f->files[i]->grew_ns > best->grew_ns)
			best = f->files[i];
	return best ? best->fd : -1;
}

uint64_t pacct_follow_offset(const struct pacct_follow *f)
{
	return f->n ? f->files[f->n - 1]->pos : 0;
}

unsigned int pacct_follow_fds(const struct pacct_follow *f, int *fds, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = f->n; i-- && found < n;)
		if (!f->files[i]->closed)
			fds[found++] = f->files[i]->fd;
	return found;
}

uint64_t pacct_follow_changes(const struct pacct_follow *f)
{
	return f->changes;
}

const char *pacct_follow_path(const struct pacct_follow *f)
{
	return f->path;
}
