/* SPDX-License-Identifier: MIT */
/*
 * The source of accounting records on plain files, without accounting: its frames, its state, what
 * it refuses.
 */
#include "unit/test.h"

#include <poll.h>

#include "unit/follow.h"

#include "source/pacct.h"

struct seen {
	struct world *w;
	uint32_t n_empty, n_file, n_data, n_lost, n_selftest;
	int64_t last_empty_ns;
	uint64_t offset;
};

static struct source *source;
static struct exeunt_source_status status;
static char text[512];

static int on_frame(const struct frame *f, void *userdata)
{
	struct seen *seen = userdata;

	assert_int_equal(f->source, EXEUNT_SOURCE_PACCT);
	assert_int_equal(f->channel, 0);
	assert_true(f->since_ns <= f->mono_ns);
	switch (f->kind) {
	case FRAME_FILE:
		seen->n_file++;
		assert_int_equal(f->len, sizeof(seen->offset));
		seen->offset = load_u64(f->data);
		break;
	case FRAME_DATA:
		assert_true(seen->n_file > 0);
		assert_true(f->since_ns >= seen->last_empty_ns);
		for (size_t i = 0; i < f->len; i += RECORD)
			seen->w->got[seen->w->n_got++] =
				load_u32((const unsigned char *)f->data + i + 16);
		seen->offset += f->len;
		seen->n_data++;
		break;
	case FRAME_LOST:
		assert_int_equal(load_u64(f->data), 0);
		seen->n_lost++;
		break;
	case FRAME_EMPTY:
		seen->last_empty_ns = f->since_ns;
		seen->n_empty++;
		break;
	case FRAME_SELFTEST:
		seen->n_selftest++;
		break;
	}
	return 0;
}

static int open_it(const char *path, const char *state)
{
	const struct source_options o = { .pacct_mode = path,
					  .pacct_state = state,
					  .no_children = true,
					  .text = text,
					  .text_size = sizeof(text) };

	memset(&status, 0, sizeof(status));
	source = NULL;
	return source_pacct.open(&source, &o, &status);
}

static void drain(struct seen *seen)
{
	bool more;
	int n;

	do {
		n = source_pacct.drain(source, true, on_frame, seen, &more);
		assert_true(n >= 0);
	} while (more);
}

static struct world *real_world(void)
{
	struct world *w = world_new();

	w->now.real_ns = INT64_C(1700000000) * NS_PER_SEC;
	create(w, "pacct");
	accton(w, "pacct");
	return w;
}

static void frames_of_a_file(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };

	(void)state;
	write_records(w, 3);
	assert_int_equal(open_it(in(w, "pacct"), NULL), 0);
	assert_int_equal(status.state, EXEUNT_STATE_OPEN);
	assert_string_equal(pacct_source_path(source), in(w, "pacct"));
	assert_int_equal(source->keep_capabilities, 0);
	drain(&seen);
	assert_int_equal(seen.n_empty, 1);
	assert_int_equal(seen.n_file, 0);
	write_records(w, 2);
	drain(&seen);
	assert_int_equal(seen.n_file, 1);
	assert_int_equal(seen.offset, 5 * RECORD);
	assert_int_equal(status.messages, 2);
	assert_int_equal(status.bytes, 2 * RECORD);
	expect_all(w, 4);
	assert_int_equal(source_pacct.check(source, on_frame, &seen), 0);
	assert_int_equal(source_pacct.finish(source, on_frame, &seen), 0);
	assert_int_equal(seen.n_lost + seen.n_selftest, 0);
	assert_int_equal(pacct_source_save(source, "x"), -ENOTSUP);
	source_pacct.free(source);
	world_free(w);
}

/* Nothing is due, so nothing wakes us but the slow tick; then a write does. */
static void a_write_wakes(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };
	struct pollfd p;

	(void)state;
	assert_int_equal(open_it(in(w, "pacct"), NULL), 0);
	drain(&seen);
	p = (struct pollfd){ .fd = source_pacct.fd(source), .events = POLLIN };
	write_records(w, 1);
	/* The kernel tells of a write before it returns. */
	assert_int_equal(poll(&p, 1, 0), 1);
	drain(&seen);
	assert_int_equal(w->n_got, 1);
	source_pacct.free(source);
	world_free(w);
}

/* However many come: then the timer does it, and each is still there soon. */
static void many_writes(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };
	struct pollfd p;

	(void)state;
	assert_int_equal(open_it(in(w, "pacct"), NULL), 0);
	p = (struct pollfd){ .fd = source_pacct.fd(source), .events = POLLIN };
	for (int i = 0; i < 50; i++) {
		write_records(w, 1);
		while (w->n_got < w->written) {
			assert_int_equal(poll(&p, 1, 1000), 1);
			drain(&seen);
		}
	}
	expect_all(w, 1);
	source_pacct.free(source);
	world_free(w);
}

static void larger_than_one_turn(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };
	bool more;

	(void)state;
	assert_int_equal(open_it(in(w, "pacct"), NULL), 0);
	write_records(w, 100000);
	assert_true(source_pacct.drain(source, true, on_frame, &seen, &more) > 0);
	assert_true(more);
	assert_int_equal(seen.n_empty, 0);
	drain(&seen);
	assert_int_equal(seen.n_empty, 1);
	expect_all(w, 1);
	source_pacct.free(source);
	world_free(w);
}

static void goes_on_from_the_state(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };

	(void)state;
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	assert_string_equal(pacct_source_note(source), "");
	write_records(w, 5);
	drain(&seen);
	/* The decoder holds one and a half. */
	pacct_source_undecoded(source, RECORD + RECORD / 2);
	assert_int_equal(pacct_source_save(source, "note \n 1"), 0);
	source_pacct.free(source);
	w->n_got = 0;
	seen.n_file = 0;
	write_records(w, 2);
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	assert_string_equal(pacct_source_note(source), "note \n 1");
	drain(&seen);
	assert_int_equal(status.bytes, 3 * RECORD + RECORD / 2);
	assert_int_equal(seen.offset, 7 * RECORD);
	source_pacct.free(source);
	world_free(w);
}

/* What was read behind the mark comes again, what is in front of it does not, whenever it is saved. */
static void goes_on_from_the_mark(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };

	(void)state;
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	assert_int_equal(pacct_source_save_mark(source), -ENOENT);
	write_records(w, 5);
	drain(&seen);
	assert_int_equal(pacct_source_mark(source), 0);
	write_records(w, 3);
	drain(&seen);
	assert_int_equal(pacct_source_save_mark(source), 0);
	write_records(w, 2);
	source_pacct.free(source);
	seen.n_file = 0;
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	drain(&seen);
	assert_int_equal(status.bytes, 5 * RECORD);
	assert_int_equal(seen.offset, 10 * RECORD);
	/* one that was taken later is in its place */
	assert_int_equal(pacct_source_mark(source), 0);
	assert_int_equal(pacct_source_save_mark(source), 0);
	source_pacct.free(source);
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	drain(&seen);
	assert_int_equal(status.bytes, 0);
	source_pacct.free(source);
	assert_int_equal(open_it(in(w, "pacct"), NULL), 0);
	assert_int_equal(pacct_source_mark(source), -ENOTSUP);
	source_pacct.free(source);
	world_free(w);
}

static void a_note_too_long(void **state)
{
	struct world *w = real_world();
	char note[PACCT_NOTE_MOST + 2];

	(void)state;
	memset(note, 'x', sizeof(note));
	note[PACCT_NOTE_MOST + 1] = '\0';
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	assert_int_equal(pacct_source_save(source, note), -EINVAL);
	assert_int_equal(pacct_source_save(source, note + 1), 0);
	source_pacct.free(source);
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	assert_string_equal(pacct_source_note(source), note + 1);
	source_pacct.free(source);
	world_free(w);
}

static void a_gap_is_told(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };

	(void)state;
	assert_int_equal(open_it(in(w, "pacct"), NULL), 0);
	write_records(w, 5);
	drain(&seen);
	assert_int_equal(ftruncate(w->kernel, 0), 0);
	write_records(w, 2);
	drain(&seen);
	assert_int_equal(seen.n_lost, 1);
	expect_all(w, 1);
	source_pacct.free(source);
	world_free(w);
}

static void rubbish_for_a_state(void **state)
{
	struct world *w = real_world();
	struct seen seen = { .w = w };
	const char *message;
	int level;

	(void)state;
	create(w, "state");
	assert_int_equal(truncate(in(w, "state"), 37), 0);
	write_records(w, 2);
	assert_int_equal(open_it(in(w, "pacct"), in(w, "state")), 0);
	message = source_pacct.message(source, &level);
	assert_non_null(message);
	assert_non_null(strstr(message, "state.bad"));
	assert_int_equal(level, 4);
	assert_null(source_pacct.message(source, &level));
	drain(&seen);
	assert_int_equal(seen.n_lost, 1);
	write_records(w, 2);
	drain(&seen);
	expect_all(w, 3);
	source_pacct.free(source);
	world_free(w);
}

static void what_is_refused(void **state)
{
	struct world *w = real_world();

	(void)state;
	assert_int_equal(open_it(in(w, "nothing"), NULL), -ENOENT);
	assert_int_equal(status.state, EXEUNT_STATE_REFUSED);
	assert_int_equal(status.error, ENOENT);
	assert_non_null(strstr(status.reason, "nothing"));
	assert_non_null(status.remedy);
	assert_null(source);
	assert_int_equal(open_it(w->dir, NULL), -EISDIR);
	assert_int_equal(open_it("/dev/null", NULL), -EINVAL);
	assert_non_null(strstr(status.reason, "no regular file"));
	assert_int_equal(open_it("off", NULL), -EOPNOTSUPP);
	assert_int_equal(status.state, EXEUNT_STATE_OFF);
	assert_null(status.reason);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_file),
		cmocka_unit_test(a_write_wakes),
		cmocka_unit_test(many_writes),
		cmocka_unit_test(larger_than_one_turn),
		cmocka_unit_test(goes_on_from_the_state),
		cmocka_unit_test(goes_on_from_the_mark),
		cmocka_unit_test(a_note_too_long),
		cmocka_unit_test(a_gap_is_told),
		cmocka_unit_test(rubbish_for_a_state),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
