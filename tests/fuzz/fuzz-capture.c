/* SPDX-License-Identifier: MIT */
/*
 * Fuzz harness of the capture format. Checked: reading ends, never takes a byte that is not there, and what is read
 * and written again is read the same.
 */
#include "base/util.h"
#include "decode/capture.h"
#include "fuzz/fuzz.h"

static void write_again(const struct frame *f)
{
	unsigned char *copy = malloc(CAPTURE_FRAME_HEADER + f->len);
	struct frame again;
	size_t used;

	capture_write_frame(copy, f);
	memcpy(copy + CAPTURE_FRAME_HEADER, f->data, f->len);
	if (capture_read_frame(copy, CAPTURE_FRAME_HEADER + f->len, &again, &used) != 1)
		abort();
	if (again.kind != f->kind || again.source != f->source || again.channel != f->channel ||
	    again.mono_ns != f->mono_ns || again.real_ns != f->real_ns ||
	    again.since_ns != f->since_ns || again.len != f->len)
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture_info info;
	struct frame f;
	size_t used = 0;

	if (capture_read_info(data, size, &info, &used) == 1) {
		data += used;
		size -= used;
	}
	while (size) {
		int r = capture_read_frame(data, size, &f, &used);

		if (!r)
			break;
		if (!used || used > size)
			abort();
		if (r > 0)
			write_again(&f);
		data += used;
		size -= used;
	}
	return 0;
}
