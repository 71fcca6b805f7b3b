/* SPDX-License-Identifier: MIT */
/* At most so many a second, with what one second allows at once. Pure: time is a number that is passed in. */
#ifndef SINK_RATE_H
#define SINK_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
	uint64_t per_second; /* 0: no bound */
	int64_t full_ns;     /* when all that was taken has come in again */
};

void rate_init(struct rate *r, uint64_t per_second, int64_t now_ns);

/* True: one may go now, and was counted. `now_ns` does not go back. */
bool rate_take(struct rate *r, int64_t now_ns);

#endif
