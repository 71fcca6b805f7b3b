/* SPDX-License-Identifier: MIT */
/*
 * The accounting decoder with any bytes, in pieces that the input itself chooses: every byte is accounted for once, in
 * order, and what comes out does not depend on the pieces.
 */
#include <stdlib.h>

#include "base/util.h"
#include "decode/pacct_record.h"
#include "decode/pacct_stream.h"
#include "fuzz/fuzz.h"

/* A hash of all that came out, and how far it has come. */
struct told {
	uint64_t next, hash;
};

static void tell(struct told *t, uint64_t offset, uint64_t bytes, uint64_t what)
{
	if (offset != t->next || !bytes)
		abort();
	t->next = offset + bytes;
	t->hash = (t->hash ^ what ^ bytes << 32) * UINT64_C(0x9e3779b97f4a7c15);
}

static int on_exit_record(const struct pacct_exit *e, void *userdata)
{
	struct exeunt_record r;

	if (e->comm_len > 16 || e->format <= PACCT_NONE || e->format >= PACCT_FORMATS)
		abort();
	pacct_to_record(e, &r);
	/* A process ends in one way. */
	if (exeunt_has(&r, EXEUNT_F_EXIT_CODE) && exeunt_has(&r, EXEUNT_F_EXIT_SIGNAL))
		abort();
	if (exeunt_has(&r, EXEUNT_F_TTY) && (!r.tty.len || r.tty.len >= sizeof(e->tty_text)))
		abort();
	tell(userdata, e->offset, pacct_size(e->format), e->format + 1u + e->etime_us);
	return 0;
}

static void on_damage(uint64_t offset, uint64_t bytes, enum pacct_damage damage, void *userdata)
{
	tell(userdata, offset, bytes, UINT64_C(1) << 63 | (uint64_t)damage);
}

/* `step` 0: all at once. */
static struct told run(const uint8_t *data, size_t size, size_t step)
{
	struct told told = { 0, 0 };
	struct pacct_stream s;
	int r;

	pacct_stream_init(&s, 0, on_exit_record, on_damage, &told);
	for (size_t at = 0, n; at < size; at += n) {
		n = step ? MIN(1 + (data[at] * step + at) % 150, size - at) : size;
		if (pacct_stream_feed(&s, at, data + at, n) != 0)
			abort();
	}
	r = pacct_stream_end(&s);
	if (told.next != size || (r != 0) != (size && !s.records))
		abort();
	return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told whole = run(data, size, 0);

	for (size_t step = 1; step <= 3; step++)
		if (run(data, size, step).hash != whole.hash)
			abort();
	return 0;
}
