/* SPDX-License-Identifier: MIT */
/*
 * The head of one audit record: type, node, time, serial, and where its fields are. Reads what
 * auditd writes to plugins, sockets and audit.log, and what the kernel sends over netlink. Bounded,
 * without allocation and without state; what it returns are slices of the text.
 */
#ifndef DECODE_AUDIT_LINE_H
#define DECODE_AUDIT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

/* The kernel's text has at most 8,970 bytes (MAX_AUDIT_MESSAGE_LENGTH); auditd adds to it. */
#define AUDIT_LINE_MAX 16384
#define AUDIT_NODE_MAX 255

enum audit_line_flag {
	AUDIT_LINE_CUT = 1,	 /* the end is missing: a last field without quotes means nothing */
	AUDIT_LINE_PREFIXED = 2, /* foreign bytes stood in front, such as a syslog header */
};

struct audit_line {
	int type;	    /* AUDIT_* of linux/audit.h; -1: a name that is not known here */
	unsigned int flags; /* enum audit_line_flag */
	uint32_t msec;
	int64_t sec;
	uint64_t serial;
	struct exeunt_bytes node;
	struct exeunt_bytes raw;      /* the fields as the kernel or a program wrote them */
	struct exeunt_bytes enriched; /* what auditd added: upper-case names, interpreted values */
};

/*
 * Takes a line apart, without its newline. `flags` is AUDIT_LINE_CUT or 0. Errors: -ENODATA nothing
 * but blanks; -EBADMSG no audit record; -ENOMSG an audit record whose event id is cut off (`type`
 * is set); -EPROTONOSUPPORT the event id was interpreted for people (ausearch -i).
 */
int audit_line_parse(struct audit_line *ret, const char *text, size_t len, unsigned int flags);

/* The same for a netlink payload, "audit(1.002:3): fields"; the type is in the message's header. */
int audit_line_parse_payload(struct audit_line *ret, int type, const char *text, size_t len);

#endif
