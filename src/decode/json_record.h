/* SPDX-License-Identifier: MIT */
/*
 * A line of JSON of the schema exeunt/1, back into the record that it was made from. Pure. The JSON itself is
 * read by jansson; which path becomes which member is told by the field table. Belongs to the program, not to
 * the library, which needs no jansson.
 *
 * What json.h wrote comes back as it was, apart from what a line does not have: exeunt_source_status.tested.
 * Keys that are not known are passed over, as the schema may grow; a known one with a value of another kind
 * makes the line invalid.
 */
#ifndef DECODE_JSON_RECORD_H
#define DECODE_JSON_RECORD_H

#include <exeunt/record.h>

struct json_record;

/* Errors: -ENOMEM. */
int json_record_new(struct json_record **ret);
void json_record_free(struct json_record *j);

/*
 * The record of a line without its newline, borrowed until the next call. Returns 0; 1 for a line of a type that
 * is no record, such as "error" of the daemon's socket; -EINVAL; -ENOMEM.
 */
int json_record_parse(struct json_record *j, const char *line, size_t len,
		      const struct exeunt_record **ret);

/*
 * A text of the last line at this path, such as "host.name" or "error.message"; NULL if it has none. Borrowed
 * like the record.
 */
const char *json_record_text(const struct json_record *j, const char *path);

#endif
