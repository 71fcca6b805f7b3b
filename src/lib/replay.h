/* SPDX-License-Identifier: MIT */
/* The inside of replaying, for the files of lib/ that make it up: one for each kind of file. */
#ifndef LIB_REPLAY_H
#define LIB_REPLAY_H

#include "base/input.h"
#include "lib/engine.h"
#include "store/directory.h"

struct replay_format {
	const char *name;
	/* `whole`: there is no more than `len` bytes. */
	bool (*is)(const void *head, size_t len, bool whole);
	/*
	 * When the first thing in it happened, ns since 1970, to put several files in order; 0: it
	 * does not say.
	 */
	int64_t (*first_ns)(const void *head, size_t len);
	/* Returns 0, or an error that was told with engine_fail(). */
	int (*replay)(struct exeunt *x, struct input *in);
};

extern const struct replay_format replay_capture, replay_pacct, replay_audit, replay_store;

/*
 * The files that `paths` stand for, to be freed by the caller. Returns 0, or the error of the first path that cannot be read,
 * which was told: the others are there all the same; -ENOMEM: none is.
 */
int replay_paths(struct exeunt *x, struct store_names *ret, const char *const *paths, size_t n);

/* The start record, once; the time is that of the file. Sources: those that the file is of. */
void replay_start(struct exeunt *x, int64_t started_ns, uint32_t sources);

/*
 * Who was who, by what the file tells alone. untimed: times in the table are real ones, else those
 * of a capture's boot. What a file before brought is kept if it went by the same clock. Errors were
 * told.
 */
int replay_context(struct exeunt *x, bool untimed, bool same_boot);

/* The next chunk, signals left out. Returns its size, 0 at the end, or an error that was told. */
ssize_t replay_next(struct exeunt *x, struct input *in, const uint8_t **data);

#endif
