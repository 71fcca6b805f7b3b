/* SPDX-License-Identifier: MIT */
/*
 * One accounting file that is read while it may grow, be cut off, or be replaced under the same
 * name: where we are in it, and by what it is known again. An inode number is not enough for that,
 * since it is used again; so a position carries digests of the first bytes of the file and of the
 * last before the position. Also reads gzip, forward only.
 */
#ifndef SOURCE_PACCT_FILE_H
#define SOURCE_PACCT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <zlib.h>

#define PACCT_MARK ((size_t)64)		 /* bytes that a digest is of, at most: one record */
#define PACCT_KEPT ((size_t)512)	 /* bytes in front of where we are that are remembered */
#define PACCT_CHUNK ((size_t)256 * 1024) /* bytes handed on at once, at most */

/* Where somebody was in a file, and how the file is known again. */
struct pacct_position {
	uint64_t dev, ino;
	uint64_t offset;
	/*
	 * Digests of the first and last MIN(offset, PACCT_MARK) bytes before `offset`. For offset 0
	 * `head` is that of the first PACCT_MARK bytes, which are still to be read, and 0 if there
	 * were not so many.
	 */
	uint64_t head, tail;
	bool done; /* read to its end, and another was begun: no more is expected */
};

struct pacct_file {
	int fd;
	gzFile gz; /* NULL: plain */
	uint64_t dev, ino, size;
	int64_t mtime_ns;
	uint64_t pos; /* bytes handed on */
	/* While pos is 0: the digest of the first record, 0 if it was not there yet. */
	uint64_t head;
	uint64_t undecoded; /* how many of them the decoder still holds */
	int64_t read_ns;    /* when it was last seen to hold no more */
	int64_t grew_ns;    /* when it last did hold more; 0: never */
	bool closed;	    /* nobody writes to it any more */
	size_t n_first, n_kept;
	unsigned char first[PACCT_MARK];
	unsigned char kept[PACCT_KEPT]; /* the bytes in front of `pos` */
};

/*
 * Opens a regular file, plain or gzip by its content, at position 0. Errors: those of openat(2),
 * -EISDIR, -EINVAL (a device, a pipe).
 */
int pacct_file_open(struct pacct_file *f, int dir_fd, const char *name);
void pacct_file_close(struct pacct_file *f);

/*
 * Moves to a position that nothing is known about. Errors: -ENODATA (the file is shorter), those of
 * read.
 */
int pacct_file_seek(struct pacct_file *f, uint64_t pos);

/*
 * Moves to `p` if this file is, up to there, the one that it was taken from or a copy of it.
 * Returns 1; 0 if it is not or nothing can be known of it, the position then being 0 again; or a
 * negative errno.
 */
int pacct_file_resume(struct pacct_file *f, const struct pacct_position *p);

/* True if it begins as the file of `p` does, and holds less: a shorter copy. */
bool pacct_file_is_shorter(struct pacct_file *f, const struct pacct_position *p);

/*
 * Looks at what lies at the position: *data and the returned length, 0 if there is no more. `buf`
 * has PACCT_MARK + PACCT_CHUNK bytes. Errors: -ESTALE (what was read before is no longer there: the
 * file was cut off or rewritten), -EBADMSG (damaged gzip), those of read.
 */
ssize_t pacct_file_peek(struct pacct_file *f, unsigned char *buf, const unsigned char **data);

/* The bytes that peek gave have been handed on. */
void pacct_file_advance(struct pacct_file *f, const unsigned char *data, size_t len);

/* Back to the beginning, as a new file. */
void pacct_file_restart(struct pacct_file *f);

/*
 * What was there in front of the position, or at the start while nothing was handed on, is so no
 * more.
 */
bool pacct_file_has_changed(struct pacct_file *f);

/* The position behind the last byte that the decoder has decided on. */
void pacct_file_position(struct pacct_file *f, struct pacct_position *p);

/* The position at the start of what the file holds now. */
void pacct_file_position_anew(const struct pacct_file *f, struct pacct_position *p);

/* True if both begin with the same record; `b` is at its start, and stays there. */
bool pacct_file_is_like(const struct pacct_file *a, struct pacct_file *b);

/* How many bytes from the start two files have in common, at most `most`. */
uint64_t pacct_file_common(const struct pacct_file *a, const struct pacct_file *b, uint64_t most);

uint64_t pacct_digest(const unsigned char *data, size_t len);

#endif
