/* SPDX-License-Identifier: MIT */
#include "decode/pacct_stream.h"

#include "base/util.h"

/* What the surroundings add to the weight of a record that is not sure by itself. */
enum {
	W_NEIGHBOUR = 3,	/* another record follows at once */
	W_END = 3,		/* the file ends with it */
	W_BOUNDARY = 1,		/* it follows a record, or is the first thing in the file */
	W_ALIGNED = 1,		/* it lies where an undamaged file would have it */
	W_NEIGHBOUR_LACKS = -2, /* how much less a neighbour needs to count */
	/* For a weak format, which cannot reach as much by itself: */
	W_WEAK_BOUNDARY = 2, /* instead of W_BOUNDARY */
	W_WEAK_KNOWN = 1,    /* not where a record is due, but the last one was of this format */
	W_WEAK_ASTRAY = -2,  /* out of nothing */
};

#define LOOK_AHEAD ((size_t)2 * PACCT_MAX_SIZE)

enum verdict { REJECT, ACCEPT, WAIT };

const char *pacct_damage_text(enum pacct_damage damage)
{
	static const char *const texts[PACCT_DAMAGES] = {
		[PACCT_DAMAGE_TORN] = "part of a record",
		[PACCT_DAMAGE_ZEROS] = "zero bytes",
		[PACCT_DAMAGE_TEXT] = "text",
		[PACCT_DAMAGE_FREEBSD] = "accounting records of FreeBSD",
		[PACCT_DAMAGE_JUNK] = "no accounting records",
	};

	return (unsigned int)damage < PACCT_DAMAGES ? texts[damage] : texts[PACCT_DAMAGE_JUNK];
}

void pacct_stream_init(struct pacct_stream *s, uint64_t offset, pacct_exit_fn on_exit,
		       pacct_damage_fn on_damage, void *userdata)
{
	memset(s, 0, offsetof(struct pacct_stream, carry));
	s->offset = offset;
	s->on_exit = on_exit;
	s->on_damage = on_damage;
	s->userdata = userdata;
	s->boundary = true;
}

static enum pacct_damage damage_kind(const struct pacct_stream *s, uint64_t bytes)
{
	if (s->damage_zeros)
		return PACCT_DAMAGE_ZEROS;
	if (s->damage_text)
		return PACCT_DAMAGE_TEXT;
	if (s->damage_freebsd)
		return PACCT_DAMAGE_FREEBSD;
	return s->damage_torn && bytes < PACCT_MAX_SIZE ? PACCT_DAMAGE_TORN : PACCT_DAMAGE_JUNK;
}

/* Ends the open region in front of `offset`. */
static void damage_end(struct pacct_stream *s, uint64_t offset)
{
	uint64_t bytes = offset - s->damage_start;

	if (!s->in_damage)
		return;
	s->in_damage = false;
	s->damaged_regions++;
	s->damaged_bytes += bytes;
	if (s->on_damage)
		s->on_damage(s->damage_start, bytes, damage_kind(s, bytes), s->userdata);
}

/* FreeBSD's records begin with a zero, a version and their length, and end with the length and a flag byte. */
static bool looks_freebsd(const uint8_t *p, size_t len)
{
	size_t size_le = len >= 4 ? p[2] : 0, size_be = len >= 4 ? p[3] : 0;
	size_t size = size_le ? size_le : size_be;

	if (len < 4 || p[0] || (p[1] != 2 && p[1] != 3) || (size_le && size_be))
		return false;
	if (size < 56 || size > MIN(len, LOOK_AHEAD)) /* the same answer however the file is cut */
		return false;
	return !memcmp(p + size - 8, p + 2, 2) && p[size - 4] & 0x20;
}

static bool all_zero(const uint8_t *p, size_t len)
{
	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

static bool all_text(const uint8_t *p, size_t len)
{
	size_t i = 0;

	while (i < len && ((p[i] >= 0x20 && p[i] < 0x7f) || (p[i] >= '\t' && p[i] <= '\r')))
		i++;
	return i == len;
}

/* `skip` of the `len` bytes at `p` are no record. */
static void damage_add(struct pacct_stream *s, const uint8_t *p, size_t skip, size_t len,
		       uint64_t offset)
{
	if (!s->in_damage) {
		s->in_damage = s->damage_zeros = s->damage_text = true;
		s->damage_start = offset;
		s->damage_torn = s->boundary;
		s->damage_freebsd = looks_freebsd(p, len);
	}
	s->damage_zeros = s->damage_zeros && all_zero(p, skip);
	s->damage_text = s->damage_text && all_text(p, skip);
	s->boundary = s->in_run = false;
}

static int take(struct pacct_stream *s, const uint8_t *p, enum pacct_format format, uint64_t offset)
{
	struct pacct_exit e;

	damage_end(s, offset);
	pacct_decode(p, format, offset, &e);
	s->format = format;
	s->in_run = s->boundary = true;
	s->old_clock = e.btime_s < PACCT_CLOCK_SET;
	s->records++;
	s->phantoms += e.phantom;
	return s->on_exit(&e, s->userdata);
}

static int place_weight(const struct pacct_stream *s, enum pacct_format format)
{
	if (!pacct_is_weak(format))
		return s->boundary ? W_BOUNDARY : 0;
	if (s->boundary)
		return W_WEAK_BOUNDARY;
	return s->format == format ? W_WEAK_KNOWN : W_WEAK_ASTRAY;
}

/* Weighs the bytes at `p` as a record; `last`: nothing follows them in this file. */
static enum verdict judge(const struct pacct_stream *s, const uint8_t *p, size_t len, bool last,
			  uint64_t offset, enum pacct_format *format)
{
	enum pacct_format next;
	int weight, other;
	size_t size;

	*format = pacct_recognise(p, len, s->format, &weight);
	if (*format) {
		size = pacct_size(*format);
		weight += place_weight(s, *format);
		weight += offset % size == 0 ? W_ALIGNED : 0;
		weight += last && len == size ? W_END : 0;
		if (weight >= pacct_needed(*format))
			return ACCEPT;
		next = pacct_recognise(p + size, len - size, *format, &other);
		if (next && other >= pacct_needed(next) + W_NEIGHBOUR_LACKS &&
		    weight + W_NEIGHBOUR >= pacct_needed(*format))
			return ACCEPT;
	}
	return last || len >= LOOK_AHEAD ? REJECT : WAIT;
}

/*
 * How far from `p`, which is no record, the next place is that could be one: by its version byte, and in a desert of
 * zeros by the start time, which ends 12 bytes from the start of a record of any version.
 */
static size_t next_candidate(const uint8_t *p, size_t len)
{
	size_t i = 0;

	while (len - i >= 8 && !load_u64(p + i))
		i += 8;
	while (i < len && !p[i])
		i++;
	if (i > 12)
		return i - 11;
	for (i = 1; i + 1 < len; i++)
		if ((p[i + 1] & 0x7f) <= 3)
			break;
	return i;
}

/* Decides on as much of the `len` bytes at `p` as can be; returns how much, *ret is what on_exit returned. */
static size_t scan(struct pacct_stream *s, const uint8_t *p, size_t len, bool last, int *ret)
{
	enum pacct_format format;
	size_t pos = 0, size, skip;
	enum verdict verdict;

	*ret = 0;
	while (*ret == 0 && pos < len) {
		size = pacct_size(s->format);
		while (s->in_run && len - pos >= size &&
		       pacct_continues(p + pos, s->format, s->old_clock) && *ret == 0) {
			*ret = take(s, p + pos, s->format, s->offset + pos);
			pos += size;
		}
		if (*ret || pos == len)
			break;
		verdict = judge(s, p + pos, len - pos, last, s->offset + pos, &format);
		if (verdict == WAIT)
			break;
		if (verdict == ACCEPT) {
			*ret = take(s, p + pos, format, s->offset + pos);
			pos += pacct_size(format);
			continue;
		}
		/* What is shorter than a record at the end cannot hold one. */
		skip = len - pos < PACCT_MIN_SIZE ? len - pos : next_candidate(p + pos, len - pos);
		damage_add(s, p + pos, skip, len - pos, s->offset + pos);
		pos += skip;
	}
	s->offset += pos;
	return pos;
}

/*
 * Goes through the bytes held back together with as many new ones as fit. Returns how many of the new ones are done
 * with: decided on, or held back too.
 */
static size_t feed_carry(struct pacct_stream *s, const uint8_t *p, size_t len, int *ret)
{
	size_t held = s->carried, n = MIN(len, sizeof(s->carry) - held), used;

	memcpy(s->carry + held, p, n);
	used = scan(s, s->carry, held + n, false, ret);
	if (used >= held || *ret) {
		/* The rest is looked at where it lies. */
		s->carried = 0;
		return used >= held ? used - held : 0;
	}
	memmove(s->carry, s->carry + used, held + n - used);
	s->carried = held + n - used;
	return n;
}

int pacct_stream_feed(struct pacct_stream *s, uint64_t offset, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t used;
	int r = 0;

	if (offset != s->offset + s->carried) {
		if (s->carried)
			scan(s, s->carry, s->carried, true, &r);
		damage_end(s, s->offset);
		s->carried = 0;
		s->in_run = s->boundary = false;
		if (r)
			return r;
		s->offset = offset;
	}
	while (s->carried && len && !r) {
		used = feed_carry(s, p, len, &r);
		p += used;
		len -= used;
	}
	if (r || !len)
		return r;
	used = scan(s, p, len, false, &r);
	if (r)
		return r;
	s->carried = len - used;
	memcpy(s->carry, p + used, s->carried);
	return 0;
}

int pacct_stream_end(struct pacct_stream *s)
{
	int r = 0;

	if (s->carried)
		scan(s, s->carry, s->carried, true, &r);
	s->carried = 0;
	if (r)
		return r;
	damage_end(s, s->offset);
	return !s->records && s->damaged_bytes ? -EBADMSG : 0;
}

static int probe_exit(const struct pacct_exit *e, void *userdata)
{
	(void)e;
	(void)userdata;
	return 0;
}

size_t pacct_probe(const void *head, size_t len, bool whole)
{
	struct pacct_stream s;

	pacct_stream_init(&s, 0, probe_exit, NULL, NULL);
	pacct_stream_feed(&s, 0, head, len);
	if (whole)
		pacct_stream_end(&s);
	return s.records;
}
