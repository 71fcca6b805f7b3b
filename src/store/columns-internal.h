/* SPDX-License-Identifier: MIT */
/* What writing and reading of columns share. */
#ifndef STORE_COLUMNS_INTERNAL_H
#define STORE_COLUMNS_INTERNAL_H

#define SEPARATOR '\x1f' /* behind each argument */

/* By enum exeunt_cause. */
extern const char *const column_causes[];

#endif
