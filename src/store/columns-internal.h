/* SPDX-License-Identifier: MIT */
/* What writing and reading of columns share. */
#ifndef STORE_COLUMNS_INTERNAL_H
#define STORE_COLUMNS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#define SEPARATOR '\x1f' /* behind each argument */

/* By enum exeunt_cause. */
extern const char *const column_causes[];

static inline bool mask_has(const uint64_t *mask, int field)
{
	return mask[field / 64] >> (field % 64) & 1;
}

#endif
