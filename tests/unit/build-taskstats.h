/* SPDX-License-Identifier: MIT */
/*
 * Writes taskstats messages as a kernel would, for tests: by plain numbers and not by the decoder's tables, so that
 * a slip in those shows.
 */
#ifndef BUILD_TASKSTATS_H
#define BUILD_TASKSTATS_H

#include <stdint.h>
#include <string.h>

struct built {
	unsigned char bytes[4096];
	size_t len;
	unsigned char *stats; /* the struct within */
};

static inline void put16(unsigned char *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void put32(unsigned char *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void put64(unsigned char *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* nlmsghdr, genlmsghdr, AGGR_PID { PID, [NULL,] STATS of `size` bytes }; the struct is zero but for its version. */
static inline void build_message(struct built *b, uint16_t version, size_t size, int32_t pid,
				 int pad)
{
	unsigned char *p = b->bytes;
	size_t nest = 4 + 8 + (pad ? 4 : 0) + 4 + size, at = 24;

	memset(b, 0, sizeof(*b));
	put16(p + 4, 31); /* a dynamic family */
	p[16] = 2;	  /* TASKSTATS_CMD_NEW */
	p[17] = 1;
	put16(p + 20, (uint16_t)nest);
	put16(p + 22, 4); /* AGGR_PID */
	put16(p + at, 8);
	put16(p + at + 2, 1); /* PID */
	put32(p + at + 4, (uint32_t)pid);
	at += 8;
	if (pad) {
		put16(p + at, 4);
		put16(p + at + 2, 6); /* NULL */
		at += 4;
	}
	put16(p + at, (uint16_t)(4 + size));
	put16(p + at + 2, 3); /* STATS */
	b->stats = p + at + 4;
	b->len = at + 4 + size;
	put16(b->stats, version);
	put32(p, (uint32_t)b->len);
}

/* AGGR_TGID { TGID, STATS } behind, as the kernel sends it with the last of several threads. */
static inline void build_aggregate(struct built *b, int32_t tgid, size_t size)
{
	unsigned char *p = b->bytes + b->len;

	put16(p, (uint16_t)(4 + 8 + 4 + size));
	put16(p + 2, 5); /* AGGR_TGID */
	put16(p + 4, 8);
	put16(p + 6, 2); /* TGID */
	put32(p + 8, (uint32_t)tgid);
	put16(p + 12, (uint16_t)(4 + size));
	put16(p + 14, 3);
	b->len += 16 + size;
	put32(b->bytes, (uint32_t)b->len);
}

/* Members at the places that all versions but 15 have. */
static inline void build_members(struct built *b, int32_t pid, int32_t tgid, uint32_t code,
				 uint8_t flag)
{
	unsigned char *s = b->stats;
	uint16_t version;

	memcpy(&version, s, sizeof(version));
	put32(s + 4, code);
	s[8] = flag;
	s[9] = (unsigned char)-5;
	memcpy(s + 80, "demo", 4);
	put32(s + 120, 1000);
	put32(s + 124, 1001);
	put32(s + 128, (uint32_t)pid);
	put32(s + 132, 100);
	put32(s + 136, 1700000000);
	put64(s + 144, 2500000);
	put64(s + 152, 12000);
	put64(s + 160, 8000);
	put64(s + 168, 77);
	put64(s + 176, 3);
	if (version >= 12) {
		put32(s + 368, (uint32_t)tgid);
		put64(s + 376, 3500000);
		put64(s + 384, 0xfd00);
		put64(s + 392, 12345);
	}
}

#endif
