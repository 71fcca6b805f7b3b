/* SPDX-License-Identifier: MIT */
/*
 * The inside of the handle, shared by the files of lib/ and by nobody else: sources and when they are read (loop.c),
 * the start, the end and the records about ourselves (exeunt.c), files instead of sources (replay.c).
 */
#ifndef LIB_ENGINE_H
#define LIB_ENGINE_H

#include <exeunt/exeunt.h>

#include "base/users.h"
#include "decode/capture.h"
#include "lib/intake.h"
#include "source/source.h"

/* When the sources are read; see loop.c. */
struct engine_loop {
	int epoll_fd, timer_fd;
	int64_t nap_ns;
	bool sleeping;	  /* sources are out of the epoll set, the timer drains them */
	int64_t wakes[4]; /* when poll woke us, a ring */
	unsigned int next_wake;
	int64_t timer_at_ns; /* what the timer is set to, 0: off */
	int64_t check_at_ns; /* next look at the overflow counters, 0: nothing came since the last */
	bool prompt;	     /* while sleeping: the proc connector is read at once all the same */
	uint64_t execs;	     /* EXEC events as counted at the last nap */
	int64_t boot_offset_at_ns;
	int64_t status_at_ns; /* next status record, 0: none */
	int64_t sweep_at_ns;  /* after a loss: next look at who lives */
};

/* See auditing.c. */
struct engine_auditing {
	int64_t awaited_until_ns; /* audit tells of exits: they are waited for */
	uint64_t exits, changes;  /* as counted then */
	bool blind;		  /* it does not tell any more, and should */
	uint64_t untold;	  /* blind: join_untold(), when it told of one last */
	int64_t since_ns;	  /* blind: when that was, CLOCK_REALTIME */
};

struct exeunt {
	struct exeunt_options options;
	struct capture_info info;      /* of this host, or of the capture replayed */
	struct capture_info home;      /* of this host */
	struct capture_info announced; /* as the last start record told */
	struct exeunt_source_status
		status[EXEUNT_SOURCE_COUNT - 1]; /* by enum exeunt_source; OUTPUT has none */
	struct source *sources[EXEUNT_SOURCE_COUNT - 1];
	uint32_t given_up; /* mask of sources that could not be read any more */
	struct ledger *ledger;
	struct joiner *joiner;
	struct context *context; /* NULL: neither the proc connector nor audit is open */
	struct intake intake;
	struct users *users; /* NULL: numeric */
	struct engine_loop loop;
	struct engine_auditing auditing;
	uint64_t seq;
	bool started, stopped;
	bool live;	/* the kernel is listened to; times of records are now's, not a file's */
	int stop_value; /* what the record callback returned, positive */
	int64_t started_ns;
	bool capture_failed;
	int64_t store_position;
	uint32_t own_told; /* as described last */
	char error[512];
};

/* auditing.c: to be called now and then; and once, when nothing more will come. */
void engine_judge_audit(struct exeunt *x, int64_t now_ns);
void engine_end_audit(struct exeunt *x);

/* loop.c */
int loop_init(struct exeunt *x);
void loop_done(struct exeunt *x);
int loop_watch(struct exeunt *x);
/* For a source whose writer waits for us. */
void loop_nap_short(struct exeunt *x);
int loop_dispatch(struct exeunt *x);
void loop_unwatch(const struct exeunt *x, enum exeunt_source source);

/* drain.c */
/* NULL when it is not open, or was given up. */
struct source *source_in_use(const struct exeunt *x, enum exeunt_source source);
/* Return the number of messages read, of ends for all sources; or an error, when nothing is left that tells of ends. */
int drain_source(struct exeunt *x, enum exeunt_source source, bool woken, bool *more);
int drain_sources(struct exeunt *x, bool woken, bool *more);
/* Reads the overflow counters, and books what they tell. */
int check_sources(struct exeunt *x);
/* Reads all sources until they are empty, and their overflow counters. */
int drain_all(struct exeunt *x);

/*
 * checkpoint.c: where accounting has been read to, for a run after this one, unless the caller sees to that. A crash may
 * bring what was put out since the last call again.
 */
void engine_remember(struct exeunt *x);

/* opening.c: tells the joiner which sources work, and which are waited for */
void engine_update_sources(struct exeunt *x);
/* opening.c: whether there is one left that tells of ends */
bool engine_tells_of_ends(const struct exeunt *x);
/* opening.c: hands on what the source has to say to a person */
void engine_tell_messages(struct exeunt *x, struct source *s);
/* opening.c: brings `detail` and `tested` of each status up to date */
void engine_describe_sources(struct exeunt *x);

/* exeunt.c */
int engine_frame(const struct frame *f, void *userdata);
void engine_emit(struct exeunt_record *r, void *userdata);
void engine_emit_status(struct exeunt *x, enum exeunt_type type);
int engine_fail(struct exeunt *x, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void engine_message(struct exeunt *x, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* selftest.c: awaits the records of test children, calls announce(), then passes on what came meanwhile */
int selftest_run(struct exeunt *x, int (*announce)(struct exeunt *x));

/* capturing.c: the frames of a live run into a file */
void capturing_begin(struct exeunt *x);
void capturing_frame(struct exeunt *x, const struct frame *f);

#endif
