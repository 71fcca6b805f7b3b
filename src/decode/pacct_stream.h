/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an accounting file, in pieces of any size, to records. Formats and byte orders may change from one
 * record to the next; what is no record (a torn write, zeroed pages, foreign bytes of any number) is passed over, told
 * once per region, and costs no good record behind it. The result does not depend on where the pieces were cut.
 *
 * Pure: no file, no clock, no allocation; the struct is the caller's and holds no pointer into the pieces.
 */
#ifndef DECODE_PACCT_STREAM_H
#define DECODE_PACCT_STREAM_H

#include "decode/pacct.h"

enum pacct_damage {
	PACCT_DAMAGE_TORN,    /* part of a record, where one was due */
	PACCT_DAMAGE_ZEROS,   /* nothing but zero bytes: blocks that a crash left empty */
	PACCT_DAMAGE_TEXT,    /* nothing but printable ASCII */
	PACCT_DAMAGE_FREEBSD, /* accounting records of FreeBSD */
	PACCT_DAMAGE_JUNK,    /* anything else */
	PACCT_DAMAGES
};

/* For a person: "zero bytes" ... */
const char *pacct_damage_text(enum pacct_damage damage);

/*
 * One record, phantoms too (see struct pacct_exit); borrowed for the call. Returns 0, or anything else to stop: the
 * feed then returns that, and pacct_stream_offset() is where to go on.
 */
typedef int (*pacct_exit_fn)(const struct pacct_exit *e, void *userdata);

/* A region that is no record, told when it has ended, in order with the records. */
typedef void (*pacct_damage_fn)(uint64_t offset, uint64_t bytes, enum pacct_damage damage,
				void *userdata);

struct pacct_stream {
	pacct_exit_fn on_exit;
	pacct_damage_fn on_damage; /* may be NULL */
	void *userdata;

	uint64_t records; /* handed over, phantoms among them */
	uint64_t phantoms;
	uint64_t damaged_bytes, damaged_regions;

	/* private */
	uint64_t offset; /* of the first byte that is not decided on */
	uint64_t damage_start;
	size_t carried;
	enum pacct_format format; /* of the last record, to break ties */
	bool in_run, boundary;	  /* the last thing was a record; a record is due here */
	bool old_clock;
	bool in_damage, damage_zeros, damage_text, damage_torn, damage_freebsd;
	uint8_t carry[256];
};

/* `offset` is that of the first byte to come, for resuming; where a record starts, unless the file is damaged. */
void pacct_stream_init(struct pacct_stream *s, uint64_t offset, pacct_exit_fn on_exit,
		       pacct_damage_fn on_damage, void *userdata);

/*
 * `len` bytes that lie at `offset` of the file. If that is not where the last piece ended, what was held back is given
 * up, as at an end. A record is handed over as soon as its last byte is there, unless it is odd: then the next one is
 * waited for. Returns 0, or what on_exit returned.
 */
int pacct_stream_feed(struct pacct_stream *s, uint64_t offset, const void *data, size_t len);

/*
 * No more bytes will come: decides on what was held back, and tells an open region. Returns 0 (also for no bytes at
 * all), what on_exit returned, or -EBADMSG if there were bytes and not one record: this is no accounting file.
 */
int pacct_stream_end(struct pacct_stream *s);

/* Everything before this offset is decided on and handed over: where to resume. */
static inline uint64_t pacct_stream_offset(const struct pacct_stream *s)
{
	return s->offset;
}

/*
 * How many records the first `len` bytes of a file hold: 0 if it is no accounting file. `whole`: there is no more.
 */
size_t pacct_probe(const void *head, size_t len, bool whole);

#endif
