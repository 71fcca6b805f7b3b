/* SPDX-License-Identifier: MIT */
/* The two clocks, in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static inline int64_t mono_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t real_now(void)
{
	return clock_ns(CLOCK_REALTIME);
}

#endif
