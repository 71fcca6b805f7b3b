/* SPDX-License-Identifier: MIT */
/* See rate.h. A bucket of one second: each that goes takes its share of it, and the share comes in again with time. */
#include "sink/rate.h"

#include "base/util.h"

void rate_init(struct rate *r, uint64_t per_second, int64_t now_ns)
{
	*r = (struct rate){ .per_second = per_second, .full_ns = now_ns };
}

bool rate_take(struct rate *r, int64_t now_ns)
{
	int64_t full = MAX(r->full_ns, now_ns);
	int64_t share;

	if (!r->per_second || r->per_second > (uint64_t)NS_PER_SEC)
		return true;
	share = NS_PER_SEC / (int64_t)r->per_second;
	if (full + share > now_ns + NS_PER_SEC)
		return false;
	r->full_ns = full + share;
	return true;
}
