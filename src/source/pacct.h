/* SPDX-License-Identifier: MIT */
/*
 * What the engine does with the source of accounting records beyond what every source offers: it
 * tells how much of the bytes its decoder has not decided on, and has the position saved together
 * with a note of its own, so that after a crash it goes on behind the last record that was put out.
 *
 * The source makes children end, to see whether their records arrive. Each is announced by a
 * FRAME_SELFTEST, which holds for every source: those of open() with the first drain() or check(),
 * to be called before the other sources are read; later ones before their record is handed on.
 */
#ifndef SOURCE_PACCT_H
#define SOURCE_PACCT_H

#include "source/source.h"

#define PACCT_NOTE_MOST 400

/*
 * To be called after each FRAME_DATA: so many bytes at the end of what was handed on are still held
 * by the decoder. At a FRAME_FILE it has to decide on them.
 */
void pacct_source_undecoded(struct source *s, size_t bytes);

/*
 * Writes the position and a note to the state file, at once or not at all. To be called when what
 * was handed on is safe, and at the end after finish(). Errors: -ENOTSUP (there is no state file),
 * -EINVAL (the note is longer than PACCT_NOTE_MOST), those of open, write and rename; the state
 * before is then untouched.
 */
int pacct_source_save(struct source *s, const char *note);

/*
 * Remembers the position, to be saved when what was handed on up to here is safe. Each mark takes the place of the one before.
 * Errors: -ENOTSUP (there is no state file), -ENOMEM; for save_mark() -ENOENT (there is no mark), and those of save().
 */
int pacct_source_mark(struct source *s);
int pacct_source_save_mark(struct source *s);

/* The note that open() found in the state file; "" if there was none. */
const char *pacct_source_note(const struct source *s);

/* The path that is followed. */
const char *pacct_source_path(const struct source *s);

#endif
