/* SPDX-License-Identifier: MIT */
/*
 * Bytes from a file, a pipe or standard input, from front to back, for replay: plain or gzip, told by content. A file may
 * be larger than memory: one chunk is held, never more, and nothing is mapped. What is good in front of damage is
 * delivered before the damage is told. Blocks; prints nothing.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input;

/* As many bytes can always be peeked at. */
#define INPUT_PEEK_MAX ((size_t)64 * 1024)

/* "-" is standard input. Errors: -errno of open(2); -EISDIR; -ENOMEM. Nothing is read yet. */
int input_open(struct input **ret, const char *path);

/* NULL is accepted. Standard input stays open. */
void input_close(struct input *in);

/*
 * Shows the bytes to come without taking them: at least `n` (no more than INPUT_PEEK_MAX), fewer only before the end or
 * before damage. Returns how many *data has; 0 at the end; or as input_next(). Valid until the next call.
 */
ssize_t input_peek(struct input *in, size_t n, const uint8_t **data);

/*
 * Takes the next chunk, as large as is at hand: of a pipe, what it has. Returns its size; 0 at the end; -EINTR if a
 * signal came first, and it may be called again; -EBADMSG when compressed data is damaged or cut off; -errno of read(2).
 * The last two stay. *data is valid until the next call.
 */
ssize_t input_next(struct input *in, const uint8_t **data);

/* Where the next chunk begins, in bytes of content: behind decompression. */
uint64_t input_offset(const struct input *in);

/* Whether it is gzip; known after the first peek or chunk. */
bool input_is_compressed(const struct input *in);

/* For messages: the path, or "standard input". */
const char *input_name(const struct input *in);

/* What went wrong, naming the file and the byte; "" if nothing did. */
const char *input_error(const struct input *in);

static inline void cleanup_input(struct input **in)
{
	input_close(*in);
}

#define _cleanup_input_ __attribute__((cleanup(cleanup_input)))

#endif
