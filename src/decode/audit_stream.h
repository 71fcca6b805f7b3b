/* SPDX-License-Identifier: MIT */
/*
 * Cuts a stream of bytes, as auditd's plugins, its socket and its files have it, into lines. The
 * bytes may be split anywhere. Lines that lie whole within what is fed are handed on where they
 * are; only a rest is copied.
 */
#ifndef DECODE_AUDIT_STREAM_H
#define DECODE_AUDIT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `flags` is AUDIT_LINE_CUT or 0. Returns 0, or another number, which ends the call that led here.
 */
typedef int (*audit_line_fn)(const char *line, size_t len, unsigned int flags, void *userdata);

struct audit_stream {
	char *buf; /* an unfinished line, AUDIT_LINE_MAX bytes */
	size_t len;
	bool skipping; /* the rest of a line that was too long */
	bool in_nuls;
	audit_line_fn on_line;
	void *userdata;

	uint64_t lines;
	uint64_t too_long; /* handed on cut, or in parts */
	uint64_t nul_runs; /* runs of NUL bytes, which end a line: a page that was never written */
};

/* Errors: -ENOMEM. */
int audit_stream_init(struct audit_stream *ret, audit_line_fn on_line, void *userdata);
void audit_stream_done(struct audit_stream *s);

/* Returns 0, or what on_line() returned; the bytes behind that line are then lost. */
int audit_stream_feed(struct audit_stream *s, const char *data, size_t len);

/*
 * The end of the stream: hands on a last line without newline. It may be half a line, and is then
 * cut.
 */
int audit_stream_flush(struct audit_stream *s);

#endif
