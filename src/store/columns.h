/* SPDX-License-Identifier: MIT */
/*
 * The field table as columns of SQL: a column for each field, named by its path with underscores, NULL where the record
 * does not have it. What a user of sqlite3 reads is plain: numbers, text, names of sources with commas between.
 *
 *	text that is no UTF-8, or holds a NUL, is a BLOB
 *	process_command_args	each argument with U+001F behind; a BLOB, each with a NUL behind, if one is no text or has that
 *	process_entity_id	the number that entity ids are made of; see exeunt-record(5)
 */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include <sqlite3.h>

#include <exeunt/record.h>

#include "base/util.h"

#define COLUMN_NAME_SIZE 64

/* "process_exit_code" */
const char *column_name(enum exeunt_field field, char buf[COLUMN_NAME_SIZE]);

/* ", name TYPE" for each field, in the order of the field table. Free it; NULL without memory. */
char *columns_declare(void);

/* ", name" for each field of the mask; *n is their number. */
char *columns_list(const uint64_t *mask, int *n);

/* Binds every field, the first one to parameter `first`. The record stays borrowed until the statement is reset. Returns SQLite's. */
int columns_bind(sqlite3_stmt *st, int first, const struct exeunt_record *r);

/* What a record points to after columns_read(), and what the row before said, which the next one mostly says too. */
struct columns_room {
	struct exeunt_bytes *args;
	size_t n_args;
	char *paths;
	uint64_t paths_mask[EXEUNT_PRESENT_WORDS];
};
void columns_room_done(struct columns_room *room);

/*
 * Fills the fields of the mask from the columns of columns_list(), the first being `first`. What they point to lives until
 * the statement is stepped, or read into this room again. Errors: -ENOMEM.
 */
int columns_read(sqlite3_stmt *st, int first, const uint64_t *mask, struct exeunt_record *r,
		 struct columns_room *room);

#endif
