/* SPDX-License-Identifier: MIT */
/*
 * Captures: frames of a live run, which go in by the same door again. Damage costs what is damaged: it is told with its
 * offset, counted as a loss, and reading goes on behind it.
 */
#include "lib/replay.h"

#include "base/util.h"

/* Names of users and groups are those of the host that the file is from; elsewhere they would be wrong. */
static int take_info(struct exeunt *x, const struct capture_info *info)
{
	bool same_boot = !strcmp(info->boot_id, x->announced.boot_id);
	int r = replay_context(x, false, same_boot);

	if (strcmp(info->host, x->info.host)) {
		users_free(x->users);
		x->users = NULL;
	}
	x->info = *info;
	x->intake.delay_accounting = info->delay_accounting;
	return r;
}

/* Bytes that were read and not yet understood: the rest of a chunk, with the next one behind it. */
struct rest {
	unsigned char *data;
	size_t start, end, size;
	uint64_t offset; /* in the file, of data[start] */
};

static int append(struct rest *rest, const uint8_t *data, size_t len)
{
	size_t have = rest->end - rest->start;

	if (rest->data && have)
		memmove(rest->data, rest->data + rest->start, have);
	rest->start = 0;
	rest->end = have;
	if (!rest->data || have + len > rest->size) {
		unsigned char *grown = realloc(rest->data, have + len);

		if (!grown)
			return -ENOMEM;
		rest->data = grown;
		rest->size = have + len;
	}
	memcpy(rest->data + have, data, len);
	rest->end += len;
	return 0;
}

/* Returns 1, 0 at the end, or an error that was told. */
static int read_more(struct exeunt *x, struct input *in, struct rest *rest)
{
	const uint8_t *data;
	ssize_t n = replay_next(x, in, &data);
	int r;

	if (n <= 0)
		return (int)n;
	r = append(rest, data, (size_t)n);
	return r < 0 ? engine_fail(x, r, "not enough memory to read '%s'", input_name(in)) : 1;
}

static void skip(struct rest *rest, size_t n)
{
	rest->start += n;
	rest->offset += n;
}

static int capture_head(struct exeunt *x, struct input *in, struct rest *rest)
{
	struct capture_info info;
	size_t used;
	int r, more;

	do {
		more = read_more(x, in, rest);
		if (more < 0)
			return more;
		r = capture_read_info(rest->data, rest->end, &info, &used);
	} while (r == 0 && more);
	if (r == -EPROTONOSUPPORT)
		return engine_fail(
			x, r,
			"'%s' is a capture by another version, or from a machine of other byte order",
			input_name(in));
	if (r <= 0)
		return engine_fail(x, -EBADMSG, "'%s': the head of the capture is damaged",
				   input_name(in));
	skip(rest, used);
	r = take_info(x, &info);
	if (r >= 0)
		replay_start(x, info.started_ns, info.sources);
	return r;
}

static int take_frame(struct exeunt *x, const struct frame *f)
{
	struct exeunt_source_status *st;

	if (unlikely(f->source >= ARRAY_SIZE(x->status)))
		return intake_frame(&x->intake, f); /* it counts what nobody knows */
	st = &x->status[f->source];
	if (likely(f->kind == FRAME_DATA)) {
		st->messages++;
		st->bytes += f->len;
	} else if (f->kind == FRAME_LOST && f->len >= 8) {
		st->lost += load_u64(f->data);
	}
	return intake_frame(&x->intake, f);
}

/* One report for a damaged region, however many steps it takes to find its end. */
struct damage {
	uint64_t offset, bytes;
};

static void tell_damage(struct exeunt *x, const struct input *in, struct damage *d)
{
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_TASKSTATS,
		.cause = EXEUNT_LOSS_UNPARSABLE,
		.count = 1,
		.exact = false,
		.cpu = -1,
		.window_start_ns = x->intake.real_ns,
		.window_end_ns = x->intake.real_ns,
	};

	engine_message(x, 4, "'%s': %llu bytes at offset %llu are damaged or cut off",
		       input_name(in), (unsigned long long)d->bytes, (unsigned long long)d->offset);
	ledger_lose(x->ledger, &loss);
	d->bytes = 0;
}

/* Returns 1 and the frame; 0 at the end; -EBADMSG for damage of *used bytes; or an error that was told. */
static int next_frame(struct exeunt *x, struct input *in, struct rest *rest, struct frame *f,
		      size_t *used)
{
	for (;;) {
		int r = capture_read_frame(rest->data + rest->start, rest->end - rest->start, f,
					   used);

		if (r)
			return r;
		r = read_more(x, in, rest);
		if (r < 0)
			return r;
		*used = rest->end - rest->start;
		if (r == 0)
			return *used ? -EBADMSG : 0; /* cut off within a frame, or just the end */
	}
}

static int replay_frames(struct exeunt *x, struct input *in, struct rest *rest)
{
	struct damage damage = { 0 };
	int r = capture_head(x, in, rest);

	while (r >= 0 && !x->stop_value) {
		struct frame f;
		size_t used;

		r = next_frame(x, in, rest, &f, &used);
		if (r == 0 || (r < 0 && r != -EBADMSG))
			break;
		if (r == -EBADMSG) {
			if (!damage.bytes)
				damage.offset = rest->offset;
			damage.bytes += used;
			r = 0;
		} else {
			if (unlikely(damage.bytes))
				tell_damage(x, in, &damage);
			r = take_frame(x, &f);
		}
		skip(rest, used);
	}
	if (damage.bytes)
		tell_damage(x, in, &damage);
	return r;
}

static int replay(struct exeunt *x, struct input *in)
{
	struct rest rest = { 0 };
	int r = replay_frames(x, in, &rest);

	free(rest.data);
	return r;
}

static bool is(const void *head, size_t len, bool whole)
{
	(void)whole;
	return capture_is(head, len);
}

static int64_t first_ns(const void *head, size_t len)
{
	struct capture_info info;
	size_t used;

	return capture_read_info(head, len, &info, &used) == 1 ? info.started_ns : 0;
}

const struct replay_format replay_capture = { "a capture", is, first_ns, replay };
