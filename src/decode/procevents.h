/* SPDX-License-Identifier: MIT */
/*
 * Proc connector messages -> one struct proc_event_info per event. Pure: bytes in, numbers out; no
 * fd, no clock, no state. Understands kernels before 4.18 (no parent in EXIT), since 4.18, and
 * since 6.6 (acknowledgements with a cause, filters); what a message is too short to hold is an
 * error, and kinds that are not known are left out.
 */
#ifndef DECODE_PROCEVENTS_H
#define DECODE_PROCEVENTS_H

#include <stddef.h>
#include <stdint.h>

enum proc_event_kind {
	PROC_KIND_ACK, /* the answer to LISTEN or IGNORE, of any listener: `error` */
	PROC_KIND_FORK,
	PROC_KIND_EXEC,
	PROC_KIND_UID,
	PROC_KIND_GID,
	PROC_KIND_SID, /* setsid(2) */
	PROC_KIND_PTRACE,
	PROC_KIND_COMM, /* prctl(2) or /proc/PID/comm; exec changes the name too, and sends none */
	PROC_KIND_COREDUMP,
	PROC_KIND_EXIT, /* one for each thread */
};

/*
 * One event. pid is the thread, tgid the process, as the initial pid namespace numbers them. For
 * FORK they are the new task's. parent_* is the real parent of FORK, COREDUMP and EXIT: with
 * CLONE_PARENT or CLONE_THREAD that is the parent of whoever called clone(2). 0 where the kernel
 * did not tell, or where the parent is gone.
 */
struct proc_event_info {
	enum proc_event_kind kind;
	uint32_t cpu; /* UINT32_MAX in acknowledgements */
	/*
	 * Counts 0, 1, 2 ... per CPU over all events, also those that an event filter (6.6) keeps
	 * from this socket: a gap is a loss only on a socket without one. Acknowledgements are
	 * outside of that count.
	 */
	uint32_t seq;
	uint64_t timestamp_ns; /* CLOCK_MONOTONIC */
	int32_t pid, tgid;
	int32_t parent_pid, parent_tgid;
	union {
		uint32_t error; /* ACK: 0 or a positive errno */
		struct {
			uint32_t real, effective; /* UID, GID: initial user namespace */
		} id;
		struct {
			int32_t tracer_pid, tracer_tgid; /* PTRACE; 0: detached */
		} ptrace;
		char comm[16]; /* COMM: raw, NUL-terminated, zero-padded */
		struct {
			uint32_t code;	/* EXIT: as wait(2) has it, of this thread */
			int32_t signal; /* sent to the parent; -1 for a thread that is no leader */
		} exit;
	} u;
};

/*
 * Decodes the message at the head of a datagram of `len` bytes. *used becomes the bytes it took, so
 * that the caller can go on behind it; it is `len` after an error that leaves no way on. Returns 1
 * and fills *ret; 0 for a message that is no event of a known kind; -EBADMSG when it is cut or
 * impossible.
 */
int procevents_decode(const void *data, size_t len, struct proc_event_info *ret, size_t *used);

#endif
