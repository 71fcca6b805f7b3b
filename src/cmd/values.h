/* SPDX-License-Identifier: MIT */
/* The values of options: text to number, or -EINVAL. Says nothing; what would be right, options.c tells. */
#ifndef CMD_VALUES_H
#define CMD_VALUES_H

#include <stdint.h>

#include "cmd/options.h"

/* 10, 1.5, 2m, 1h, 1d */
int value_time(const char *text, int64_t *ns);

/*
 * A time of the past: "2026-01-02", "2026-01-02 03:04:05" or with a T, "03:04" (of today), "today", "yesterday", "now", "2h ago" and
 * other times with "ago", "@1700000000"; local, or UTC with a Z behind.
 */
int value_when(const char *text, int64_t now_ns, int64_t *ns);

/* 65536, 512K, 32M, 1G; no more than `most` */
int value_bytes(const char *text, uint64_t most, uint64_t *bytes);

/* A whole number above 0. */
int value_count(const char *text, uint64_t *count);

/* Names of sources with commas between, as a mask. */
int value_sources(const char *text, uint32_t *mask);

int value_color(const char *text, enum color_when *color);

/* "auto", "off", "own", or a path, which has a slash. */
int value_pacct(const char *text);

#endif
