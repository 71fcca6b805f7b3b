/* SPDX-License-Identifier: MIT */
/* See exposition.h. Numbers are made without the locale, which may have a comma in them. */
#include "sink/exposition.h"

#include <inttypes.h>

#include "base/utf8.h"

static void append(struct exposition *e, const char *s, size_t len)
{
	if (e->size - e->len < len) {
		size_t size = MAX(e->size * 2, e->len + len + 4096);
		char *grown = realloc(e->data, size);

		if (!grown) {
			e->failed = true;
			return;
		}
		e->data = grown;
		e->size = size;
	}
	memcpy(e->data + e->len, s, len);
	e->len += len;
}

static void append_text(struct exposition *e, const char *s)
{
	append(e, s, strlen(s));
}

void exposition_family(struct exposition *e, const char *name, const char *type, const char *help)
{
	e->family = name;
	append_text(e, "# HELP ");
	append_text(e, name);
	append_text(e, " ");
	append_text(e, help);
	append_text(e, "\n# TYPE ");
	append_text(e, name);
	append_text(e, " ");
	append_text(e, type);
	append_text(e, "\n");
}

static void append_value(struct exposition *e, const char *s)
{
	size_t len = strlen(s);
	uint32_t cp;

	while (len) {
		int n = utf8_decode(s, len, &cp);

		if (n < 0)
			append_text(e, UTF8_REPLACEMENT);
		else if (*s == '\n')
			append_text(e, "\\n");
		else if (*s == '\\' || *s == '"')
			append(e, (const char[]){ '\\', *s }, 2);
		else
			append(e, s, (size_t)n);
		n = n < 0 ? -n : n;
		s += n;
		len -= (size_t)n;
	}
}

static void append_sample(struct exposition *e, const char *suffix,
			  const struct exposition_label *labels, const char *number)
{
	append_text(e, e->family);
	append_text(e, suffix);
	for (size_t i = 0; labels && labels[i].name; i++) {
		append_text(e, i ? "," : "{");
		append_text(e, labels[i].name);
		append_text(e, "=\"");
		append_value(e, labels[i].value);
		append_text(e, "\"");
	}
	append_text(e, labels ? "} " : " ");
	append_text(e, number);
	append_text(e, "\n");
}

void exposition_u64(struct exposition *e, const char *suffix, const struct exposition_label *labels,
		    uint64_t value)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	append_sample(e, suffix, labels, number);
}

void exposition_seconds(struct exposition *e, const char *suffix,
			const struct exposition_label *labels, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char number[40];

	snprintf(number, sizeof(number), "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
		 size / NS_PER_SEC, size % NS_PER_SEC);
	append_sample(e, suffix, labels, number);
}

void exposition_reset(struct exposition *e)
{
	e->len = 0;
	e->failed = false;
}

void exposition_free(struct exposition *e)
{
	free(e->data);
	*e = (struct exposition){ 0 };
}
