/* SPDX-License-Identifier: MIT */
/*
 * Puts the records of one audit event together and tells it as struct audit_event. Records of
 * different events interleave, arrive out of order, and some never come: a bounded window holds
 * what is unfinished. An event is told when its end is proven, when it waited too long, when the
 * window is full, or at the end of the stream; if it may not be whole it says so. Pure: bytes and
 * times come in, events go out. One thread.
 */
#ifndef DECODE_AUDIT_ASSEMBLE_H
#define DECODE_AUDIT_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/audit_event.h"

struct audit_assemble;

/*
 * The event, and all it points to, is borrowed for the call; it must not call back into the window.
 */
typedef void (*audit_event_fn)(const struct audit_event *event, void *userdata);

/* Zero is the default of each number. */
struct audit_assemble_options {
	uint32_t max_events;	/* unfinished ones that are held: 4,096 */
	size_t max_bytes;	/* of their records: 8 MiB */
	size_t max_event_bytes; /* of one event's records: 256 KiB; more arguments are cut */
	int64_t timeout_ns;	/* 2 s, as auditd's own end_of_event_timeout */
	bool event_clock;	/* time is that of the records (a file), not `now_ns` */
	audit_event_fn on_event;
	void *userdata;
};

struct audit_counters {
	uint64_t lines;	   /* or payloads */
	uint64_t prefixed; /* had foreign bytes in front, and were read */
	uint64_t unparsable;
	uint64_t interpreted; /* made for people, with names for numbers: refused */
	uint64_t cut_ids; /* records whose event id is cut off: auditd 4.2 with log_format RAW */
	uint64_t cut_lines;
	uint64_t unknown_type; /* a name that is not known here */
	uint64_t unknown_arch; /* system calls whose architecture is not known here */
	uint64_t unknown_call; /* SYSCALL records without arch or syscall */

	uint64_t events;     /* told */
	uint64_t incomplete; /* of those, told with AUDIT_EVENT_INCOMPLETE */
	uint64_t timed_out;  /* closed because they waited too long */
	uint64_t evicted;    /* closed because the window was full */
	uint64_t orphans;    /* closed without a SYSCALL record: not told */
	uint64_t late;	     /* records of an event that was told before */
	uint64_t duplicates;
	uint64_t dropped; /* records that were more than one event may hold */
};

/* Errors: -EINVAL no on_event, -ENOMEM. */
int audit_assemble_new(struct audit_assemble **ret, const struct audit_assemble_options *options);
void audit_assemble_free(struct audit_assemble *a);

/*
 * One line, one netlink payload, or one record that is parsed already. `now_ns` is any clock that
 * does not go back. All are counted. Returns 0; -EBADMSG, -ENOMSG or -EPROTONOSUPPORT as
 * audit_line_parse(), to be gone over; -ENOMEM.
 */
int audit_assemble_text(struct audit_assemble *a, const char *line, size_t len, unsigned int flags,
			int64_t now_ns);
int audit_assemble_payload(struct audit_assemble *a, int type, const char *payload, size_t len,
			   int64_t now_ns);
int audit_assemble_line(struct audit_assemble *a, const struct audit_line *line, int64_t now_ns);

/* Closes what waited too long. */
void audit_assemble_age(struct audit_assemble *a, int64_t now_ns);

/* When audit_assemble_age() has work at the earliest; INT64_MAX if nothing waits. */
int64_t audit_assemble_deadline(const struct audit_assemble *a);

/* The end of the stream: closes everything. */
void audit_assemble_flush(struct audit_assemble *a);

const struct audit_counters *audit_assemble_counters(const struct audit_assemble *a);

/* Unfinished events, and the bytes held for them now. */
uint32_t audit_assemble_pending(const struct audit_assemble *a, size_t *bytes);

#endif
