/* SPDX-License-Identifier: MIT */
/* What json_record.c and json_record_other.c share. Values are read by key out of an object; false: of another kind. */
#ifndef DECODE_JSON_RECORD_INTERNAL_H
#define DECODE_JSON_RECORD_INTERNAL_H

#include <jansson.h>

#include "base/util.h"
#include "decode/json_record.h"

#define JSON_RECORD_SOURCES 8
#define JSON_RECORD_ARGS 65536 /* more has no line */

struct json_record {
	json_t *root;
	struct exeunt_record record;
	struct exeunt_loss loss;
	struct exeunt_status status;
	struct exeunt_source_status sources[JSON_RECORD_SOURCES];
	char *bytes; /* what the _hex keys of the line hold: shorter than the line */
	size_t bytes_size, bytes_len;
	struct exeunt_bytes *args;
	size_t args_size;
};

/* The object, or other value, at a dotted path below `from`; NULL. */
json_t *json_record_at(json_t *from, const char *path, size_t len);

/* Numbers go up to 2^64 - 1 by a sibling key_hex. */
bool json_record_number(const json_t *in, const char *key, uint64_t *ret);
bool json_record_time(const json_t *value, int64_t *ret);

/* The number of a word for which name(i), i below `n`, is it; -1. */
int json_record_word(const json_t *value, int n, const char *(*name)(int i));

/* Losses, and what the collector says of itself. */
bool json_record_other(struct json_record *j);

#endif
