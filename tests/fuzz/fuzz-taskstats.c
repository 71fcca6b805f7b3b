/* SPDX-License-Identifier: MIT */
/*
 * Fuzz harness of the taskstats decoder and of what is behind it: the input is a row of datagrams, each behind a byte
 * of time and two of length, that go through decoder, ledger and joiner. Checked: the decoder says how far it got,
 * names are terminated, and each exit record is about a process and tells how it ended.
 */
#include "base/util.h"
#include "fuzz/fuzz.h"
#include "lib/intake.h"

static uint64_t exits;

static void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	if (r->pid <= 0 || memchr(r->comm, 0, sizeof(r->comm)) == NULL)
		abort();
	if (!exeunt_has(r, EXEUNT_F_EXIT_CODE) && !exeunt_has(r, EXEUNT_F_EXIT_SIGNAL))
		abort();
	exits += r->type == EXEUNT_TYPE_EXIT;
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)userdata;
	if (!loss->count)
		abort();
}

static void feed(struct intake *in, const uint8_t *data, size_t size)
{
	struct frame f = { .source = EXEUNT_SOURCE_TASKSTATS,
			   .kind = FRAME_DATA,
			   .mono_ns = NS_PER_SEC };

	while (size > 3) {
		size_t len = MIN((size_t)load_u16(data + 1), size - 3);
		uint8_t *copy = malloc(
			len + 1); /* of its own, so that a sanitizer sees a read past the end */

		memcpy(copy, data + 3, len);
		f.channel = data[0] & 3;
		f.since_ns = f.mono_ns;
		f.mono_ns += data[0] * NS_PER_MSEC;
		f.real_ns = f.mono_ns;
		f.data = copy;
		f.len = len;
		if (intake_frame(in, &f) < 0)
			abort();
		free(copy);
		if (data[0] & 0x40)
			join_horizon(in->joiner, EXEUNT_SOURCE_TASKSTATS, f.mono_ns);
		data += 3 + len;
		size -= 3 + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct join_options o = { .table_entries = 8, .threads = true, .emit = on_emit };
	struct intake in = { 0 };

	exits = 0;
	if (ledger_new(&in.ledger, on_loss, NULL))
		return 0;
	o.ledger = in.ledger;
	if (join_new(&in.joiner, &o) == 0) {
		feed(&in, data, size);
		join_flush(in.joiner);
		intake_settle(&in);
		if (exits != ledger_balance(in.ledger)->exits)
			abort();
	}
	join_free(in.joiner);
	ledger_free(in.ledger);
	return 0;
}
