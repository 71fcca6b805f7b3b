/* SPDX-License-Identifier: MIT */
/*
 * What a sink is: a place that `exeunt run` gives its records to. A sink is a file with a struct sink_ops, and a line in
 * sinks.c.
 *
 * Promises of each sink: it never waits, whoever it writes to; its memory has a bound; it numbers what it puts out itself
 * and tells its own losses in its own stream (see feed.h); trouble of one never reaches another, nor the collector.
 * One thread, that of the loop, calls all of this; a sink that needs another thread says why at its head.
 */
#ifndef SINK_SINK_H
#define SINK_SINK_H

#include <exeunt/record.h>

#include "base/util.h"

struct filter;

/* What all sinks of a run share: how to tell a person something, and what is known of the host. */
struct sink_host {
	const char *name, *boot_id;
	void (*say)(int level, const char *text, void *userdata); /* levels are syslog's */
	/* Fills a record of that type, START or STATUS, as it is now; what it points to is borrowed until the next call. */
	void (*describe)(enum exeunt_type type, struct exeunt_record *ret, void *userdata);
	/* What each sink of the run has to report, for those that report on all; *n is their number. */
	struct sink *const *(*sinks)(size_t *n, void *userdata);
	void *userdata;
};

/* What was asked of one sink. Strings and filter are borrowed until it is freed. */
struct sink_options {
	const struct sink_host *host;
	const char *name;	     /* unique within a run: in messages and metrics */
	const char *target;	     /* behind the colon of "word:target"; "" if there is none */
	const struct filter *filter; /* NULL: all */
	const uint64_t *fields;	     /* EXEUNT_PRESENT_WORDS words; NULL: all */
	uint64_t buffer;     /* bytes kept for a slow reader, for each of them; 0: default */
	uint64_t rate;	     /* records a second at most; 0: the sink's default */
	int64_t keep_ns;     /* what is older may go; 0: nothing for its age */
	uint64_t keep_bytes; /* what is more goes, the oldest first; 0: without a limit */
	int64_t interval_ns; /* between two writings, of a sink that writes at times; 0: its default */
};

/* What a sink has done, counted since it was made. */
struct sink_report {
	uint64_t records; /* put out, to all readers together */
	uint64_t
		dropped; /* not put out because a reader was slow, or there was none that could take it */
	uint64_t filtered;	/* kept back by the filter of the sink or of a reader */
	uint64_t queued_bytes;	/* not yet taken */
	uint64_t written_bytes; /* taken */
	uint64_t readers;	/* now */
	uint64_t restarts;	/* of what it starts, or how often it had to open its place again */
	bool ended;		/* for good: nobody will ever take a record again */
	int error;		/* errno of the trouble that it is in now; 0: none */
};

struct sink {
	const struct sink_ops *ops;
	struct sink_options options;
};

struct sink_ops {
	const char *word;     /* in front of the colon */
	const char *target;   /* what is behind it, for --help; NULL: nothing */
	bool target_optional; /* it may be left out, and the colon */
	const char *help;
	uint64_t capabilities; /* mask of 1 << CAP_...: kept for it */
	bool fleeting; /* what is queued is for who is connected, and owed to nobody after a crash */

	/*
	 * Makes it and opens what takes privilege. `options` is copied. -errno with a sentence in `error`; the sentence names
	 * the place and says what to do.
	 */
	int (*new)(struct sink **ret, const struct sink_options *options, char *error, size_t size);
	void (*free)(struct sink *s);

	/* NULL: needs nothing. Privileges are gone: threads may start, and what talks may begin to. Errors as of new(). */
	int (*start)(struct sink *s, char *error, size_t size);

	/* Takes the record or counts it as dropped; borrowed for the call. START comes first, STOP last. */
	void (*record)(struct sink *s, const struct exeunt_record *r);

	/* A batch of records is over: what may go out goes out. */
	void (*flush)(struct sink *s, int64_t mono_ns);

	/* Readable when dispatch() has something to do; the same from start() on. NULL, or -1: nothing to wait for. */
	int (*fd)(const struct sink *s);

	/* CLOCK_MONOTONIC at which dispatch() is to be called at the latest; INT64_MAX, or NULL: none. */
	int64_t (*deadline)(const struct sink *s);
	void (*dispatch)(struct sink *s, int64_t mono_ns);

	/* SIGHUP: opens files again, passes it on to what it runs. NULL: nothing. */
	void (*reload)(struct sink *s);

	/*
	 * After the STOP record: puts out what is left, called again whenever fd() or deadline() say so. True: all is out, or never
	 * will be. NULL: flush() was enough.
	 */
	bool (*finish)(struct sink *s, int64_t mono_ns);

	void (*report)(const struct sink *s, struct sink_report *ret);
};

/* Tells a person, in the name of the run. No newline. */
void sink_say(const struct sink *s, int level, const char *format, ...) PRINTF(3, 4);

/* The sinks that there are; *n is their number. */
const struct sink_ops *const *sink_table(size_t *n);

/*
 * "json:/var/log/x" -> its ops, and the target behind the colon. -EINVAL with a sentence: no such word, or a target that is
 * missing or not taken.
 */
int sink_parse(const char *spec, const struct sink_ops **ret, const char **target, char *error,
	       size_t size);

#endif
