/* SPDX-License-Identifier: MIT */
/*
 * Follows the accounting file at a path through whatever is done to it: renamed while the kernel
 * goes on writing to it, replaced, unlinked, cut off, copied, packed, grown beyond memory. Each
 * byte that the kernel wrote is handed on once, the older file first. Knows nothing of the kernel;
 * time is passed in.
 */
#ifndef SOURCE_PACCT_FOLLOW_H
#define SOURCE_PACCT_FOLLOW_H

#include "source/pacct_state.h"

struct pacct_follow;

struct pacct_now {
	int64_t mono_ns, real_ns;
};

enum pacct_step_kind {
	PACCT_STEP_NOTHING, /* everything that there was has been handed on */
	/* What comes next lies at `offset` of a file, and does not continue what came before. */
	PACCT_STEP_FILE,
	PACCT_STEP_BYTES, /* `data`, borrowed until the next call */
	PACCT_STEP_GAP,	  /* records may have been lost between `since_ns` and now */
};

struct pacct_step {
	enum pacct_step_kind kind;
	uint64_t offset;
	const unsigned char *data;
	size_t len;
	bool end;	  /* BYTES: there was no more when they were read */
	int64_t since_ns; /* CLOCK_MONOTONIC */
};

/*
 * `prefix`: how the names of all files begin that may be read in turn; NULL: that of the path.
 * Nothing is opened yet. Errors: -ENOMEM.
 */
int pacct_follow_new(struct pacct_follow **ret, const char *path, const char *prefix);
void pacct_follow_free(struct pacct_follow *f);

/*
 * Starts at the end of what there is. `written`: the name, in the same directory, of the file that
 * the kernel writes to although it no longer has the name of the path; NULL: that of the path. A
 * path that does not exist is waited for. Errors: -ENOMEM, those of open.
 */
int pacct_follow_begin(struct pacct_follow *f, const char *written, struct pacct_now now);

/*
 * Goes on where the state says, through all that was rotated meanwhile. Errors: -ENOMEM, those of
 * opendir and read.
 */
int pacct_follow_resume(struct pacct_follow *f, const struct pacct_state *s, struct pacct_now now);

/*
 * Looks whether the path still leads to the file that is read. Cheap if so; to be called every now
 * and then. Returns 1 if another file was found, else 0. Errors: -ENOMEM; others mean that the path
 * cannot be opened now.
 */
int pacct_follow_look(struct pacct_follow *f, struct pacct_now now);

/* The next step. Errors: -ENOMEM, those of read. */
int pacct_follow_next(struct pacct_follow *f, struct pacct_now now, struct pacct_step *step);

/* Of the bytes handed on last, so many at the end are not decided on yet. */
void pacct_follow_undecoded(struct pacct_follow *f, size_t bytes);

/* Fills in the positions, for pacct_follow_resume(). */
void pacct_follow_save(struct pacct_follow *f, struct pacct_state *s);

/*
 * From now on the file at this path in the same directory is the last; nothing is written to the
 * others any more.
 */
int pacct_follow_switch(struct pacct_follow *f, const char *path, struct pacct_now now);

/* How many files are held; more than one while an older one may still have something. */
unsigned int pacct_follow_files(const struct pacct_follow *f);

/*
 * True if the file of the path was begun and never had a byte, while an older one grows: nobody
 * told the kernel.
 */
bool pacct_follow_is_behind(const struct pacct_follow *f);

/*
 * A descriptor of the file that was last seen to grow, else of the path's, -1 if there is none; for
 * fstatvfs(2).
 */
int pacct_follow_fd(const struct pacct_follow *f);

/* Descriptors of the files that may grow, the youngest first, at most `n`; returns how many. */
unsigned int pacct_follow_fds(const struct pacct_follow *f, int *fds, unsigned int n);

/* Counts up when a file comes or goes. */
uint64_t pacct_follow_changes(const struct pacct_follow *f);

/* How many bytes of the file at the path were handed on. */
uint64_t pacct_follow_offset(const struct pacct_follow *f);

/* Makes the next step tell of a gap. */
void pacct_follow_gap(struct pacct_follow *f, int64_t since_ns);

const char *pacct_follow_path(const struct pacct_follow *f);

#endif
