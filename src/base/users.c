/* SPDX-License-Identifier: MIT */
/* A cache in sets of four before getpwuid_r(3) and getgrgid_r(3). See users.h. */
#include "base/users.h"

#include <grp.h>
#include <pwd.h>

#include "base/util.h"

/*
 * Several to a set: two numbers that fell to one place, such as those of root and of somebody who runs a lot, would push each
 * other out all the time, and to ask is a thousand times as dear as to know.
 */
#define SETS 256
#define WAYS 4
#define NAME_MAX_LEN 63 /* useradd(8) takes 32; directories more */
#define FRESH_NS (600 * NS_PER_SEC)

struct slot {
	uint32_t id;
	uint8_t used, len;
	int64_t asked_ns;
	char name[NAME_MAX_LEN + 1];
};

struct cache {
	struct slot slots[SETS][WAYS];
	uint8_t oldest[SETS]; /* the way that is used next */
};

struct users {
	struct cache users, groups;
};

int users_new(struct users **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void users_free(struct users *u)
{
	free(u);
}

/* One that does not fit is as good as none: half a name may be somebody else's. */
static void store(struct slot *s, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	s->len = len <= NAME_MAX_LEN ? (uint8_t)len : 0;
	if (s->len)
		memcpy(s->name, name, len + 1);
}

static void ask_user(struct slot *s)
{
	char buf[4096];
	struct passwd pw, *found = NULL;

	if (getpwuid_r(s->id, &pw, buf, sizeof(buf), &found))
		found = NULL;
	store(s, found ? pw.pw_name : NULL);
}

static void ask_group(struct slot *s)
{
	char buf[16384]; /* getgrgid_r() needs room for all members */
	struct group gr, *found = NULL;

	if (getgrgid_r(s->id, &gr, buf, sizeof(buf), &found))
		found = NULL;
	store(s, found ? gr.gr_name : NULL);
}

/* The slot of this number, or the one that it may have. */
static struct slot *find(struct cache *c, uint32_t id)
{
	unsigned int set = (id * UINT32_C(2654435769)) >> 24;

	for (int way = 0; way < WAYS; way++)
		if (c->slots[set][way].used && c->slots[set][way].id == id)
			return &c->slots[set][way];
	return &c->slots[set][c->oldest[set]++ % WAYS];
}

static const char *look_up(struct cache *c, uint32_t id, int64_t now_ns, size_t *len,
			   void (*ask)(struct slot *))
{
	struct slot *s = find(c, id);

	if (unlikely(!s->used || s->id != id || now_ns - s->asked_ns > FRESH_NS)) {
		s->used = 1;
		s->id = id;
		s->asked_ns = now_ns;
		ask(s);
	}
	*len = s->len;
	return s->len ? s->name : NULL;
}

const char *users_name(struct users *u, uint32_t uid, int64_t now_ns, size_t *len)
{
	return look_up(&u->users, uid, now_ns, len, ask_user);
}

const char *users_group(struct users *u, uint32_t gid, int64_t now_ns, size_t *len)
{
	return look_up(&u->groups, gid, now_ns, len, ask_group);
}
