/* SPDX-License-Identifier: MIT */
/*
 * The capture format: frames as the sources saw them, in a file, with what is needed to replay them elsewhere.
 *
 *	"EXEUNT CAPTURE 1\n", lines "key value\n", an empty line, then frames:
 *	u32 magic, u32 length of data, u8 kind, u8 source, u16 zero, i32 channel, i64 mono, i64 real, i64 since, data
 *
 * All little-endian; the data is as the kernel gave it, so the key byte_order tells whether it can be read here.
 * Pure: bytes in, frames out, and back. Times are nanoseconds.
 */
#ifndef DECODE_CAPTURE_H
#define DECODE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/frame.h"

#define CAPTURE_MAGIC "EXEUNT CAPTURE "
#define CAPTURE_FRAME_HEADER 40
#define CAPTURE_DATA_MOST (1u << 20)
#define CAPTURE_INFO_MOST 4096

struct capture_info {
	char host[256];
	char boot_id[64];
	char kernel[128];
	bool delay_accounting;
	uint32_t sources;   /* mask of those that were open */
	int64_t started_ns; /* CLOCK_REALTIME */
};

/* Writes the head to `buf` of CAPTURE_INFO_MOST bytes; returns its length. */
size_t capture_write_info(char *buf, const struct capture_info *info);

/* Writes the header of a frame; its data follows. */
void capture_write_frame(unsigned char buf[CAPTURE_FRAME_HEADER], const struct frame *f);

/* True if the file begins like a capture. */
bool capture_is(const void *data, size_t len);

/*
 * Reads the head. Returns 1 and sets *used; 0 when more bytes are needed; -EBADMSG; -EPROTONOSUPPORT for a version or
 * byte order that cannot be read here.
 */
int capture_read_info(const void *data, size_t len, struct capture_info *info, size_t *used);

/*
 * Reads the frame at the start of `data`, whose bytes *f then borrows. Returns 1 and sets *used; 0 when more bytes are
 * needed; -EBADMSG for damage, *used then being how many bytes lie before the next frame or the end.
 */
int capture_read_frame(const void *data, size_t len, struct frame *f, size_t *used);

#endif
