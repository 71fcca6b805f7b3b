/* SPDX-License-Identifier: MIT */
/* See top-model.h. */
#include "view/top-model.h"

#include <sys/random.h>

#include "view/top-key.h"

enum { WITHOUT_PARENT, WITH_PARENT, TABLES };

/* Exits are remembered so that they can be amended, as the tally of `report` does: by pid, the latest that fell to its place. */
#define MEMORIES 8192

struct memory {
	uint64_t entity_start_ns;
	int32_t pid;
	bool used, counted;
	uint32_t group_id[TABLES];
	uint64_t group_hash[TABLES];
	struct top_exit *exit; /* what is kept of it, if it still has this id */
	uint64_t exit_id;
	struct top_gift gift;
};

struct top_model {
	struct top_groups tables[TABLES];
	struct top_group *total;
	struct top_exits exits;
	struct memory *memories;
	struct top_key key;
	struct top_loss losses[EXEUNT_SOURCE_COUNT][EXEUNT_LOSS_CAUSE_COUNT];
	uint32_t history[TOP_HISTORY_SECONDS];
	int64_t now_ns, first_ns, second;
	uint64_t lost_amends;
	uint32_t sources;
	bool hold;
};

static void on_gone(struct top_group *g, void *userdata)
{
	(void)userdata;
	top_exits_forget_group(g);
}

static int make_tables(struct top_model *m, uint32_t most)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uintptr_t)m;
	for (int i = 0; i < TABLES; i++)
		if (top_groups_init(&m->tables[i], most, seed) < 0)
			return -ENOMEM;
	m->tables[WITHOUT_PARENT].on_gone = on_gone;
	return 0;
}

int top_model_new(struct top_model **ret, uint32_t most)
{
	struct top_model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->exits.most = TOP_EXITS_MOST;
	m->memories = calloc(MEMORIES, sizeof(*m->memories));
	m->total = calloc(1, sizeof(*m->total));
	if (!m->memories || !m->total || make_tables(m, most ? most : TOP_GROUPS_MOST) < 0) {
		top_model_free(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void top_model_free(struct top_model *m)
{
	if (!m)
		return;
	top_exits_clear(&m->exits);
	for (int i = 0; i < TABLES; i++)
		top_groups_clear(&m->tables[i]);
	free(m->memories);
	free(m->total);
	free(m);
}

int top_model_again(struct top_model **ret, const struct top_model *from)
{
	int r = top_model_new(ret, from->tables[WITHOUT_PARENT].most);

	if (r < 0)
		return r;
	memcpy((*ret)->losses, from->losses, sizeof(from->losses));
	(*ret)->sources = from->sources;
	if (from->now_ns)
		top_model_advance(*ret, from->now_ns);
	return 0;
}

static int64_t tick_of(const struct top_model *m)
{
	return m->now_ns / TOP_TICK_NS;
}

void top_model_advance(struct top_model *m, int64_t now_ns)
{
	int64_t second;

	if (!m->now_ns) {
		m->first_ns = m->now_ns = now_ns;
		m->second = now_ns / NS_PER_SEC;
		top_group_begin(m->total, tick_of(m));
		return;
	}
	if (now_ns <= m->now_ns)
		return;
	m->now_ns = now_ns;
	second = now_ns / NS_PER_SEC;
	if (second - m->second >= TOP_HISTORY_SECONDS) {
		memset(m->history, 0, sizeof(m->history));
		m->second = second;
	}
	while (m->second < second)
		m->history[++m->second % TOP_HISTORY_SECONDS] = 0;
}

static void count(struct top_model *m, struct memory *mem, const struct exeunt_record *r)
{
	int64_t tick = tick_of(m);
	struct top_group *g[TABLES];

	top_key_make(&m->key, r);
	g[0] = top_groups_get(&m->tables[WITHOUT_PARENT], m->key.data, m->key.without_parent, tick);
	g[1] = top_groups_get(&m->tables[WITH_PARENT], m->key.data, m->key.len, tick);
	for (int i = 0; i < TABLES; i++) {
		top_group_give(g[i], &mem->gift, tick);
		mem->group_hash[i] = g[i]->hash;
		mem->group_id[i] = g[i]->id;
	}
	top_group_give(m->total, &mem->gift, tick);
	if (mem->exit && mem->exit->id == mem->exit_id) {
		top_exits_amend(mem->exit, r);
	} else if (!m->hold) {
		mem->exit = top_exits_keep(&m->exits, g[WITHOUT_PARENT], r);
		mem->exit_id = mem->exit ? mem->exit->id : 0;
	}
}

static void take_exit(struct top_model *m, const struct exeunt_record *r, bool counted)
{
	struct memory *mem = &m->memories[(uint32_t)r->pid % MEMORIES];

	mem->used = exeunt_has(r, EXEUNT_F_ENTITY_ID);
	mem->pid = r->pid;
	mem->entity_start_ns = r->entity_start_ns;
	mem->counted = counted;
	mem->exit = NULL;
	if (!counted)
		return;
	m->history[m->second % TOP_HISTORY_SECONDS]++;
	top_weigh(&mem->gift, r);
	count(m, mem, r);
}

static void take_amend(struct top_model *m, const struct exeunt_record *r, bool counted)
{
	struct memory *mem = &m->memories[(uint32_t)r->pid % MEMORIES];
	int64_t tick = tick_of(m);

	if (!exeunt_has(r, EXEUNT_F_ENTITY_ID) || !mem->used || mem->pid != r->pid ||
	    mem->entity_start_ns != r->entity_start_ns) {
		m->lost_amends++;
		return;
	}
	for (int i = 0; mem->counted && i < TABLES; i++)
		top_group_take_back(
			top_groups_again(&m->tables[i], mem->group_hash[i], mem->group_id[i]),
			&mem->gift, tick);
	if (mem->counted)
		top_group_take_back(m->total, &mem->gift, tick);
	mem->counted = counted;
	if (!counted)
		return;
	top_weigh(&mem->gift, r);
	count(m, mem, r);
}

static void take_loss(struct top_model *m, const struct exeunt_loss *l)
{
	struct top_loss *to;

	if ((unsigned int)l->source >= EXEUNT_SOURCE_COUNT ||
	    (unsigned int)l->cause >= EXEUNT_LOSS_CAUSE_COUNT)
		return;
	to = &m->losses[l->source][l->cause];
	to->exact = l->exact && (to->exact || !to->count);
	to->count += l->count;
	to->backfilled += l->backfilled;
}

static void take_status(struct top_model *m, const struct exeunt_status *s)
{
	uint32_t sources = 0;

	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i].state == EXEUNT_STATE_OPEN)
			sources |= EXEUNT_SOURCE_BIT(s->sources[i].source);
	m->sources = sources;
}

void top_model_take(struct top_model *m, const struct exeunt_record *r, int64_t now_ns,
		    bool counted)
{
	top_model_advance(m, now_ns);
	switch (r->type) {
	case EXEUNT_TYPE_EXIT:
		take_exit(m, r, counted);
		break;
	case EXEUNT_TYPE_AMEND:
		take_amend(m, r, counted);
		break;
	case EXEUNT_TYPE_LOSS:
		take_loss(m, r->loss);
		break;
	case EXEUNT_TYPE_START:
	case EXEUNT_TYPE_STATUS:
		take_status(m, r->status);
		break;
	default:
		break;
	}
}

void top_model_hold(struct top_model *m, bool hold)
{
	m->hold = hold;
}

double top_model_seconds(const struct top_model *m)
{
	return (double)(m->now_ns - m->first_ns) / (double)NS_PER_SEC;
}

int64_t top_model_now(const struct top_model *m)
{
	return m->now_ns;
}

void top_model_total(struct top_model *m, enum top_window window, struct top_sums *ret)
{
	*ret = (struct top_sums){ 0 };
	top_group_add(m->total, window, tick_of(m), ret);
}

struct top_groups *top_model_groups(struct top_model *m, bool with_parent)
{
	return &m->tables[with_parent];
}

const struct top_exit *top_model_latest(const struct top_model *m)
{
	return m->exits.newest;
}

uint32_t top_model_history(const struct top_model *m, unsigned int seconds_ago)
{
	int64_t second = m->second - seconds_ago;

	if (seconds_ago >= TOP_HISTORY_SECONDS || second < m->first_ns / NS_PER_SEC)
		return 0;
	return m->history[second % TOP_HISTORY_SECONDS];
}

const struct top_loss *top_model_loss(const struct top_model *m, enum exeunt_source source,
				      enum exeunt_loss_cause cause)
{
	return &m->losses[source][cause];
}

uint64_t top_model_lost(const struct top_model *m, bool *exact)
{
	uint64_t lost = 0;

	*exact = true;
	for (int s = 0; s < EXEUNT_SOURCE_COUNT; s++) {
		for (int c = 0; c < EXEUNT_LOSS_CAUSE_COUNT; c++) {
			const struct top_loss *l = &m->losses[s][c];

			lost += l->count - MIN(l->count, l->backfilled);
			*exact &= l->exact || !l->count;
		}
	}
	return lost;
}

uint64_t top_model_lost_amends(const struct top_model *m)
{
	return m->lost_amends;
}

uint32_t top_model_sources(const struct top_model *m)
{
	return m->sources;
}

void top_model_set_sources(struct top_model *m, uint32_t sources)
{
	m->sources = sources;
}
