/* SPDX-License-Identifier: MIT */
/*
 * libexeunt: every process exit on this host as one record, as it happens.
 *
 *	exeunt_new() -> exeunt_open() -> [drop privileges] -> exeunt_start() -> exeunt_dispatch() ... -> exeunt_stop()
 *
 * One handle, one thread: no function may run beside another on the same handle. Functions return 0 or a
 * documented positive number, or a negative errno; exeunt_error() then has the sentence for a person.
 * Nothing here prints, exits, or changes signal handlers.
 */
#ifndef EXEUNT_H
#define EXEUNT_H

#include <exeunt/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared here is what the shared library shows. */
#pragma GCC visibility push(default)

#define EXEUNT_VERSION_MAJOR 0
#define EXEUNT_VERSION_MINOR 1

struct exeunt;

/*
 * Called once for each record, in order of `seq`, from within exeunt_start(), exeunt_dispatch(),
 * exeunt_replay() or exeunt_stop(). The record is borrowed for the call. It must not call back into the handle,
 * apart from exeunt_keep_back().
 * Returns 0, or a positive number that the function which called it shall return; what was read already still comes.
 */
typedef int (*exeunt_record_fn)(const struct exeunt_record *record, void *userdata);

/*
 * Called for a message to a person (a source refused, a file damaged at an offset); no newline, no escape bytes.
 * Level: 3 error, 4 warning, 6 information (syslog's).
 */
typedef void (*exeunt_message_fn)(int level, const char *text, void *userdata);

/* Zero is the default of each member; set `size` to sizeof(struct exeunt_options). */
struct exeunt_options {
	size_t size;
	uint32_t sources;	 /* mask of EXEUNT_SOURCE_BIT(); 0: all that work here */
	bool sources_required;	 /* a source of the mask that cannot work is an error */
	bool threads;		 /* EXEUNT_TYPE_THREAD records too */
	bool numeric;		 /* do not look up user and group names */
	bool selftest_off;	 /* do not fork a child per CPU to prove that records arrive */
	uint32_t receive_buffer; /* bytes for each socket; 0: chosen by memory and CPUs */
	uint32_t status_seconds; /* a status record every so often; 0: never */
	uint32_t table_entries;	 /* bound of the table of processes that wait; 0: 32,768 */
	int capture_fd;		 /* when capture is true: raw frames are written here, borrowed */
	bool capture;
	const char *audit; /* NULL, "auto", "off", "multicast", "unicast", "stdin" */
	const char *pacct; /* NULL, "auto", "off", "own", or the path of the accounting file */
	const char *
		pacct_state; /* file that remembers how far the accounting file was read; NULL: none */
	bool pacct_force;    /* take accounting from whoever has it */
	bool no_args;	     /* do not read arguments */
	const char *const
		*redact; /* POSIX extended patterns: what they match in arguments becomes "***" */
	size_t n_redact;
	exeunt_record_fn on_record;
	exeunt_message_fn on_message;
	void *userdata;
	/*
	 * Mask of sources that are opened whatever `sources` says, and that have to work: one that cannot is an error. With
	 * audit among them, audit alone is enough to listen.
	 */
	uint32_t sources_needed;
	/*
	 * Sets of audit rules, with commas between, each a name out of those that are installed or a path with a slash in it: loaded
	 * while the handle is open, loaded again if somebody wipes them, and unloaded at the end. NULL: none. Audit has to work then.
	 */
	const char *audit_rules;
	/*
	 * EXEUNT_PRESENT_WORDS words, borrowed: fields that the callback asks for. Others may be left out of replayed records where
	 * that saves work. NULL: all.
	 */
	const uint64_t *fields;
	int64_t store_after; /* of a store that is replayed: only what came behind this position; 0: all */
};

/*
 * Makes a handle. Nothing is opened yet. `options` is copied; NULL means all defaults.
 * Errors: -EINVAL (size or mask), -ENOMEM.
 */
int exeunt_new(struct exeunt **ret, const struct exeunt_options *options);

/* Ends everything, without a stop record. NULL is accepted. */
void exeunt_free(struct exeunt *x);

/*
 * Opens the sources; this is what needs privilege (CAP_NET_ADMIN in the initial user, pid and network
 * namespace for taskstats). Errors: -EPERM when no source that was asked for can work here; -ENOMEM.
 * exeunt_sources() tells of each.
 */
int exeunt_open(struct exeunt *x);

/*
 * Proves that records arrive, by a short-lived child per CPU, and hands over the start record.
 * May be called after all privileges are gone. Errors: -EPERM when no source passed, -ETIME.
 */
int exeunt_start(struct exeunt *x);

/*
 * What has to be kept of the effective and permitted capabilities after exeunt_open(), as a mask of 1 << CAP_...: nothing
 * for taskstats; CAP_SYS_PTRACE for the executables of other users (procevents); CAP_SYS_PACCT to own accounting.
 */
uint64_t exeunt_capabilities(const struct exeunt *x);

/* A file descriptor to wait for with poll(2), POLLIN; owned by the handle. */
int exeunt_fd(const struct exeunt *x);

/*
 * Reads what there is and hands over the records that became complete. Never blocks.
 * Returns 0, or the positive number that the callback returned. A source that cannot be
 * read any more is told by on_message and as a loss, and the others go on. Errors: -ENOMEM, or that of the last source that
 * told of ends.
 */
int exeunt_dispatch(struct exeunt *x);

/* Drains the sources, hands over what waits, the losses and the stop record. Returns as exeunt_dispatch(). */
int exeunt_stop(struct exeunt *x);

/*
 * Replays files instead of the kernel: captures, accounting files, audit logs, plain or gzip'ed, and segments of a store, each
 * recognised by its content; a directory is a store, and "-" is standard input. They become one stream, in order of when they begin. No exeunt_open() is needed.
 * Damage is told by on_message and as loss records, and what is good behind it is still read. A file that cannot be
 * read is told by on_message, and the others are read. Errors: that of the first such file, -errno of open or read, or
 * -EBADMSG when it is no file that exeunt knows.
 */
int exeunt_replay(struct exeunt *x, const char *const *paths, size_t n);

/* How far a store was replayed: for options.store_after of the next time. 0: not at all. */
int64_t exeunt_store_position(const struct exeunt *x);

/*
 * Hands over what waits although accounting has told of it, so that exeunt_checkpoint() may count it as done. Returns as
 * exeunt_dispatch().
 */
int exeunt_settle(struct exeunt *x);

/*
 * Saves the position in the accounting file, behind all that was handed over, with a note of at most 400 bytes, into the
 * file of options.pacct_state: at once, or not at all. Errors: -ENOTSUP (no such file, or no accounting), -EINVAL, those
 * of writing; the state before is then untouched.
 */
int exeunt_checkpoint(struct exeunt *x, const char *note);

/*
 * For who listens to several sources, where some process always waits for the other source to tell of it: exeunt_mark()
 * remembers the position as it is, and exeunt_checkpoint_mark() saves that one when what was read up to there was handed over,
 * which is so after 10 seconds. Errors: as exeunt_checkpoint(); -ENOMEM; -ENOENT without a mark.
 */
int exeunt_mark(struct exeunt *x);
int exeunt_checkpoint_mark(struct exeunt *x);

/* Counts something that happened to our output into the ledger, as loss records of EXEUNT_SOURCE_OUTPUT. */
int exeunt_report_loss(struct exeunt *x, const struct exeunt_loss *loss);

/*
 * To be called from the record callback, and the only function that may be: the consumer keeps this record back on
 * purpose. It is counted as filtered, and its `seq` goes to the next record, so that what is put out has no gap.
 */
void exeunt_keep_back(struct exeunt *x, const struct exeunt_record *record);

/* The ledger now. */
void exeunt_balance(const struct exeunt *x, struct exeunt_balance *ret);

/* The state of each source, borrowed until the handle is freed; *n is their number. */
const struct exeunt_source_status *exeunt_sources(const struct exeunt *x, size_t *n);

/* Name and boot id of the host that the records are of; in a replay, that of the capture once its head was read. */
const char *exeunt_host_name(const struct exeunt *x);
const char *exeunt_boot_id(const struct exeunt *x);

/* The last error in words, borrowed until the next call; "" if there was none. */
const char *exeunt_error(const struct exeunt *x);

/*
 * Writes the text of process.entity_id and a NUL. `size` of 64 is enough. Returns the length, or -ENODATA when the
 * record has none, or -ENOSPC.
 */
int exeunt_entity_id(const struct exeunt *x, const struct exeunt_record *record, char *buf,
		     size_t size);

/* "taskstats", "socket_overflow", "exit" ...; never NULL. */
const char *exeunt_source_name(enum exeunt_source source);
const char *exeunt_loss_cause_name(enum exeunt_loss_cause cause);
const char *exeunt_type_name(enum exeunt_type type);
const char *exeunt_delay_name(enum exeunt_delay_kind kind);

/* "SIGSEGV", "SIGRTMIN+3"; NULL for a number that is no signal. */
const char *exeunt_signal_name(unsigned int signal);

/* "0.1.0" */
const char *exeunt_version(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
