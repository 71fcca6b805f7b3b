/* SPDX-License-Identifier: MIT */
/* See top-key.h. A part is its length, two bytes, ABSENT if it is not known, and its bytes. */
#include "view/top-key.h"

#include "record/fields.h"
#include "record/status.h"

#define ABSENT 0xffffu

/* In the order of the key; the parent comes last, so that the key without it is the beginning. */
enum part {
	PART_COMM,
	PART_STATUS,
	PART_UID,
	PART_USER,
	PART_LOGIN_UID,
	PART_LOGIN_USER,
	PART_EXE,
	PART_UNIT,
	PART_CGROUP,
	PART_CONTAINER,
	PART_PARENT,
	PARTS
};

_Static_assert(PARTS *(TOP_PART_MOST + 2) <= TOP_KEY_MOST, "TOP_KEY_MOST");

static const uint8_t fields[PARTS] = {
	[PART_COMM] = EXEUNT_F_COMM,
	[PART_STATUS] = EXEUNT_F_EXIT_STATUS,
	[PART_UID] = EXEUNT_F_UID,
	[PART_USER] = EXEUNT_F_USER,
	[PART_LOGIN_UID] = EXEUNT_F_LOGIN_UID,
	[PART_LOGIN_USER] = EXEUNT_F_LOGIN_USER,
	[PART_EXE] = EXEUNT_F_EXE_PATH,
	[PART_UNIT] = EXEUNT_F_UNIT,
	[PART_CGROUP] = EXEUNT_F_CGROUP,
	[PART_CONTAINER] = EXEUNT_F_CONTAINER_ID,
	[PART_PARENT] = EXEUNT_F_PARENT_PID,
};

static inline uint8_t *put(uint8_t *p, const void *data, size_t len)
{
	uint16_t n = (uint16_t)MIN(len, (size_t)TOP_PART_MOST);

	memcpy(p, &n, sizeof(n));
	memcpy(p + sizeof(n), data, n);
	return p + sizeof(n) + n;
}

static inline uint8_t *put_part(uint8_t *p, const struct exeunt_record *r, enum part part)
{
	const unsigned int field = fields[part];
	const void *v = field_ptr(r, field);
	const struct exeunt_bytes *b = v;

	if (!exeunt_has(r, field)) {
		memset(p, 0xff, 2);
		return p + 2;
	}
	switch (field_table[field].kind) {
	case FIELD_COMM:
		return put(p, v, strnlen(v, sizeof(r->comm)));
	case FIELD_BYTES:
		return put(p, b->len ? b->data : "", b->len);
	default:
		return put(p, v, 4);
	}
}

void top_key_make(struct top_key *k, const struct exeunt_record *r)
{
	uint8_t *p = k->data;

	for (int i = 0; i < PART_PARENT; i++)
		p = put_part(p, r, (enum part)i);
	k->without_parent = (size_t)(p - k->data);
	p = put_part(p, r, PART_PARENT);
	k->len = (size_t)(p - k->data);
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) *
				    (b ^ UINT64_C(0xd1b54a32d192ed03));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t top_key_hash(uint64_t seed, const uint8_t *data, size_t len)
{
	uint64_t hash = seed ^ len, last = 0;
	size_t i = 0;

	for (; i + 8 <= len; i += 8)
		hash = mix(hash, load_u64(data + i));
	memcpy(&last, data + i, len - i);
	return mix(hash, last);
}

/* The bytes of one part, and whether it is known. */
static bool find(const uint8_t *key, size_t len, enum part part, struct exeunt_bytes *ret)
{
	size_t at = 0;

	for (int i = 0; at + 2 <= len; i++) {
		uint16_t n = load_u16(key + at);
		size_t size = n == ABSENT ? 0 : n;

		if (i == (int)part) {
			*ret = (struct exeunt_bytes){ (const char *)key + at + 2, (uint32_t)size };
			return n != ABSENT;
		}
		at += 2 + size;
	}
	return false;
}

/* Names stand for numbers, where there are any; each list ends with what is left when nothing is known. */
static const uint8_t parts_of[TOP_BYS][2] = {
	[TOP_BY_COMM] = { PART_COMM, PART_COMM },
	[TOP_BY_EXE] = { PART_EXE, PART_EXE },
	[TOP_BY_USER] = { PART_USER, PART_UID },
	[TOP_BY_LOGIN] = { PART_LOGIN_USER, PART_LOGIN_UID },
	[TOP_BY_PARENT] = { PART_PARENT, PART_PARENT },
	[TOP_BY_UNIT] = { PART_UNIT, PART_CGROUP },
	[TOP_BY_CONTAINER] = { PART_CONTAINER, PART_CONTAINER },
	[TOP_BY_STATUS] = { PART_STATUS, PART_STATUS },
};

struct exeunt_bytes top_key_part(const uint8_t *key, size_t len, enum top_by by, bool *known)
{
	struct exeunt_bytes b = { 0 };

	*known = find(key, len, (enum part)parts_of[by][0], &b) ||
		 find(key, len, (enum part)parts_of[by][1], &b);
	return *known ? b : (struct exeunt_bytes){ 0 };
}

static void take_part(struct exeunt_record *r, enum part part, struct exeunt_bytes b)
{
	const unsigned int field = fields[part];
	char *member = (char *)r + field_table[field].offset;
	uint32_t status;

	if (part == PART_STATUS) {
		memcpy(&status, b.data, sizeof(status));
		record_set_status(r, status);
		return;
	}
	field_set(r, field);
	switch (field_table[field].kind) {
	case FIELD_COMM:
		memcpy(member, b.data, MIN((size_t)b.len, sizeof(r->comm)));
		break;
	case FIELD_BYTES:
		memcpy(member, &b, sizeof(b));
		break;
	default:
		memcpy(member, b.data, 4);
	}
}

void top_key_record(const uint8_t *key, size_t len, struct exeunt_record *r)
{
	size_t at = 0;

	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	r->version = EXEUNT_RECORD_VERSION;
	r->type = EXEUNT_TYPE_EXIT;
	for (int i = 0; at + 2 <= len && i < PARTS; i++) {
		uint16_t n = load_u16(key + at);

		at += 2;
		if (n == ABSENT)
			continue;
		take_part(r, (enum part)i, (struct exeunt_bytes){ (const char *)key + at, n });
		at += n;
	}
}

bool top_key_has(const uint64_t mask[EXEUNT_PRESENT_WORDS])
{
	struct exeunt_record r = { 0 };

	for (int i = 0; i < PARTS; i++)
		field_set(&r, fields[i]);
	for (int i = EXEUNT_F_EXIT_CODE; i <= EXEUNT_F_EXIT_STATUS; i++)
		field_set(&r, (enum exeunt_field)i);
	for (int i = 0; i < EXEUNT_PRESENT_WORDS; i++)
		if (mask[i] & ~r.present[i])
			return false;
	return true;
}

enum exeunt_field top_key_field(const struct exeunt_record *r, enum top_by by)
{
	for (int i = 0; i < 2; i++)
		if (exeunt_has(r, fields[parts_of[by][i]]))
			return fields[parts_of[by][i]];
	return EXEUNT_F_COUNT;
}
