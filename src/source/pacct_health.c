/* SPDX-License-Identifier: MIT */
/*
 * Does accounting work? Nothing tells when it is paused for lack of space, switched off or switched
 * elsewhere: the file just stands still, as it does when nothing ends. So when processes begin and
 * no record comes, a child of ours is made to end: its record is in the file when it has been
 * waited for, or accounting does not work.
 */
#include "source/pacct_internal.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/util.h"

#define LOOK_NS (250 * NS_PER_MSEC)
#define QUIET_NS NS_PER_SEC /* no records for so long, and yet new processes */
#define PROBE_NS NS_PER_SEC /* between two children */
#define SEARCH_NS (2 * NS_PER_SEC)
#define SEARCH_MOST_NS (60 * NS_PER_SEC)

/*
 * The pid that was given last: the last number of /proc/loadavg. Cheaper than the count of forks in
 * /proc/stat.
 */
static int64_t last_pid(const struct pacct_health *h)
{
	char text[128], *space;
	ssize_t n = pread(h->loadavg_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	space = strrchr(text, ' ');
	return space ? strtoll(space + 1, NULL, 10) : 0;
}

void pacct_health_begin(struct pacct_source *s, bool down, int64_t good_ns)
{
	struct pacct_health *h = &s->health;

	h->loadavg_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	h->good_ns = h->told_ns = good_ns;
	h->last_pid = last_pid(h);
	h->down = down;
	h->search_after_ns = SEARCH_NS;
	h->search_ns = mono_now() + SEARCH_NS;
}

/*
 * A record of version 3 without memory and without AFORK is of the process that switched accounting
 * off or over.
 */
static bool is_phantom(const unsigned char *record)
{
	return (record[1] & 0x7f) == 3 && !(record[0] & 1) && !load_u16(record + 36);
}

void pacct_health_bytes(struct pacct_source *s, const unsigned char *data, size_t len)
{
	const size_t record = PACCT_MARK;
	struct pacct_health *h = &s->health;
	bool phantom = len >= record && is_phantom(data + len - record);

	/* An exit may have been writing its record while accounting was switched. */
	if (!phantom && len >= 2 * record)
		h->suspicious |= is_phantom(data + len - 2 * record);
	h->suspicious |= phantom;
	if (!phantom || len > record) {
		h->good = true;
		h->good_ns = mono_now();
	}
}

static bool is_read_only(int fd)
{
	struct statvfs st;

	return fd >= 0 && !fstatvfs(fd, &st) && (st.f_flag & ST_RDONLY);
}

static void explain(struct pacct_source *s)
{
	int fd = pacct_follow_fd(s->follow);
	const char *path = pacct_follow_path(s->follow);
	char reason[PACCT_SENTENCE], remedy[PACCT_SENTENCE];

	snprintf(remedy, sizeof(remedy), "accton %s", path);
	if (is_read_only(fd)) {
		snprintf(reason, sizeof(reason),
			 "the file system of '%s' is mounted read-only, which switched "
			 "accounting off",
			 path);
		snprintf(remedy, sizeof(remedy), "make it writable again, then: accton %s", path);
	} else if (pacct_lacks_room(fd)) {
		snprintf(reason, sizeof(reason),
			 "the kernel has paused accounting: the file system of '%s' is nearly full",
			 path);
		snprintf(remedy, sizeof(remedy),
			 "make room there; the kernel then goes on by itself");
	} else if (s->own) {
		snprintf(reason, sizeof(reason),
			 "accounting was switched off, or taken over, by someone else");
		snprintf(remedy, sizeof(remedy),
			 "start exeunt again, with --force if another program is to lose it");
	} else {
		snprintf(
			reason, sizeof(reason),
			"no records arrive in '%s': accounting was switched off, or goes elsewhere",
			path);
	}
	pacct_set_state(s, EXEUNT_STATE_FAILED, reason, remedy);
	pacct_say(s, 4, "pacct: %s. What mends it: %s", reason, remedy);
}

static int go_down(struct pacct_source *s, struct pacct_out *out, int64_t now)
{
	struct pacct_health *h = &s->health;

	h->down = true;
	h->suspicious = false;
	h->told_ns = h->good_ns;
	h->search_after_ns = SEARCH_NS;
	h->search_ns = now;
	explain(s);
	return pacct_health_end(s, out);
}

/* The window from the last one told, or from when records were last known to arrive, to now. */
int pacct_health_end(struct pacct_source *s, struct pacct_out *out)
{
	int64_t since_ns = s->health.told_ns;

	if (!s->health.down)
		return 0;
	s->health.told_ns = mono_now();
	return pacct_tell_lost(s, out, since_ns);
}

int pacct_health_recover(struct pacct_source *s, struct pacct_out *out)
{
	int r;

	if (!s->health.down || !s->health.good)
		return 0;
	r = pacct_health_end(s, out);
	s->health.down = false;
	pacct_set_state(s, EXEUNT_STATE_OPEN, NULL, NULL);
	pacct_say(s, 6, "pacct: records arrive again, in '%s'", pacct_follow_path(s->follow));
	return r;
}

int pacct_health_probe(struct pacct_source *s, struct pacct_out *out)
{
	struct pacct_health *h = &s->health;
	pid_t pid = pacct_end_child();
	int r;

	if (pid < 0)
		return 1; /* no more processes: nobody can say that it does not work */
	h->good = false;
	pacct_add_child(s, pid);
	r = pacct_announce(s, out);
	if (r >= 0)
		r = pacct_follow_look(s->follow, pacct_time()) == -ENOMEM ? -ENOMEM : 0;
	if (r >= 0)
		r = pacct_read_all(s, out);
	if (r < 0)
		return r;
	h->probe_ns = mono_now() + PROBE_NS;
	h->last_pid = last_pid(h);
	/* Where the record came behind a phantom, accounting was switched over to where we read. */
	h->suspicious &= !h->good;
	return h->good;
}

/* Who has it now? And in auto mode: there we go. */
static int search(struct pacct_source *s, struct pacct_out *out, int64_t now)
{
	struct pacct_where *w = malloc(sizeof(*w));
	struct pacct_health *h = &s->health;
	int r = w ? pacct_detect(w, pacct_follow_path(s->follow), s->own ? PACCT_OWN_PREFIX : NULL)
		  : -ENOMEM;

	h->search_after_ns = MIN(h->search_after_ns * 2, SEARCH_MOST_NS);
	h->search_ns = now + h->search_after_ns;
	for (unsigned int i = 0; i < (r < 0 ? 0 : w->n_children); i++)
		pacct_add_child(s, w->children[i]);
	if (r >= 0)
		r = pacct_announce(s, out);
	if (r >= 0 && w->found && strcmp(w->follow, pacct_follow_path(s->follow)) != 0) {
		char reason[PACCT_SENTENCE];

		snprintf(reason, sizeof(reason), "accounting goes to '%.400s' now", w->path);
		if (s->any_file) {
			r = pacct_turn_to(s, w->follow, w->path);
			h->good = r >= 0;
			r = r < 0 && r != -ENOMEM ? 0 : pacct_health_recover(s, out);
		} else if (!s->base.status->reason || strcmp(s->base.status->reason, reason) != 0) {
			pacct_set_state(s, EXEUNT_STATE_FAILED, reason, s->remedy);
			pacct_say(s, 4, "pacct: %s", reason);
		}
	}
	free(w);
	return r == -ENOMEM || r >= 0 ? MIN(r, 0) : 0;
}

static int tick_down(struct pacct_source *s, struct pacct_out *out, int64_t now)
{
	if (now < s->health.search_ns)
		return 0;
	if (s->own && s->force && !pacct_own_on(s->own, s->own->found))
		pacct_say(s, 4, "pacct: accounting was taken back (--force)");
	return search(s, out, now);
}

static bool is_doubtful(struct pacct_health *h, int64_t now)
{
	if (h->suspicious)
		return true;
	if (h->good) {
		h->good = false;
		h->last_pid = last_pid(h);
		return false;
	}
	return now - h->good_ns >= QUIET_NS && now >= h->probe_ns && last_pid(h) != h->last_pid;
}

int pacct_health_tick(struct pacct_source *s, struct pacct_out *out, int64_t now)
{
	struct pacct_health *h = &s->health;
	int r;

	if (h->off || now < h->look_ns)
		return 0;
	h->look_ns = now + LOOK_NS;
	if (h->down)
		return tick_down(s, out, now);
	if (!is_doubtful(h, now))
		return 0;
	r = pacct_health_probe(s, out);
	return r ? MIN(r, 0) : go_down(s, out, now);
}
