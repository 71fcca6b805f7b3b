/* SPDX-License-Identifier: MIT */
/* See sql.h. */
#include "store/sql.h"

#include <errno.h>
#include <stddef.h>

#define BUSY_MS 2000

int sql_errno(int result)
{
	switch (result & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_ERROR: /* a table or column is missing */
	case SQLITE_SCHEMA:
		return -EBADMSG;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

int sql_open_reader(sqlite3 **ret, const char *path)
{
	int r = sqlite3_open_v2(path, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	if (r == SQLITE_OK)
		sqlite3_busy_timeout(*ret, BUSY_MS);
	return r;
}
