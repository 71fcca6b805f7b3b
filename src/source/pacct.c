/* SPDX-License-Identifier: MIT */
/*
 * The source of accounting records: hands on the bytes of the accounting file, whichever file that
 * is at the moment, each once. Promises that a time without records is told if records were due.
 * Decodes nothing. Opening is in pacct_open.c; what files are, in pacct_follow.c.
 */
#include "source/pacct_internal.h"

#include "base/clock.h"
#include "base/util.h"

#define ROUNDS 2 /* pieces handed on before other sources get their turn */
#define LOOK_NS (100 * NS_PER_MSEC)

struct pacct_now pacct_time(void)
{
	return (struct pacct_now){ mono_now(), real_now() };
}

static int hand_on(struct pacct_source *s, struct pacct_out *out, enum frame_kind kind,
		   int64_t since_ns, const void *data, size_t len)
{
	struct frame f = {
		.source = EXEUNT_SOURCE_PACCT,
		.kind = kind,
		.mono_ns = mono_now(),
		.real_ns = real_now(),
		.since_ns = since_ns,
		.data = data,
		.len = len,
	};

	(void)s;
	return out->fn(&f, out->userdata);
}

int pacct_tell_lost(struct pacct_source *s, struct pacct_out *out, int64_t since_ns)
{
	const uint64_t unknown = 0;

	return hand_on(s, out, FRAME_LOST, since_ns, &unknown, sizeof(unknown));
}

void pacct_add_child(struct pacct_source *s, pid_t pid)
{
	if (s->n_children < PACCT_PROBES)
		s->children[s->n_children++] = pid;
}

int pacct_announce(struct pacct_source *s, struct pacct_out *out)
{
	int r = 0;

	while (s->n_children && r >= 0) {
		int32_t pid = s->children[--s->n_children];

		r = hand_on(s, out, FRAME_SELFTEST, mono_now(), &pid, sizeof(pid));
	}
	return r;
}

static int take_bytes(struct pacct_source *s, struct pacct_out *out, const struct pacct_step *step)
{
	int r;

	s->base.status->messages += step->len / PACCT_MARK;
	s->base.status->bytes += step->len;
	s->wake.came = true;
	s->saved = false;
	pacct_health_bytes(s, step->data, step->len);
	r = pacct_health_recover(s, out);
	if (r < 0)
		return r;
	out->frames++;
	return hand_on(s, out, FRAME_DATA, s->empty_ns, step->data, step->len);
}

static int take_step(struct pacct_source *s, struct pacct_out *out, const struct pacct_step *step)
{
	switch (step->kind) {
	case PACCT_STEP_FILE:
		return hand_on(s, out, FRAME_FILE, mono_now(), &step->offset, sizeof(step->offset));
	case PACCT_STEP_BYTES:
		return take_bytes(s, out, step);
	case PACCT_STEP_GAP:
		return pacct_tell_lost(s, out, step->since_ns);
	case PACCT_STEP_NOTHING:
		break;
	}
	return 0;
}

/* A disk that cannot be read may be readable later; meanwhile nothing arrives. */
static int unreadable(struct pacct_source *s, int error)
{
	if (error == -ENOMEM)
		return error;
	if (!s->told_unreadable)
		pacct_say(s, 4, "pacct: reading '%s' failed: %s", pacct_follow_path(s->follow),
			  strerror(-error));
	s->told_unreadable = true;
	return 0;
}

int pacct_read(struct pacct_source *s, struct pacct_out *out, bool *more)
{
	struct pacct_step step;

	*more = false;
	for (int round = 0; round < ROUNDS; round++) {
		struct pacct_now before = pacct_time();
		int r = pacct_follow_next(s->follow, before, &step);

		if (r < 0)
			return unreadable(s, r);
		if (step.kind == PACCT_STEP_NOTHING) {
			s->empty_ns = before.mono_ns;
			return 0;
		}
		r = take_step(s, out, &step);
		if (r < 0)
			return r;
		if (step.end) {
			s->empty_ns = before.mono_ns;
			return 0;
		}
	}
	*more = true;
	return 0;
}

int pacct_read_all(struct pacct_source *s, struct pacct_out *out)
{
	bool more;
	int r;

	do {
		r = pacct_read(s, out, &more);
	} while (r >= 0 && more);
	return r;
}

/* The path, which may lead elsewhere by now. */
static int look(struct pacct_source *s, int64_t now)
{
	const char *path = pacct_follow_path(s->follow);
	bool behind;
	int r;

	if (now < s->look_ns)
		return 0;
	s->look_ns = now + LOOK_NS;
	r = pacct_follow_look(s->follow, pacct_time());
	if (r < 0)
		return unreadable(s, r);
	behind = pacct_follow_is_behind(s->follow);
	if (behind && !s->told_behind)
		pacct_say(s, 4,
			  "pacct: '%s' was rotated, but the kernel still writes to the old file. "
			  "What mends it: accton %s",
			  path, path);
	s->told_behind = behind;
	return 0;
}

/* Two files of our own in turn, once all that the first holds is read. */
static int bound(struct pacct_source *s)
{
	struct pacct_own *o = s->own;
	int r;

	if (!o || s->health.down || s->health.suspicious || pacct_follow_files(s->follow) != 1 ||
	    !pacct_own_is_full(o, pacct_follow_offset(s->follow)))
		return 0;
	r = pacct_own_switch(o);
	if (r < 0) {
		pacct_say(s, 4, "pacct: '%s' grows beyond its bound, for it cannot be switched: %s",
			  o->paths[o->active], strerror(-r));
		return 0;
	}
	return pacct_follow_switch(s->follow, o->paths[o->active], pacct_time()) == -ENOMEM
		       ? -ENOMEM
		       : 0;
}

static int drain_empty(struct pacct_source *s, struct pacct_out *out, int64_t now)
{
	int r = bound(s);

	if (r >= 0)
		r = pacct_health_tick(s, out, now);
	if (r < 0)
		return r;
	pacct_wake_read(s);
	return hand_on(s, out, FRAME_EMPTY, now, NULL, 0);
}

static int pacct_drain(struct source *base, bool woken, frame_fn fn, void *userdata, bool *more)
{
	struct pacct_source *s = (struct pacct_source *)base;
	struct pacct_out out = { .fn = fn, .userdata = userdata };
	int64_t now = mono_now();
	int r = pacct_announce(s, &out);

	*more = false;
	if (woken)
		pacct_wake_woken(s, now);
	if (r >= 0)
		r = look(s, now);
	if (r >= 0)
		r = pacct_read(s, &out, more);
	if (r >= 0 && !*more)
		r = drain_empty(s, &out, s->empty_ns);
	return r < 0 ? r : out.frames;
}

/* What is lost is told where it is noticed, which is while reading. */
static int pacct_check(struct source *base, frame_fn fn, void *userdata)
{
	struct pacct_source *s = (struct pacct_source *)base;
	struct pacct_out out = { .fn = fn, .userdata = userdata };

	return pacct_announce(s, &out);
}

/* Gives accounting back, if it is still ours to give; the kernel's last records come with it. */
static int give_back(struct pacct_source *s, struct pacct_out *out)
{
	int r = s->health.off ? !s->health.down : pacct_health_probe(s, out);

	/* Paused is not gone: it would go on when there is room, and nobody would read it. */
	if (!r && pacct_lacks_room(pacct_follow_fd(s->follow)))
		r = 1;
	if (r <= 0) {
		pacct_say(s, 4, "pacct: accounting is no longer ours, and is left as it is");
		s->own->on = false;
		return r;
	}
	r = pacct_own_off(s->own);
	if (r < 0)
		pacct_say(s, 4, "pacct: accounting could not be put back as it was found: %s",
			  strerror(-r));
	s->ended = !s->own->on;
	return 0;
}

static int pacct_finish(struct source *base, frame_fn fn, void *userdata)
{
	struct pacct_source *s = (struct pacct_source *)base;
	struct pacct_out out = { .fn = fn, .userdata = userdata };
	int r = pacct_read_all(s, &out);

	if (r >= 0 && s->own && s->own->on)
		r = give_back(s, &out);
	if (r >= 0)
		r = pacct_read_all(s, &out);
	if (r >= 0)
		r = pacct_health_end(s, &out);
	return r;
}

static int pacct_fd(const struct source *base)
{
	return ((const struct pacct_source *)base)->wake.epoll_fd;
}

void pacct_source_undecoded(struct source *base, size_t bytes)
{
	pacct_follow_undecoded(((struct pacct_source *)base)->follow, bytes);
}

int pacct_source_save(struct source *base, const char *note)
{
	struct pacct_source *s = (struct pacct_source *)base;
	struct pacct_now now = pacct_time();
	size_t len = strlen(note);
	int r;

	if (!s->state_path)
		return -ENOTSUP;
	if (len > PACCT_NOTE_MOST)
		return -EINVAL;
	/* First the time, then the look: what is written after that time is found by it. */
	r = pacct_follow_look(s->follow, now);
	if (r == -ENOMEM)
		return r;
	s->state->saved_ns = now.real_ns;
	s->state->down = s->health.down;
	memcpy(s->state->note, note, len + 1);
	pacct_follow_save(s->follow, s->state);
	r = pacct_state_save(s->state, s->state_path);
	if (r < 0)
		return r;
	s->saved = true;
	if (s->own && pacct_follow_files(s->follow) == 1)
		pacct_own_empty_spare(s->own);
	return 0;
}

int pacct_source_mark(struct source *base)
{
	struct pacct_source *s = (struct pacct_source *)base;
	struct pacct_now now = pacct_time();
	int r;

	if (!s->state_path)
		return -ENOTSUP;
	if (!s->mark)
		s->mark = calloc(1, sizeof(*s->mark));
	if (!s->mark)
		return -ENOMEM;
	r = pacct_follow_look(s->follow, now);
	if (r == -ENOMEM)
		return r;
	s->mark->saved_ns = now.real_ns;
	s->mark->down = s->health.down;
	pacct_follow_save(s->follow, s->mark);
	return 0;
}

/* The file that we write to now is that of the mark, and no other had anything then. */
static bool is_alone_since(struct pacct_source *s)
{
	const struct pacct_position *then = &s->mark->positions[0], *now = &s->state->positions[0];

	pacct_follow_save(s->follow, s->state);
	return s->mark->n == 1 && s->state->n == 1 && then->dev == now->dev &&
	       then->ino == now->ino;
}

int pacct_source_save_mark(struct source *base)
{
	struct pacct_source *s = (struct pacct_source *)base;
	int r;

	if (!s->mark)
		return -ENOENT;
	r = pacct_state_save(s->mark, s->state_path);
	if (r >= 0 && s->own && pacct_follow_files(s->follow) == 1 && is_alone_since(s))
		pacct_own_empty_spare(s->own);
	return r;
}

const char *pacct_source_note(const struct source *base)
{
	return ((const struct pacct_source *)base)->state->note;
}

const char *pacct_source_path(const struct source *base)
{
	return pacct_follow_path(((const struct pacct_source *)base)->follow);
}

const struct source_ops source_pacct = {
	.id = EXEUNT_SOURCE_PACCT,
	.open = pacct_open,
	.free = pacct_free,
	.fd = pacct_fd,
	.drain = pacct_drain,
	.check = pacct_check,
	.finish = pacct_finish,
	.message = pacct_message,
};
