/* SPDX-License-Identifier: MIT */
/* See json_record.h: lines, and the fields of a process. */
#include "decode/json_record_internal.h"

#include <exeunt/exeunt.h>

#include "record/fields.h"

#define KEY_MAX 64
#define SIGNAL_END 65 /* above, no signal has a name */

int json_record_new(struct json_record **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void json_record_free(struct json_record *j)
{
	if (!j)
		return;
	json_decref(j->root);
	free(j->bytes);
	free(j->args);
	free(j);
}

json_t *json_record_at(json_t *from, const char *path, size_t len)
{
	while (from && len) {
		const char *dot = memchr(path, '.', len);
		size_t n = dot ? (size_t)(dot - path) : len;

		from = json_object_getn(from, path, n);
		path += n + (dot != NULL);
		len -= n + (dot != NULL);
	}
	return from;
}

const char *json_record_text(const struct json_record *j, const char *path)
{
	return json_string_value(json_record_at(j->root, path, strlen(path)));
}

static const json_t *sibling(const json_t *in, const char *key)
{
	char name[KEY_MAX];

	snprintf(name, sizeof(name), "%s_hex", key);
	return json_object_get(in, name);
}

static int nibble(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool from_hex(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!s || !*s || strlen(s) > 16)
		return false;
	for (; *s; s++) {
		if (nibble(*s) < 0)
			return false;
		v = v << 4 | (uint64_t)nibble(*s);
	}
	*ret = v;
	return true;
}

bool json_record_number(const json_t *in, const char *key, uint64_t *ret)
{
	const json_t *value = json_object_get(in, key), *exact = sibling(in, key);

	if (!json_is_integer(value))
		return false;
	if (exact)
		return from_hex(json_string_value(exact), ret);
	*ret = (uint64_t)json_integer_value(value);
	return json_integer_value(value) >= 0;
}

/* Bytes that were no UTF-8; there is room, as two digits of the line make one. */
static bool unhex(struct json_record *j, const json_t *text, struct exeunt_bytes *ret)
{
	const char *s = json_string_value(text);
	size_t len = json_string_length(text);
	char *to = j->bytes + j->bytes_len;

	if (!s || len % 2)
		return false;
	for (size_t i = 0; i < len; i += 2) {
		if (nibble(s[i]) < 0 || nibble(s[i + 1]) < 0)
			return false;
		to[i / 2] = (char)(nibble(s[i]) << 4 | nibble(s[i + 1]));
	}
	j->bytes_len += len / 2;
	*ret = (struct exeunt_bytes){ to, (uint32_t)(len / 2) };
	return true;
}

static bool bytes_of(struct json_record *j, const json_t *value, const json_t *hex,
		     struct exeunt_bytes *ret)
{
	if (!json_is_string(value))
		return false;
	if (hex)
		return unhex(j, hex, ret);
	*ret = (struct exeunt_bytes){ json_string_value(value),
				      (uint32_t)json_string_length(value) };
	return true;
}

static bool take_comm(struct json_record *j, const json_t *value, const json_t *hex, char *ret)
{
	struct exeunt_bytes b;

	if (!bytes_of(j, value, hex, &b) || b.len >= sizeof(j->record.comm))
		return false;
	memcpy(ret, b.data, b.len);
	return true;
}

static bool take_args(struct json_record *j, const json_t *value, const json_t *hex)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || n > JSON_RECORD_ARGS || (hex && json_array_size(hex) != n))
		return false;
	if (n > j->args_size) {
		struct exeunt_bytes *args = reallocarray(j->args, n, sizeof(*args));

		if (!args)
			return false;
		j->args = args;
		j->args_size = n;
	}
	for (size_t i = 0; i < n; i++)
		if (!bytes_of(j, json_array_get(value, i), hex ? json_array_get(hex, i) : NULL,
			      &j->args[i]))
			return false;
	j->record.args = j->args;
	j->record.n_args = (uint32_t)n;
	return true;
}

int json_record_word(const json_t *value, int n, const char *(*name)(int i))
{
	const char *s = json_string_value(value);

	for (int i = 0; s && i < n; i++)
		if (!strcmp(s, name(i)))
			return i;
	return -1;
}

static const char *cause_name(int i)
{
	static const char *const names[] = { "exited", "signaled", "core_dumped" };

	return names[i];
}

static const char *source_name(int i)
{
	return exeunt_source_name((enum exeunt_source)i);
}

static bool take_cause(const json_t *value, enum exeunt_cause *ret)
{
	int i = json_record_word(value, 3, cause_name);

	*ret = (enum exeunt_cause)i;
	return i >= 0;
}

static bool take_sources(const json_t *value, uint32_t *ret)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return false;
	json_array_foreach(value, i, item)
	{
		int source = json_record_word(item, EXEUNT_SOURCE_COUNT, source_name);

		if (source >= 0)
			*ret |= EXEUNT_SOURCE_BIT(source);
	}
	return true;
}

static bool take_paths(const json_t *value, uint64_t *words)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return false;
	json_array_foreach(value, i, item)
	{
		const char *path = json_string_value(item);
		int field = path ? field_find(path, strlen(path)) : -1;

		if (field >= 0)
			field_add(words, (unsigned int)field);
	}
	return true;
}

/* "<boot id>-<pid>-<start>": pid and boot id are told elsewhere. */
static bool take_entity(const json_t *value, uint64_t *ret)
{
	const char *s = json_string_value(value);
	const char *dash = s ? strrchr(s, '-') : NULL;

	return dash && from_hex(dash + 1, ret);
}

static bool take_i32(const json_t *value, int32_t *ret)
{
	json_int_t v = json_integer_value(value);

	*ret = (int32_t)v;
	return json_is_integer(value) && v >= INT32_MIN && v <= INT32_MAX;
}

static bool take_u32(const json_t *value, uint32_t *ret)
{
	json_int_t v = json_integer_value(value);

	*ret = (uint32_t)v;
	return json_is_integer(value) && v >= 0 && v <= UINT32_MAX;
}

static bool take_bool(const json_t *value, bool *ret)
{
	*ret = json_is_true(value);
	return json_is_boolean(value);
}

/* "SIGTERM", or "SIG" and a number; the number is there besides unless somebody left it out. */
static bool take_signal_name(const json_t *value, uint32_t *ret)
{
	const char *s = json_string_value(value);
	unsigned long number;
	char *end;

	if (!s || strncmp(s, "SIG", 3) != 0)
		return false;
	for (uint32_t i = 1; i < SIGNAL_END; i++) {
		const char *name = exeunt_signal_name(i);

		if (!name || strcmp(s, name) != 0)
			continue;
		*ret = i;
		return true;
	}
	number = strtoul(s + 3, &end, 10);
	*ret = (uint32_t)number;
	return s[3] >= '0' && s[3] <= '9' && !*end && number <= UINT32_MAX;
}

static bool take_field(struct json_record *j, const json_t *in, const char *key,
		       const json_t *value, const struct field_info *f)
{
	void *member = (char *)&j->record + f->offset;

	switch (f->kind) {
	case FIELD_I32:
		return take_i32(value, member);
	case FIELD_U32:
		return take_u32(value, member);
	case FIELD_U64:
		return json_record_number(in, key, member);
	case FIELD_TIME:
		return json_record_time(value, member);
	case FIELD_BOOL:
		return take_bool(value, member);
	case FIELD_BYTES:
		return bytes_of(j, value, sibling(in, key), member);
	case FIELD_COMM:
		return take_comm(j, value, sibling(in, key), member);
	case FIELD_ARGS:
		return take_args(j, value, sibling(in, key));
	case FIELD_SIGNAL_NAME:
		return take_signal_name(value, member);
	case FIELD_CAUSE:
		return take_cause(value, member);
	case FIELD_ENTITY:
		return take_entity(value, member);
	case FIELD_SOURCES:
		return take_sources(value, member);
	case FIELD_PATHS:
		return take_paths(value, member);
	}
	return false;
}

/* Fields of one object stand together in the table, so that most find theirs where the one before did. */
static bool take_fields(struct json_record *j)
{
	const char *last = "";
	size_t last_len = 0;
	json_t *in = j->root;

	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		const char *path = field_table[i].path, *dot = strrchr(path, '.');
		const char *key = dot ? dot + 1 : path;
		size_t len = dot ? (size_t)(dot - path) : 0;
		const json_t *value;

		if (len != last_len || memcmp(path, last, len) != 0)
			in = json_record_at(j->root, path, len);
		last = path;
		last_len = len;
		value = json_object_get(in, key);
		if (!value)
			continue;
		if (!take_field(j, in, key, value, &field_table[i]))
			return false;
		field_set(&j->record, (enum exeunt_field)i);
	}
	return true;
}

static const char *type_name(int i)
{
	return exeunt_type_name((enum exeunt_type)i);
}

/* 0, or as json_record_parse(). */
static int take_record(struct json_record *j)
{
	const char *schema = json_record_text(j, "schema");
	int type = json_record_word(json_object_get(j->root, "type"), EXEUNT_TYPE_INTERIM + 1,
				    type_name);

	if (!schema || strcmp(schema, EXEUNT_SCHEMA) != 0 || !json_record_text(j, "type"))
		return -EINVAL;
	if (type < EXEUNT_TYPE_EXIT)
		return 1;
	j->record = (struct exeunt_record){ .size = sizeof(j->record),
					    .version = EXEUNT_RECORD_VERSION,
					    .type = (uint16_t)type };
	if (!json_record_number(j->root, "seq", &j->record.seq) ||
	    !json_record_time(json_object_get(j->root, "time"), &j->record.time_ns) ||
	    !take_fields(j) || !json_record_other(j))
		return -EINVAL;
	return 0;
}

static int have_room(struct json_record *j, size_t len)
{
	char *bytes;

	j->bytes_len = 0;
	if (len <= j->bytes_size)
		return 0;
	bytes = realloc(j->bytes, len);
	if (!bytes)
		return -ENOMEM;
	j->bytes = bytes;
	j->bytes_size = len;
	return 0;
}

int json_record_parse(struct json_record *j, const char *line, size_t len,
		      const struct exeunt_record **ret)
{
	int r;

	json_decref(j->root);
	j->root = NULL;
	if (have_room(j, len + 1) < 0)
		return -ENOMEM;
	j->root = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (!json_is_object(j->root))
		return -EINVAL;
	r = take_record(j);
	*ret = &j->record;
	return r;
}
