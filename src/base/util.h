/* SPDX-License-Identifier: MIT */
/*
 * Small things that every room uses: cleanup attributes, sizes, unaligned reads. Knows nothing of processes.
 * Everything here is static inline and free of state.
 */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(fmt_index, args_index) __attribute__((format(printf, fmt_index, args_index)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define NS_PER_SEC INT64_C(1000000000)
#define NS_PER_MSEC INT64_C(1000000)
#define NS_PER_USEC INT64_C(1000)

/* Names of their own, so that one may stand within the other. */
#define JOIN_WORDS_(a, b) a##b
#define JOIN_WORDS(a, b) JOIN_WORDS_(a, b)
#define CHOOSE_(a, op, b, x, y)        \
	({                             \
		__typeof__(a) x = (a); \
		__typeof__(b) y = (b); \
		x op y ? x : y;        \
	})
#define CHOOSE(a, op, b) CHOOSE_(a, op, b, JOIN_WORDS(x_, __COUNTER__), JOIN_WORDS(y_, __COUNTER__))
#define MIN(a, b) CHOOSE(a, <, b)
#define MAX(a, b) CHOOSE(a, >, b)

/* Hands a pointer on, so that the cleanup attribute leaves it alone. */
#define TAKE(p)                             \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

/* Closes what is open, and keeps errno. */
static inline int close_fd(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

static inline void cleanup_fd(int *fd)
{
	close_fd(*fd);
}

static inline void cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
#define _cleanup_fd_ __attribute__((cleanup(cleanup_fd)))
#define _cleanup_file_ __attribute__((cleanup(cleanup_file)))

/* Reads of any alignment, host byte order. */
static inline uint16_t load_u16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t load_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
