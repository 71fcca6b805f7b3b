/* SPDX-License-Identifier: MIT */
/* Accounting files of any version, byte order and age. */
#include "lib/replay.h"

#include "base/util.h"

static bool is(const void *head, size_t len, bool whole)
{
	return pacct_probe(head, len, whole) > 0;
}

static int take_time(const struct pacct_exit *e, void *userdata)
{
	int64_t *first_ns = userdata;

	*first_ns = intake_pacct_end_ns(e);
	return 1; /* the first is enough */
}

static int64_t first_ns(const void *head, size_t len)
{
	struct pacct_stream s;
	int64_t ns = 0;

	pacct_stream_init(&s, 0, take_time, NULL, &ns);
	if (!pacct_stream_feed(&s, 0, head, len))
		pacct_stream_end(&s);
	return ns;
}

static int feed(struct exeunt *x, enum frame_kind kind, const void *data, size_t len)
{
	struct frame f = {
		.source = EXEUNT_SOURCE_PACCT,
		.kind = kind,
		.mono_ns = x->intake.mono_ns,
		.real_ns = x->intake.real_ns,
		.data = data,
		.len = len,
	};

	return intake_frame(&x->intake, &f);
}

static int replay(struct exeunt *x, struct input *in)
{
	const uint64_t begin = 0;
	const uint8_t *data;
	ssize_t n = input_peek(in, INPUT_PEEK_MAX, &data);
	int r;

	if (n < 0)
		return engine_fail(x, (int)n, "%s", input_error(in));
	replay_start(x, first_ns(data, (size_t)n), EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT));
	x->intake.name = input_name(in);
	r = feed(x, FRAME_FILE, &begin, sizeof(begin));
	while (r >= 0 && !x->stop_value && (n = replay_next(x, in, &data)) > 0) {
		x->status[EXEUNT_SOURCE_PACCT].bytes += (uint64_t)n;
		r = feed(x, FRAME_DATA, data, (size_t)n);
	}
	intake_pacct_end(&x->intake);
	intake_settle(&x->intake);
	x->intake.name = NULL;
	return r < 0 ? r : (int)MIN(n, (ssize_t)0);
}

const struct replay_format replay_pacct = { "an accounting file", is, first_ns, replay };
