/* SPDX-License-Identifier: MIT */
/* See pacct_scan.h. */
#include "source/pacct_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>

#include "base/util.h"

#define SMALLEST 62 /* bytes of a record, at least */

static int add(struct pacct_scan *s, int dir_fd, const char *name, bool is_path)
{
	struct pacct_candidate *c;
	struct pacct_file *file;
	int r;

	if (s->n == PACCT_SCAN_MOST)
		return 0;
	if (s->n == s->size) {
		unsigned int size = s->size ? s->size * 2 : 16;

		c = realloc(s->all, size * sizeof(*c));
		if (!c)
			return -ENOMEM;
		s->all = c;
		s->size = size;
	}
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	r = pacct_file_open(file, dir_fd, name);
	if (r < 0) {
		free(file);
		return r == -ENOMEM ? r : 0;
	}
	c = &s->all[s->n++];
	*c = (struct pacct_candidate){ .file = file, .is_path = is_path };
	snprintf(c->name, sizeof(c->name), "%s", name);
	return 0;
}

/* pacct.1, pacct-20260101.gz, pacct.0; not pacctx */
static bool is_sibling(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) != 0)
		return false;
	return !isalpha((unsigned char)name[len]) ||
	       (len && !isalnum((unsigned char)prefix[len - 1]));
}

int pacct_scan_open(struct pacct_scan *s, const char *dir, const char *name, const char *prefix)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int r = 0;

	*s = (struct pacct_scan){ 0 };
	if (!d)
		return -errno;
	while (r >= 0 && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && is_sibling(entry->d_name, prefix))
			r = add(s, dirfd(d), entry->d_name, !strcmp(entry->d_name, name));
	closedir(d);
	if (r < 0)
		pacct_scan_close(s);
	return r;
}

void pacct_scan_close(struct pacct_scan *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		if (!s->all[i].file)
			continue;
		pacct_file_close(s->all[i].file);
		free(s->all[i].file);
	}
	free(s->all);
	*s = (struct pacct_scan){ 0 };
}

/* The digest of the first record, 0 if there is none. */
static uint64_t read_head(struct pacct_file *f)
{
	uint64_t head = 0;

	if (!pacct_file_seek(f, PACCT_MARK))
		head = pacct_digest(f->first, PACCT_MARK);
	pacct_file_restart(f);
	return head;
}

/*
 * Of the positions that lie in this file the furthest: one may be that of a file of which this is a
 * copy, or a longer one. Its inode does not matter, for it may be used again.
 */
static int match_known(struct pacct_candidate *c, const struct pacct_position *p, unsigned int n)
{
	uint64_t head = read_head(c->file);
	int r = 0;

	for (unsigned int k = 0; k < n && r >= 0; k++) {
		if ((!p[k].offset || p[k].offset >= PACCT_MARK) && p[k].head != head)
			continue;
		if (c->found == PACCT_FOUND_KNOWN && p[k].offset <= p[c->match].offset)
			continue;
		r = pacct_file_resume(c->file, &p[k]);
		if (r > 0) {
			c->found = PACCT_FOUND_KNOWN;
			c->match = k;
		} else if (!r && !c->found && pacct_file_is_shorter(c->file, &p[k])) {
			c->found = PACCT_FOUND_SHORTER;
			c->match = k;
		}
	}
	if (r >= 0 && c->found == PACCT_FOUND_KNOWN)
		r = pacct_file_resume(c->file, &p[c->match]);
	return MIN(r, 0);
}

/*
 * Which of two files with the same beginning is to be read: the very one, else one that is not
 * packed, else the longer.
 */
static bool is_better(const struct pacct_candidate *a, const struct pacct_candidate *b,
		      const struct pacct_position *p)
{
	bool a_same = a->file->ino == p[a->match].ino, b_same = b->file->ino == p[b->match].ino;

	if (a->found != b->found)
		return a->found == PACCT_FOUND_KNOWN;
	if (a_same != b_same)
		return a_same;
	if (!a->file->gz != !b->file->gz)
		return !a->file->gz;
	return a->file->size > b->file->size;
}

static bool is_known(const struct pacct_candidate *c)
{
	return c->found == PACCT_FOUND_KNOWN || c->found == PACCT_FOUND_SHORTER;
}

static void leave_out_copies(struct pacct_scan *s, const struct pacct_position *p)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct pacct_candidate *c = &s->all[i];

		for (unsigned int k = 0; k < s->n && is_known(c) && !c->is_path; k++) {
			const struct pacct_candidate *other = &s->all[k];

			if (k != i && is_known(other) && p[c->match].head == p[other->match].head &&
			    (is_better(other, c, p) || (k < i && !is_better(c, other, p))))
				c->found = PACCT_FOUND_COPY;
		}
		if (c->found == PACCT_FOUND_SHORTER && !c->is_path)
			c->found = PACCT_FOUND_COPY;
	}
}

/* An empty file may yet be written to; what is there must look like a record. */
static bool may_be_accounting(struct pacct_file *f)
{
	bool yes;

	if (!f->size)
		return true;
	yes = !pacct_file_seek(f, SMALLEST) && (f->first[1] & 0x7f) <= 3;
	pacct_file_restart(f);
	return yes;
}

/*
 * The same file twice, as while it is being packed: the better of the two, NULL if they are not the
 * same.
 */
static struct pacct_candidate *better(struct pacct_candidate *a, struct pacct_candidate *b)
{
	bool same = !pacct_file_seek(a->file, PACCT_MARK) &&
		    !pacct_file_seek(b->file, PACCT_MARK) &&
		    !memcmp(a->file->first, b->file->first, PACCT_MARK);

	pacct_file_restart(a->file);
	pacct_file_restart(b->file);
	if (!same)
		return NULL;
	if (a->is_path != b->is_path)
		return a->is_path ? a : b;
	if (!a->file->gz != !b->file->gz)
		return a->file->gz ? b : a;
	return a->file->size >= b->file->size ? a : b;
}

static void find_new(struct pacct_scan *s, int64_t newer_ns)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct pacct_candidate *c = &s->all[i], *best = c;

		if (c->found || c->file->mtime_ns <= newer_ns ||
		    (!c->is_path && !may_be_accounting(c->file)))
			continue;
		for (unsigned int k = 0; k < i && best == c; k++) {
			if (s->all[k].found != PACCT_FOUND_NEW)
				continue;
			best = better(c, &s->all[k]);
			if (best == c)
				s->all[k].found = PACCT_FOUND_COPY;
			else if (!best)
				best = c;
		}
		c->found = best == c ? PACCT_FOUND_NEW : PACCT_FOUND_COPY;
	}
}

/* The number at the end of a name such as pacct.12 or pacct.12.gz; -1: none, or a date. */
static int generation(const char *name)
{
	const char *dot = strchr(name, '.');
	char *end;
	long n;

	if (!dot || !isdigit((unsigned char)dot[1]))
		return -1;
	n = strtol(dot + 1, &end, 10);
	return n < 1000 && (!*end || *end == '.') ? (int)n : -1;
}

/*
 * The one last written to is the youngest; clocks tick in milliseconds, and so names decide between
 * equals.
 */
static int by_age(const void *x, const void *y)
{
	const struct pacct_candidate *a = x, *b = y;
	int n = generation(a->name), m = generation(b->name);

	if (a->is_path != b->is_path)
		return a->is_path ? 1 : -1;
	if (a->file->mtime_ns != b->file->mtime_ns)
		return a->file->mtime_ns < b->file->mtime_ns ? -1 : 1;
	if (n >= 0 && m >= 0 && n != m)
		return n > m ? -1 : 1;
	return strcmp(a->name, b->name);
}

int pacct_scan_match(struct pacct_scan *s, const struct pacct_position *p, unsigned int n,
		     int64_t newer_ns)
{
	int r = 0;

	for (unsigned int i = 0; i < s->n && r >= 0; i++)
		r = match_known(&s->all[i], p, n);
	if (r < 0)
		return r;
	leave_out_copies(s, p);
	find_new(s, newer_ns);
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), by_age);
	return 0;
}
