/* SPDX-License-Identifier: MIT */
/*
 * What audit tells about processes, as values: one struct for every kind of event, with presence
 * bits, and the decoders that fill it from single records. Putting the records of one event
 * together is the work of audit_assemble.h.
 */
#ifndef DECODE_AUDIT_EVENT_H
#define DECODE_AUDIT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/record.h>

#include "decode/audit_apply.h"
#include "decode/audit_line.h"

/* What the kernel writes for a login uid or session that was never set. */
#define AUDIT_UNSET UINT32_MAX

enum audit_event_kind {
	AUDIT_EVENT_EXIT,	   /* exit_group(2): the process ended by itself */
	AUDIT_EVENT_THREAD_EXIT,   /* exit(2): a thread ended, perhaps the last; no process exit */
	AUDIT_EVENT_EXEC,	   /* a successful execve(2) or execveat(2) */
	AUDIT_EVENT_LOGIN,	   /* a process got its login uid and session */
	AUDIT_EVENT_SESSION_START, /* a program says so: USER_START, USER_LOGIN */
	AUDIT_EVENT_SESSION_END,   /* USER_END, USER_LOGOUT */
	AUDIT_EVENT_USER,	   /* any other message of a program: tells who its sender is */
	AUDIT_EVENT_ABEND,	   /* a signal that dumps core ends the process: ANOM_ABEND */
	AUDIT_EVENT_SECCOMP,	   /* seccomp acted; with a signal if it killed */
	AUDIT_EVENT_CONFIG,	   /* rules or settings of audit changed */
	AUDIT_EVENT_DAEMON,	   /* auditd started, ended, rotated ...: `type` says which */
	AUDIT_EVENT_KERNEL,	   /* audit came up: a boot */
};

enum audit_event_flag {
	AUDIT_EVENT_INCOMPLETE = 1, /* records of this event are missing, or may be */
	AUDIT_EVENT_ARGS_CUT = 2,   /* arguments are missing or shortened, or may be */
	AUDIT_EVENT_ARGS_TITLE = 4, /* they are those of PROCTITLE: what the process made of them */
};

/* Bits of audit_event.has, named after the fields of the records. */
enum audit_has {
	AUDIT_HAS_PID,
	AUDIT_HAS_PPID,
	AUDIT_HAS_AUID,
	AUDIT_HAS_SES,
	AUDIT_HAS_UID,
	AUDIT_HAS_GID,
	AUDIT_HAS_EUID,
	AUDIT_HAS_SUID,
	AUDIT_HAS_FSUID,
	AUDIT_HAS_EGID,
	AUDIT_HAS_SGID,
	AUDIT_HAS_FSGID,
	AUDIT_HAS_TTY,
	AUDIT_HAS_COMM,
	AUDIT_HAS_EXE,
	AUDIT_HAS_SUBJ,
	AUDIT_HAS_KEY,
	AUDIT_HAS_AUID_NAME,
	AUDIT_HAS_UID_NAME,
	AUDIT_HAS_GID_NAME,
	AUDIT_HAS_ARCH,
	AUDIT_HAS_SYSCALL,
	AUDIT_HAS_SUCCESS,
	AUDIT_HAS_EXIT,
	AUDIT_HAS_A0,
	AUDIT_HAS_CODE,
	AUDIT_HAS_ARGS,
	AUDIT_HAS_CWD,
	AUDIT_HAS_PATH,
	AUDIT_HAS_OLD_AUID,
	AUDIT_HAS_OLD_SES,
	AUDIT_HAS_ACCT,
	AUDIT_HAS_ADDR,
	AUDIT_HAS_OP,
	AUDIT_HAS_RES,
	AUDIT_HAS_SIG,
	AUDIT_HAS_ACTION,
	AUDIT_HAS_ENABLED,
	AUDIT_HAS_LIST,
	AUDIT_HAS_ITEMS,
	AUDIT_HAS_MSG,
	AUDIT_HAS_NAMETYPE,
};

struct audit_event {
	enum audit_event_kind kind;
	int type;	    /* AUDIT_* of the record that made it an event */
	unsigned int flags; /* enum audit_event_flag */
	uint64_t has;	    /* 1 << enum audit_has: which of the members below are set */

	struct exeunt_bytes node; /* empty if the stream names none */
	int64_t time_ns; /* for a syscall the time of its entry, by a clock of one tick's grain */
	uint64_t serial;

	int32_t pid; /* the tgid, for each thread */
	int32_t ppid;
	uint32_t auid, ses, uid, gid, euid, suid, fsuid, egid, sgid, fsgid;
	struct exeunt_bytes tty, comm, exe, subj, key;
	struct exeunt_bytes auid_name, uid_name, gid_name; /* as auditd found them */

	uint64_t arch, a0, action; /* action: seccomp's return value, SECCOMP_RET_* */
	int64_t syscall, exit, items;
	bool success, res;
	uint8_t code; /* of exit(2) and exit_group(2): the low byte of a0 */

	const struct exeunt_bytes *args;
	uint32_t n_args;
	struct exeunt_bytes cwd,
		path; /* path: what was executed, as named; a script, not its interpreter */

	uint32_t old_auid, old_ses;
	struct exeunt_bytes acct, addr, op, msg, nametype;
	uint32_t sig, enabled, list;
};

static inline bool audit_event_has(const struct audit_event *event, enum audit_has what)
{
	return event->has >> what & 1;
}

/*
 * What a SYSCALL record is about, without decoding all of it. Returns enum audit_call. Errors:
 * -ENOENT an architecture that is not known here; -EPROTONOSUPPORT interpreted for people, so that
 * numbers and names are mixed; -EBADMSG arch or syscall is missing.
 */
int audit_event_call(const struct audit_line *line);

/* Starts an event with what the head of the record tells; nothing else is known of it then. */
void audit_event_begin(struct audit_event *ret, const struct audit_line *line,
		       enum audit_event_kind kind);

/*
 * Each adds what one record tells. Decoded strings go to `pool`, the others stay slices of the
 * line.
 */
void audit_event_syscall(struct audit_event *event, const struct audit_line *line,
			 struct audit_pool *pool);
void audit_event_cwd(struct audit_event *event, const struct audit_line *line,
		     struct audit_pool *pool);
void audit_event_path(struct audit_event *event, const struct audit_line *line,
		      struct audit_pool *pool);

/*
 * Decodes a record that is an event by itself. Returns 1, or 0 if `line` is of another type.
 * Half the length of the line is enough for the pool.
 */
int audit_event_single(struct audit_event *ret, const struct audit_line *line,
		       struct audit_pool *pool);

#endif
