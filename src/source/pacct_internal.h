/* SPDX-License-Identifier: MIT */
/*
 * The inside of the source, shared by its files and by nobody else: pacct.c (reading), pacct_open.c
 * (which file, and whose), pacct_health.c (does accounting work), pacct_wake.c (when to look),
 * pacct_say.c (what a person is told).
 */
#ifndef SOURCE_PACCT_INTERNAL_H
#define SOURCE_PACCT_INTERNAL_H

#include "source/pacct.h"
#include "source/pacct_detect.h"
#include "source/pacct_follow.h"
#include "source/pacct_own.h"

#define PACCT_MESSAGES 8
#define PACCT_SENTENCE 512

struct pacct_wake {
	int epoll_fd, timer_fd, inotify_fd;
	int watches[4];
	unsigned int n_watches;
	uint64_t watched; /* pacct_follow_changes() when the watches were made */
	bool busy;	  /* the timer ticks fast, and changes of the files do not wake us */
	bool came;	  /* something came since the last tick */
	int64_t woken_ns; /* when a change woke us last */
};

struct pacct_health {
	bool off;	 /* nobody is to be made to end */
	bool down;	 /* records do not arrive */
	bool suspicious; /* what was read ends as at a switch */
	bool good;	 /* a record of a process that ended was read since this was last cleared */
	int64_t good_ns; /* when records were last known to arrive */
	int64_t told_ns; /* down: the end of the window that was told */
	int64_t look_ns; /* next time to look */
	int64_t probe_ns; /* no child before that */
	/* Down: when to look elsewhere, and how long after the last time. */
	int64_t search_ns, search_after_ns;
	int loadavg_fd;
	int64_t last_pid; /* the pid given last when records were known to arrive */
};

struct pacct_source {
	struct source base;
	struct pacct_follow *follow;
	struct pacct_own *own; /* NULL: accounting is not ours */
	bool any_file, force;  /* auto: follows accounting wherever it goes; own: takes it back */
	char *state_path;      /* NULL: none */
	struct pacct_state *state;
	struct pacct_state *mark; /* to be saved later; NULL: none yet */
	bool saved;		  /* what was handed on last is saved */
	bool told_behind, told_unreadable;
	bool ended;			/* accounting was given back */
	int32_t children[PACCT_PROBES]; /* to be announced */
	unsigned int n_children;
	int64_t empty_ns; /* CLOCK_MONOTONIC: then everything had been read */
	int64_t look_ns;  /* next look at the path */
	struct pacct_health health;
	struct pacct_wake wake;
	unsigned int n_messages, next_message;
	struct {
		int level;
		char text[PACCT_SENTENCE];
	} messages[PACCT_MESSAGES];
	char reason[PACCT_SENTENCE], remedy[PACCT_SENTENCE];
};

/* Where frames go. */
struct pacct_out {
	frame_fn fn;
	void *userdata;
	int frames;
};

/* pacct.c */
struct pacct_now pacct_time(void);
/* Hands on what there is; *more: not all of it yet. Errors: -ENOMEM, those of out->fn. */
int pacct_read(struct pacct_source *s, struct pacct_out *out, bool *more);
int pacct_read_all(struct pacct_source *s, struct pacct_out *out);
int pacct_announce(struct pacct_source *s, struct pacct_out *out);
int pacct_tell_lost(struct pacct_source *s, struct pacct_out *out, int64_t since_ns);
void pacct_add_child(struct pacct_source *s, pid_t pid);

/* pacct_open.c */
extern const char pacct_remedy_off[];
int pacct_open(struct source **ret, const struct source_options *o,
	       struct exeunt_source_status *st);
void pacct_free(struct source *base);
/* Follows another path from its end on, in the place of what was followed. */
int pacct_turn_to(struct pacct_source *s, const char *path, const char *written);

/* pacct_health.c */
void pacct_health_begin(struct pacct_source *s, bool down, int64_t good_ns);
void pacct_health_bytes(struct pacct_source *s, const unsigned char *data, size_t len);
int pacct_health_tick(struct pacct_source *s, struct pacct_out *out, int64_t now);
int pacct_health_end(struct pacct_source *s, struct pacct_out *out);
/* Records arrive again. */
int pacct_health_recover(struct pacct_source *s, struct pacct_out *out);
/* Makes a child end, and reads its record if there is one: 1 good, 0 not. */
int pacct_health_probe(struct pacct_source *s, struct pacct_out *out);

/* pacct_wake.c */
int pacct_wake_init(struct pacct_source *s);
void pacct_wake_done(struct pacct_source *s);
void pacct_wake_woken(struct pacct_source *s, int64_t now);
void pacct_wake_read(struct pacct_source *s);

/* pacct_say.c */
void pacct_say(struct pacct_source *s, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const char *pacct_message(struct source *base, int *level);
/*
 * The source cannot work. The sentence is written to the room that the caller gave; without such
 * room, and without a format, it is `plain`, a constant. Returns -error.
 */
int pacct_refuse(struct exeunt_source_status *st, const struct source_options *o, int error,
		 const char *remedy, const char *plain, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
void pacct_set_state(struct pacct_source *s, enum exeunt_source_state state, const char *reason,
		     const char *remedy);

#endif
