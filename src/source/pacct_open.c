/* SPDX-License-Identifier: MIT */
/*
 * Which file is followed, and whose accounting it is: that of anybody (auto), a named file, or our
 * own. What cannot work is refused with the reason and what mends it.
 */
#include "source/pacct_internal.h"

#include <fcntl.h>
#include <linux/capability.h>

#include "base/clock.h"
#include "base/namespace.h"
#include "base/util.h"

const char pacct_remedy_off[] = "accton FILE, or exeunt with --pacct own";

static const char remedy_root[] = "sudo exeunt ...";

void pacct_free(struct source *base)
{
	struct pacct_source *s = (struct pacct_source *)base;

	if (!s)
		return;
	if (s->own && s->own->on && !s->health.down)
		pacct_own_off(s->own);
	if (s->own && s->ended && s->saved) {
		/* All is handed on: the next run finds empty files, and a state that says so. */
		pacct_own_empty(s->own);
		s->state->n = 0;
		pacct_state_save(s->state, s->state_path);
	}
	pacct_own_free(s->own);
	pacct_follow_free(s->follow);
	pacct_wake_done(s);
	close_fd(s->health.loadavg_fd);
	/* The sentences of a running source are in it. */
	if (s->base.status->reason == s->reason)
		s->base.status->reason = NULL;
	if (s->base.status->remedy == s->remedy)
		s->base.status->remedy = NULL;
	free(s->state_path);
	free(s->state);
	free(s->mark);
	free(s);
}

static int new_source(struct pacct_source **ret, const struct source_options *o,
		      struct exeunt_source_status *st)
{
	struct pacct_source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->base.ops = &source_pacct;
	s->base.status = st;
	s->wake = (struct pacct_wake){ .epoll_fd = -1, .timer_fd = -1, .inotify_fd = -1 };
	s->health.loadavg_fd = -1;
	s->health.off = o->no_children;
	s->empty_ns = mono_now();
	s->state = calloc(1, sizeof(*s->state));
	if (o->pacct_state)
		s->state_path = strdup(o->pacct_state);
	if (!s->state || (o->pacct_state && !s->state_path)) {
		pacct_free(&s->base);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void take_children(struct pacct_source *s, const struct pacct_where *w)
{
	for (unsigned int i = 0; i < w->n_children; i++)
		pacct_add_child(s, w->children[i]);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int64_t mono_of(int64_t real_ns)
{
	return mono_now() - MAX(real_now() - real_ns, 0);
}

/*
 * From where the state says, or else from the end of what there is; with `all`, then from the
 * start.
 */
static int start_following(struct pacct_source *s, const char *path, const char *prefix,
			   const char *written, bool all)
{
	struct pacct_now now = pacct_time();
	int found = -ENOENT, r = pacct_follow_new(&s->follow, path, prefix);

	if (r < 0)
		return r;
	if (s->state_path)
		found = pacct_state_load(s->state, s->state_path);
	if (found >= 0 || (found == -ENOENT && all))
		return pacct_follow_resume(s->follow, s->state, now);
	r = pacct_follow_begin(s->follow, written, now);
	if (found != -ENOENT) {
		pacct_follow_gap(s->follow, mono_of(s->state->saved_ns));
		pacct_say(s, 4,
			  "pacct: the state file '%s' was damaged and is set aside as '%s.bad'; "
			  "records written since it was last saved may be missing",
			  s->state_path, s->state_path);
	}
	return r;
}

int pacct_turn_to(struct pacct_source *s, const char *path, const char *written)
{
	struct pacct_follow *f;
	int r = pacct_follow_new(&f, path, NULL);

	if (r < 0)
		return r;
	r = pacct_follow_begin(f, base_name(written), pacct_time());
	if (r < 0) {
		pacct_follow_free(f);
		return r;
	}
	pacct_follow_free(s->follow);
	s->follow = f;
	s->wake.watched = 0;
	return 0;
}

static int finish_open(struct pacct_source *s, const struct source_options *o,
		       const struct pacct_where *w, bool works)
{
	int64_t good_ns =
		s->state->saved_ns && s->state->down ? mono_of(s->state->saved_ns) : mono_now();
	int r = pacct_wake_init(s);

	if (r < 0)
		return pacct_refuse(s->base.status, o, -r, NULL,
				    "the timers for the accounting file cannot be made", NULL);
	s->base.status->state = EXEUNT_STATE_OPEN;
	if (!works)
		pacct_set_state(s, EXEUNT_STATE_FAILED,
				w->found ? "accounting goes to another file"
				: w->may_be_paused
					? "accounting is off, or paused for lack of space"
					: "accounting is off: no record of a test process arrived",
				pacct_remedy_off);
	pacct_health_begin(s, !works, good_ns);
	pacct_wake_read(s);
	return 0;
}

/* A file that can be followed. */
static int check_file(const struct source_options *o, struct exeunt_source_status *st,
		      const char *path)
{
	struct pacct_file f;
	int r = pacct_file_open(&f, AT_FDCWD, path);

	if (r >= 0)
		pacct_file_close(&f);
	if (r >= 0)
		return 0;
	if (r == -ENOENT)
		return pacct_refuse(st, o, ENOENT, "touch FILE && accton FILE",
				    "there is no such accounting file", "there is no file '%.300s'",
				    path);
	if (r == -EACCES || r == -EPERM)
		return pacct_refuse(st, o, EACCES, remedy_root,
				    "the accounting file may not be read by this user",
				    "'%.300s' may not be read by this user", path);
	return pacct_refuse(st, o, -r, "name a regular file that accton can use",
			    "the accounting file cannot be read", "'%.300s' cannot be read: %s",
			    path, r == -EINVAL ? "it is no regular file" : strerror(-r));
}

static int open_file(struct pacct_source *s, const struct source_options *o, const char *path,
		     struct pacct_where *w)
{
	bool works = true;
	int r = check_file(o, s->base.status, path);

	if (r < 0)
		return r;
	if (!o->no_children) {
		r = pacct_detect(w, path, NULL);
		take_children(s, w);
		works = r >= 0 && w->found && !strcmp(w->follow, path);
	}
	if (r >= 0)
		r = start_following(s, path, NULL, works && w->found ? base_name(w->path) : NULL,
				    false);
	if (r < 0)
		return pacct_refuse(s->base.status, o, -r, NULL,
				    "the accounting file cannot be read",
				    "'%.300s' cannot be read: %s", path, strerror(-r));
	return finish_open(s, o, w, works);
}

static int refuse_own(const struct source_options *o, struct exeunt_source_status *st, int error)
{
	if (error == -ENOSYS)
		return pacct_refuse(st, o, EOPNOTSUPP,
				    "use a kernel with CONFIG_BSD_PROCESS_ACCT=y, or other sources",
				    "this kernel has no process accounting", NULL);
	if (error == -EPERM)
		return pacct_refuse(st, o, EPERM, remedy_root,
				    "switching accounting on needs the capability CAP_SYS_PACCT",
				    NULL);
	if (error == -EBUSY)
		return pacct_refuse(st, o, EBUSY, "stop it first, or use --pacct auto",
				    "another exeunt owns accounting", NULL);
	return pacct_refuse(st, o, -error, "mkdir -p /run/exeunt, as root",
			    "the directory for our own accounting files cannot be used",
			    "the directory for our own accounting files cannot be used: %s",
			    strerror(-error));
}

/* Nobody loses accounting to us unless --force says so. */
static int check_owner(const struct source_options *o, struct exeunt_source_status *st,
		       const struct pacct_where *w)
{
	static const char remedy[] = "--pacct auto reads along; --force takes accounting away";

	if (o->pacct_force)
		return 0;
	if (w->found)
		return pacct_refuse(st, o, EBUSY, remedy, "someone else has accounting switched on",
				    "someone else has accounting switched on, to '%.300s'",
				    w->path);
	if (w->may_be_paused)
		return pacct_refuse(st, o, EBUSY, remedy,
				    "someone else may have accounting, paused for lack of space",
				    NULL);
	return 0;
}

static int default_state(struct pacct_source *s)
{
	if (!s->state_path && asprintf(&s->state_path, "%s/state", s->own->dir) < 0) {
		s->state_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* What the detection found is known; `s->own` is ours to use. */
static int begin_own(struct pacct_source *s, const struct source_options *o,
		     const struct pacct_where *w)
{
	int ours = w->found ? pacct_own_index(s->own, w->path) : -1, r;

	if (ours >= 0) {
		pacct_own_adopt(s->own, ours);
		pacct_say(s, 6, "pacct: an earlier run left accounting on; it is taken over");
	} else {
		r = check_owner(o, s->base.status, w);
		if (r < 0)
			return r;
	}
	r = default_state(s);
	if (r >= 0)
		r = start_following(s, s->own->paths[s->own->active], PACCT_OWN_PREFIX, NULL, true);
	/* Nothing more is written to the other file. */
	if (r >= 0)
		r = pacct_follow_switch(s->follow, s->own->paths[s->own->active], pacct_time());
	if (r >= 0 && ours < 0)
		r = pacct_own_on(s->own, w->found ? w->path : NULL);
	if (r < 0)
		return pacct_refuse(s->base.status, o, -r, NULL, "accounting cannot be switched on",
				    "accounting cannot be switched on, to '%.300s': %s",
				    s->own->paths[s->own->active], strerror(-r));
	if (ours < 0 && w->found)
		pacct_say(s, 4, "pacct: accounting was taken from '%.300s' (--force)", w->path);
	s->force = o->pacct_force;
	s->base.keep_capabilities |= UINT64_C(1) << CAP_SYS_PACCT;
	return finish_open(s, o, w, true);
}

static int open_own(struct pacct_source *s, const struct source_options *o, struct pacct_where *w)
{
	int r = pacct_own_possible();

	if (r >= 0)
		r = pacct_own_new(&s->own, o->pacct_dir, o->pacct_bound);
	if (r < 0)
		return refuse_own(o, s->base.status, r);
	r = pacct_detect(w, s->own->paths[0], PACCT_OWN_PREFIX);
	take_children(s, w);
	if (r < 0)
		return pacct_refuse(s->base.status, o, -r, NULL, "no test process could be made",
				    NULL);
	return begin_own(s, o, w);
}

static int nobody_accounts(const struct source_options *o, struct exeunt_source_status *st,
			   const struct pacct_where *w)
{
	if (pacct_own_possible() == -ENOSYS)
		return refuse_own(o, st, -ENOSYS);
	if (w->may_be_paused)
		return pacct_refuse(st, o, ENODATA, "make room, or exeunt with --pacct own",
				    "accounting is off, or paused for lack of space", NULL);
	if (!capability_effective(CAP_DAC_READ_SEARCH))
		return pacct_refuse(
			st, o, EACCES, remedy_root,
			"accounting is off, or goes to a file that this user may not read", NULL);
	return pacct_refuse(st, o, ENODATA, pacct_remedy_off, "accounting is off", NULL);
}

/* A run of ours that crashed left it on, and nobody else would end it. */
static bool was_left_on(struct pacct_source *s, const struct source_options *o,
			const struct pacct_where *w)
{
	const char *dir = o->pacct_dir ? o->pacct_dir : PACCT_OWN_DIR;
	char ours[PATH_MAX];

	snprintf(ours, sizeof(ours), "%s/" PACCT_OWN_PREFIX, dir);
	/* While the lock is held, its owner lives. */
	return !strncmp(w->path, ours, strlen(ours)) && !pacct_own_possible() &&
	       !pacct_own_new(&s->own, dir, o->pacct_bound);
}

static int open_any(struct pacct_source *s, const struct source_options *o, struct pacct_where *w)
{
	char ours[PATH_MAX];
	int r;

	snprintf(ours, sizeof(ours), "%s/" PACCT_OWN_PREFIX "a",
		 o->pacct_dir ? o->pacct_dir : PACCT_OWN_DIR);
	r = pacct_detect(w, ours, PACCT_OWN_PREFIX);
	take_children(s, w);
	if (r < 0)
		return pacct_refuse(s->base.status, o, -r, NULL, "no test process could be made",
				    NULL);
	if (!w->found)
		return nobody_accounts(o, s->base.status, w);
	if (was_left_on(s, o, w))
		return begin_own(s, o, w);
	s->any_file = true;
	r = start_following(s, w->follow, NULL, base_name(w->path), false);
	if (r < 0)
		return pacct_refuse(s->base.status, o, -r, remedy_root,
				    "the accounting file cannot be read",
				    "'%.300s' cannot be read: %s", w->path, strerror(-r));
	return finish_open(s, o, w, true);
}

int pacct_open(struct source **ret, const struct source_options *o, struct exeunt_source_status *st)
{
	const char *mode = o->pacct_mode ? o->pacct_mode : "auto";
	struct pacct_where *w;
	struct pacct_source *s;
	int r;

	if (!strcmp(mode, "off")) {
		st->state = EXEUNT_STATE_OFF;
		return -EOPNOTSUPP;
	}
	w = calloc(1, sizeof(*w));
	r = w ? new_source(&s, o, st) : -ENOMEM;
	if (r < 0) {
		free(w);
		return pacct_refuse(st, o, -r, NULL, "not enough memory", NULL);
	}
	if (!strcmp(mode, "auto"))
		r = open_any(s, o, w);
	else if (!strcmp(mode, "own"))
		r = open_own(s, o, w);
	else
		r = open_file(s, o, mode, w);
	free(w);
	if (r < 0) {
		pacct_free(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
