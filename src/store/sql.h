/* SPDX-License-Identifier: MIT */
/* What all of the store asks of SQLite. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>

/* Of a result of SQLite's: -EBADMSG for what is damaged or no database, -ENOSPC, -EACCES, -EBUSY, -ENOMEM, else -EIO. */
int sql_errno(int result);

/* Opens for reading only; a writer is not disturbed. Returns SQLite's result; *ret is to be closed also after an error. */
int sql_open_reader(sqlite3 **ret, const char *path);

#endif
