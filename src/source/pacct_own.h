/* SPDX-License-Identifier: MIT */
/*
 * Accounting switched on by us, to files of our own: two in a directory, used in turn so that
 * neither grows without bound. What was found is put back at the end; what a crash left is found
 * again. Knows nothing of reading.
 */
#ifndef SOURCE_PACCT_OWN_H
#define SOURCE_PACCT_OWN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define PACCT_OWN_DIR "/run/exeunt"
#define PACCT_OWN_PREFIX "pacct-"
#define PACCT_OWN_BOUND ((uint64_t)64 << 20)

struct pacct_own {
	char dir[PATH_MAX - 32];
	char paths[2][PATH_MAX];
	int active; /* what the kernel writes to */
	int lock_fd;
	bool on; /* the kernel writes there because of us */
	uint64_t bound;
	uint64_t try_at;      /* no switch before the file is that large */
	char found[PATH_MAX]; /* whose accounting we took, "": nobody's */
	bool spare_is_free;   /* all of the other file is read, and that is saved */
};

/*
 * Is accounting possible here? 0, or -ENOSYS (the kernel has none), -EPERM (no CAP_SYS_PACCT, or
 * not in the initial user namespace).
 */
int pacct_own_possible(void);

/*
 * Makes the directory and the files, and takes the lock. `dir` NULL: PACCT_OWN_DIR; bound 0:
 * PACCT_OWN_BOUND. Errors: -EBUSY (another exeunt has it), those of mkdir and open.
 */
int pacct_own_new(struct pacct_own **ret, const char *dir, uint64_t bound);

/* Closes; the accounting goes on if pacct_own_off() was not called. */
void pacct_own_free(struct pacct_own *o);

/* The file by that path is ours: its index, else -1. */
int pacct_own_index(const struct pacct_own *o, const char *path);

/*
 * Switches accounting to our file. `found`: the file of whoever had it, to be put back; NULL:
 * nobody had. Errors: those of acct(2).
 */
int pacct_own_on(struct pacct_own *o, const char *found);

/* A run before us left accounting on, to the file of that index. */
void pacct_own_adopt(struct pacct_own *o, int index);

/* The active file holds `size` bytes: is it time to switch, and can we? */
bool pacct_own_is_full(const struct pacct_own *o, uint64_t size);

/*
 * Empties the other file and switches to it. When this returns, the kernel writes nothing more to
 * the old one: each exit holds a lock while it writes, which the switch takes. Errors: those of
 * truncate and acct; then nothing changed.
 */
int pacct_own_switch(struct pacct_own *o);

/* Gives the space of the file that is not active back. */
void pacct_own_empty_spare(struct pacct_own *o);

/*
 * Puts back what was found. Returns 0, or an error of acct(2) if that failed and accounting is off
 * instead.
 */
int pacct_own_off(struct pacct_own *o);

/* After pacct_own_off(), when all was read and saved. */
void pacct_own_empty(struct pacct_own *o);

#endif
