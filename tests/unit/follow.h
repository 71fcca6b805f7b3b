/* SPDX-License-Identifier: MIT */
/*
 * What the tests of following an accounting file share: a writer that does to files what the kernel
 * and log rotation do, with a clock of its own that also sets the files' times, and a reader that
 * notes which records it was handed. The n-th record written has the pid n.
 */
#ifndef UNIT_FOLLOW_H
#define UNIT_FOLLOW_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/util.h"
#include "helpers/mkpacct.h"
#include "source/pacct_follow.h"

#define RECORD ((size_t)64)
#define MOST_RECORDS 200000

struct world {
	char dir[64];
	struct pacct_now now;
	int kernel; /* what the kernel writes to */
	uint32_t written;
	struct pacct_follow *f;
	/* the reader */
	unsigned char held[1024]; /* as a decoder does: bytes not decided on */
	size_t n_held;
	size_t keep_back; /* how many bytes the decoder likes to hold */
	bool torn;	  /* a file may end within a record */
	uint32_t *got;
	uint32_t n_got, n_gaps, n_files;
	int64_t gap_since_ns;
	uint64_t last_offset;
	uint64_t seed; /* of a test at random, for its message */
	/* what was saved */
	struct pacct_state saved;
	uint32_t got_when_saved;
};

static inline const char *in(const struct world *w, const char *name)
{
	static char paths[4][384];
	static unsigned int next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof(paths[0]), "%s/%s", w->dir, name);
	return p;
}

static inline void pass(struct world *w, int64_t ns)
{
	w->now.mono_ns += ns;
	w->now.real_ns += ns;
}

static inline void stamp_fd(const struct world *w, int fd)
{
	struct timespec t = { w->now.real_ns / NS_PER_SEC, w->now.real_ns % NS_PER_SEC };
	struct timespec times[2] = { t, t };

	assert_int_equal(futimens(fd, times), 0);
}

static inline struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->dir, "/tmp/exeunt-follow.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->now = (struct pacct_now){ 1000 * NS_PER_SEC, INT64_C(1700000000) * NS_PER_SEC };
	w->got = calloc(MOST_RECORDS, sizeof(*w->got));
	w->kernel = -1;
	return w;
}

static inline void world_free(struct world *w)
{
	DIR *d = opendir(w->dir);
	struct dirent *e;

	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			unlink(in(w, e->d_name));
	closedir(d);
	rmdir(w->dir);
	close_fd(w->kernel);
	pacct_follow_free(w->f);
	free(w->got);
	free(w);
}

/* creat(2), as log rotation does */
static inline void create(struct world *w, const char *name)
{
	int fd = open(in(w, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	stamp_fd(w, fd);
	close(fd);
}

/* acct(2): from now on the kernel writes there */
static inline void accton(struct world *w, const char *name)
{
	close_fd(w->kernel);
	w->kernel = open(in(w, name), O_WRONLY | O_APPEND);
	assert_true(w->kernel >= 0);
}

static inline void write_to(struct world *w, int fd, unsigned int n)
{
	while (n--) {
		struct mk_exit x = { .pid = ++w->written,
				     .ppid = 1,
				     .mem = 1000,
				     .btime = (uint32_t)(w->now.real_ns / NS_PER_SEC),
				     .comm = "true" };
		unsigned char record[RECORD];

		mk_record(record, &x, MK_V3_LE);
		assert_int_equal(write(fd, record, RECORD), RECORD);
	}
	stamp_fd(w, fd);
}

static inline void write_records(struct world *w, unsigned int n)
{
	write_to(w, w->kernel, n);
}

static inline void copy_file(struct world *w, const char *from, const char *to)
{
	int in_fd = open(in(w, from), O_RDONLY),
	    out = open(in(w, to), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char buf[8192];
	ssize_t n;

	assert_true(in_fd >= 0 && out >= 0);
	while ((n = read(in_fd, buf, sizeof(buf))) > 0)
		assert_int_equal(write(out, buf, (size_t)n), n);
	stamp_fd(w, out);
	close(in_fd);
	close(out);
}

/* gzip(1): keeps the time, removes the file */
static inline void pack(struct world *w, const char *name)
{
	char to[64], buf[8192];
	int in_fd = open(in(w, name), O_RDONLY);
	struct timespec times[2];
	struct stat st;
	ssize_t n;
	gzFile gz;

	snprintf(to, sizeof(to), "%s.gz", name);
	gz = gzopen(in(w, to), "wb");
	assert_true(in_fd >= 0 && gz);
	while ((n = read(in_fd, buf, sizeof(buf))) > 0)
		assert_int_equal(gzwrite(gz, buf, (unsigned int)n), n);
	assert_int_equal(gzclose(gz), Z_OK);
	assert_int_equal(fstat(in_fd, &st), 0);
	times[0] = times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, in(w, to), times, 0), 0);
	close(in_fd);
	unlink(in(w, name));
}

static inline void move(struct world *w, const char *from, const char *to)
{
	assert_int_equal(rename(in(w, from), in(w, to)), 0);
}

/* Takes what is whole and decided on. */
static inline void decide(struct world *w, size_t keep)
{
	size_t at = 0;

	while (w->n_held - at >= RECORD && w->n_held - at - RECORD >= keep) {
		assert_int_equal(w->held[at + 1], 3);
		assert_true(w->n_got < MOST_RECORDS);
		w->got[w->n_got++] = load_u32(w->held + at + 16);
		at += RECORD;
	}
	memmove(w->held, w->held + at, w->n_held - at);
	w->n_held -= at;
}

/* Like a decoder: pieces of any size, and some of it is held back. */
static inline void take_bytes(struct world *w, const unsigned char *data, size_t len)
{
	while (len) {
		size_t n = MIN(len, sizeof(w->held) - w->n_held);

		memcpy(w->held + w->n_held, data, n);
		w->n_held += n;
		data += n;
		len -= n;
		decide(w, w->keep_back);
	}
	pacct_follow_undecoded(w->f, w->n_held);
}

static inline bool read_one(struct world *w)
{
	struct pacct_step step;

	assert_int_equal(pacct_follow_next(w->f, w->now, &step), 0);
	switch (step.kind) {
	case PACCT_STEP_NOTHING:
		return false;
	case PACCT_STEP_FILE:
		decide(w, 0);
		if (!w->torn)
			assert_int_equal(w->n_held, 0);
		w->n_held = 0;
		w->last_offset = step.offset;
		w->n_files++;
		break;
	case PACCT_STEP_BYTES:
		assert_true(step.len > 0 && step.len <= PACCT_CHUNK);
		assert_int_equal(step.offset, w->last_offset);
		w->last_offset += step.len;
		take_bytes(w, step.data, step.len);
		/* Then asking again gives nothing, which the source does not do. */
		if (step.end)
			assert_false(read_one(w));
		break;
	case PACCT_STEP_GAP:
		w->n_gaps++;
		w->gap_since_ns = step.since_ns;
		break;
	}
	return true;
}

static inline void read_all(struct world *w)
{
	while (read_one(w))
		;
}

/* As the source does at its ticks. */
static inline void tick(struct world *w)
{
	read_all(w);
	assert_true(pacct_follow_look(w->f, w->now) >= 0);
	read_all(w);
	pass(w, 250 * NS_PER_MSEC);
}

static inline void begin(struct world *w)
{
	assert_int_equal(pacct_follow_new(&w->f, in(w, "pacct"), NULL), 0);
	assert_int_equal(pacct_follow_begin(w->f, NULL, w->now), 0);
}

static inline void save(struct world *w)
{
	w->saved.saved_ns = w->now.real_ns;
	assert_true(pacct_follow_look(w->f, w->now) >= 0);
	pacct_follow_save(w->f, &w->saved);
	w->got_when_saved = w->n_got;
}

/* kill -9: what was read since the last save is forgotten */
static inline void crash(struct world *w)
{
	pacct_follow_free(w->f);
	w->f = NULL;
	w->n_held = 0;
	w->n_got = w->got_when_saved;
}

/* Goes through the text, as a restart does. */
static inline void restart(struct world *w)
{
	static char text[PACCT_STATE_MOST];
	static struct pacct_state s;
	size_t len = pacct_state_format(text, &w->saved);

	assert_int_equal(pacct_state_parse(&s, text, len), 0);
	assert_int_equal(pacct_follow_new(&w->f, in(w, "pacct"), NULL), 0);
	assert_int_equal(pacct_follow_resume(w->f, &s, w->now), 0);
}

/* An empty file that the kernel writes to, and is followed. */
static inline struct world *start(void)
{
	struct world *w = world_new();

	create(w, "pacct");
	accton(w, "pacct");
	begin(w);
	return w;
}

/* As log rotation does, with the kernel told. */
static inline void rotate(struct world *w, const char *to)
{
	move(w, "pacct", to);
	create(w, "pacct");
	accton(w, "pacct");
	pass(w, NS_PER_SEC);
}

/* Every record from `first` on came once. */
static inline void expect_all(const struct world *w, uint32_t first)
{
	unsigned char *seen = calloc(1, w->written + 1);

	for (uint32_t i = 0; i < w->n_got; i++) {
		assert_in_range(w->got[i], 1, w->written);
		if (seen[w->got[i]]++)
			fail_msg("record %u came twice (seed %llu)", w->got[i],
				 (unsigned long long)w->seed);
	}
	for (uint32_t n = first; n <= w->written; n++)
		if (!seen[n])
			fail_msg("record %u of %u never came (seed %llu)", n, w->written,
				 (unsigned long long)w->seed);
	assert_int_equal(w->n_got, w->written - first + 1);
	free(seen);
}

#endif
