/* SPDX-License-Identifier: MIT */
/* The table of sinks. See sink.h. */
#include "sink/sink.h"

#include <stdarg.h>

#include "sink/table.h"

static const struct sink_ops *const table[] = {
	&sink_json,    &sink_store,  &sink_audit,  &sink_plugin,  &sink_audispd,
	&sink_journal, &sink_syslog, &sink_socket, &sink_metrics,
};

const struct sink_ops *const *sink_table(size_t *n)
{
	*n = ARRAY_SIZE(table);
	return table;
}

static const struct sink_ops *find(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strlen(table[i]->word) == len && !memcmp(table[i]->word, word, len))
			return table[i];
	return NULL;
}

/* "json, socket ..." */
static void list_words(char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(table) && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
					table[i]->word);
}

int sink_parse(const char *spec, const struct sink_ops **ret, const char **target, char *error,
	       size_t size)
{
	size_t len = strcspn(spec, ":");
	const struct sink_ops *ops = find(spec, len);
	char words[256];

	if (!ops) {
		list_words(words, sizeof(words));
		snprintf(error, size, "'%s': no such sink; there are %s", spec, words);
		return -EINVAL;
	}
	*target = spec[len] ? spec + len + 1 : "";
	if (ops->target && !**target && (spec[len] || !ops->target_optional)) {
		snprintf(error, size, "'%s': expected %s:%s", spec, ops->word, ops->target);
		return -EINVAL;
	}
	if (!ops->target && spec[len]) {
		snprintf(error, size, "'%s': %s takes nothing behind a colon", spec, ops->word);
		return -EINVAL;
	}
	*ret = ops;
	return 0;
}

void sink_say(const struct sink *s, int level, const char *format, ...)
{
	const struct sink_host *host = s->options.host;
	char text[1024];
	va_list ap;

	if (!host->say)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	host->say(level, text, host->userdata);
}
