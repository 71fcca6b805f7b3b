/* SPDX-License-Identifier: MIT */
/* The table itself: entries, generations, lists, bounds; see context.h. */
#include "join/context.h"

#include "base/clock.h"
#include "base/util.h"
#include "join/context-internal.h"

#define SLAB_ENTRIES 256
#define MIN_ENTRIES 16u
#define MIN_BYTES ((size_t)256 << 10)

/*
 * Events of a process may be read a little after its exit record was made: its children's FORK
 * above all.
 */
#define AFTERLIFE_NS (200 * NS_PER_MSEC)

/* Living entries are looked at this often even if nothing is known to be lost. */
#define STALE_NS (60 * NS_PER_SEC)
#define SWEEP_SLOW 4
#define SWEEP_FAST 256

/*
 * Pids are given in turn: with the default of pid_max six million processes a second would have to
 * be born for one to be given twice in so short a time, or somebody asks for a number (clone3(2)
 * with set_tid). Most call exec within one.
 */
#define YOUNG_NS (5 * NS_PER_MSEC)
#define PID_MAX_DEFAULT 32768
/* It may be changed at any time. */
#define PID_MAX_AGAIN_NS NS_PER_SEC

struct slab {
	struct slab *next;
	struct context_entry entries[SLAB_ENTRIES];
};

static struct context_entry *entry_of(struct list *l)
{
	return container_of(l, struct context_entry, list);
}

static void set_bounds(struct context *c, const struct context_options *o)
{
	uint32_t rate = o->reads_per_second ? o->reads_per_second : 5000;
	unsigned int bits = 4;

	c->max_entries = MAX(o->max_entries ? o->max_entries : 65536, MIN_ENTRIES);
	c->max_bytes = MAX(o->max_bytes ? o->max_bytes : (size_t)32 << 20, MIN_BYTES);
	c->linger_ns = o->linger_ns ? o->linger_ns : 10 * NS_PER_SEC;
	while (bits < 22 && (UINT32_C(1) << bits) < c->max_entries)
		bits++;
	c->mask = (UINT32_C(1) << bits) - 1;
	c->cost_ns = MAX(NS_PER_SEC / rate, INT64_C(1));
	c->credit_ns = NS_PER_SEC;
	c->clock = o->clock ? o->clock : mono_now;
	c->tick_ns = NS_PER_SEC / MAX(sysconf(_SC_CLK_TCK), 1L);
}

static void read_pid_max(struct context *c, int64_t now_ns)
{
	char text[16] = { 0 };

	c->pid_max_at_ns = now_ns;
	c->young_ns = 0;
	if (procfs_read(c->proc_fd, "sys/kernel/pid_max", text, sizeof(text) - 1) > 0 &&
	    atol(text) >= PID_MAX_DEFAULT)
		c->young_ns = YOUNG_NS;
}

static int open_parts(struct context *c, const struct context_options *o, size_t *bad)
{
	int r;

	c->buckets = calloc((size_t)c->mask + 1, sizeof(*c->buckets));
	if (!c->buckets)
		return -ENOMEM;
	r = pool_init(&c->pool);
	if (r < 0)
		return r;
	/*
	 * made even if it will not be used, so that a bad pattern is told whatever else is asked
	 * for
	 */
	r = args_rules_new(&c->args, o->redact, o->n_redact, o->args_bytes ? o->args_bytes : 4096,
			   o->args_count ? o->args_count : 32, bad);
	if (r < 0)
		return r;
	if (o->no_args) {
		args_rules_free(c->args);
		c->args = NULL;
	}
	if (o->proc_path && !*o->proc_path)
		return 0;
	c->proc_fd = procfs_open(o->proc_path);
	if (c->proc_fd < 0)
		return c->proc_fd;
	read_pid_max(c, INT64_MIN / 2);
	r = exe_cache_new(&c->exes);
	return r == -ENOSYS ? 0 : r;
}

int context_new(struct context **ret, const struct context_options *options, size_t *bad)
{
	static const struct context_options defaults;
	const struct context_options *o = options ? options : &defaults;
	struct context *c = calloc(1, sizeof(*c));
	int r;

	*ret = NULL;
	if (!c)
		return -ENOMEM;
	c->proc_fd = -1;
	list_init(&c->living);
	list_init(&c->ended);
	list_init(&c->released);
	set_bounds(c, o);
	r = open_parts(c, o, bad);
	if (r < 0)
		context_free(c);
	else
		*ret = c;
	return r;
}

void context_free(struct context *c)
{
	if (!c)
		return;
	for (struct slab *s = c->slabs, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	exe_cache_free(c->exes, &c->pool);
	if (c->pool.buckets)
		pool_done(&c->pool);
	args_rules_free(c->args);
	close_fd(c->proc_fd);
	free(c->buckets);
	free(c);
}

void context_set_boot_offset(struct context *c, int64_t offset_ns)
{
	c->boot_offset_ns = offset_ns;
}

static void drop(struct context *c, struct context_entry *e)
{
	context_unchain(e);
	list_remove(&e->list);
	pool_unref(&c->pool, e->exe);
	pool_unref(&c->pool, e->args);
	pool_unref(&c->pool, e->cwd);
	pool_unref(&c->pool, e->cgroup);
	e->hash_next = c->free;
	c->free = e;
	c->stats.entries--;
}

/* What is joined goes first, then what ended, then the longest untouched. */
static bool evict(struct context *c, const struct context_entry *keep)
{
	struct list *const order[] = { &c->released, &c->ended, &c->living };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct list *l = order[i]->next;

		if (l != order[i] && entry_of(l) == keep)
			l = l->next;
		if (l == order[i])
			continue;
		c->stats.evicted += order[i] != &c->released;
		drop(c, entry_of(l));
		return true;
	}
	return false;
}

static size_t bytes_used(const struct context *c)
{
	return c->pool.bytes + c->stats.entries * sizeof(struct context_entry);
}

void context_shrink(struct context *c, const struct context_entry *keep)
{
	while (bytes_used(c) > c->max_bytes && evict(c, keep))
		;
}

/* No room for one more entry. */
static bool is_full(const struct context *c)
{
	return c->stats.entries >= c->max_entries ||
	       bytes_used(c) + sizeof(struct context_entry) > c->max_bytes;
}

static bool add_slab(struct context *c)
{
	struct slab *s = malloc(sizeof(*s));

	if (!s)
		return false;
	s->next = c->slabs;
	c->slabs = s;
	for (size_t i = SLAB_ENTRIES; i-- > 0;) {
		s->entries[i].hash_next = c->free;
		c->free = &s->entries[i];
	}
	return true;
}

struct context_entry *context_add(struct context *c, int32_t tgid, const struct context_entry *keep)
{
	struct context_entry *e;

	while (is_full(c) && evict(c, keep))
		;
	if (!c->free && !add_slab(c)) {
		c->stats.no_memory++;
		return NULL;
	}
	e = c->free;
	c->free = e->hash_next;
	memset(e, 0, sizeof(*e));
	e->tgid = tgid;
	context_chain(c, e);
	list_append(&c->living, &e->list);
	c->stats.entries++;
	return e;
}

void context_touch(struct context *c, struct context_entry *e, int64_t mono_ns)
{
	e->seen_ns = MAX(e->seen_ns, mono_ns);
	if (e->flags & (CONTEXT_ENDED | CONTEXT_RELEASED)) {
		if (e->flags & CONTEXT_RELEASED || mono_ns <= e->end_ns)
			return;
		e->flags &= (uint16_t)~CONTEXT_ENDED;
	}
	list_move_to_end(&c->living, &e->list);
}

void context_end(struct context *c, struct context_entry *e, int64_t mono_ns)
{
	if (e->flags & CONTEXT_RELEASED)
		return;
	e->end_ns = e->flags & CONTEXT_ENDED ? MAX(e->end_ns, mono_ns) : mono_ns;
	e->flags |= CONTEXT_ENDED;
	list_move_to_end(&c->ended, &e->list);
}

const struct context_entry *context_lookup(struct context *c, int32_t tgid, int64_t mono_ns)
{
	const struct context_entry *e = context_find(c, tgid, mono_ns);

	return e && !(e->flags & CONTEXT_RELEASED) ? e : NULL;
}

void context_release(struct context *c, const struct context_entry *entry, int64_t now_ns)
{
	struct context_entry *e;

	if (!entry || entry->flags & CONTEXT_RELEASED)
		return;
	e = container_of(entry, struct context_entry, hash_next); /* it is ours to change */
	context_end(c, e, e->flags & CONTEXT_ENDED ? e->end_ns : now_ns);
	e->flags |= CONTEXT_RELEASED;
	e->checked_ns = now_ns;
	list_move_to_end(&c->released, &e->list);
	context_reap(c, now_ns, 2);
}

void context_reap(struct context *c, int64_t now_ns, unsigned int max)
{
	for (; max && !list_is_empty(&c->released); max--) {
		struct context_entry *e = entry_of(c->released.next);

		if (now_ns - e->checked_ns < AFTERLIFE_NS)
			break;
		drop(c, e);
	}
}

/* 0: the process of the entry is still there; -ESRCH: it is not; others: nobody knows. */
static int look(struct context *c, const struct context_entry *e, int64_t now_ns)
{
	int r = context_read(c, e->tgid, 0, false, NULL);

	return r < 0 ? r : context_is_same(c, e, now_ns) ? 0 : -ESRCH;
}

/* A leader that ended may have left threads behind, and then its process goes on. */
static void expire(struct context *c, int64_t now_ns)
{
	while (!list_is_empty(&c->ended)) {
		struct context_entry *e = entry_of(c->ended.next);

		if (now_ns - e->end_ns < c->linger_ns)
			break;
		if (c->proc_fd >= 0) {
			if (!context_afford(c, now_ns, false))
				break;
			if (!look(c, e, now_ns) && c->snap.stat.threads > 1) {
				context_touch(c, e, now_ns);
				continue;
			}
		}
		c->stats.expired++;
		drop(c, e);
	}
}

static void sweep(struct context *c, int64_t now_ns)
{
	unsigned int n = 0;

	while (c->proc_fd >= 0 && !list_is_empty(&c->living)) {
		struct context_entry *e = entry_of(c->living.next);
		bool suspect = e->seen_ns <= c->lost_ns;

		if (n++ >= (suspect ? SWEEP_FAST : SWEEP_SLOW))
			break;
		if (!suspect && now_ns - e->seen_ns < STALE_NS)
			break;
		if (!context_afford(c, now_ns, false))
			break;
		/* touched either way: one that cannot be told apart must not hold the others up */
		if (look(c, e, now_ns) != -ESRCH) {
			context_touch(c, e, now_ns);
			continue;
		}
		c->stats.swept++;
		drop(c, e);
	}
}

void context_lost(struct context *c, int64_t now_ns)
{
	c->lost_ns = now_ns;
}

void context_tick(struct context *c, int64_t now_ns)
{
	context_reap(c, now_ns, UINT32_MAX);
	if (c->proc_fd >= 0 && now_ns - c->pid_max_at_ns >= PID_MAX_AGAIN_NS)
		read_pid_max(c, now_ns);
	expire(c, now_ns);
	sweep(c, now_ns);
}

void context_stats(const struct context *c, struct context_stats *ret)
{
	*ret = c->stats;
	ret->bytes = bytes_used(c);
}
