/* SPDX-License-Identifier: MIT */
/*
 * Fuzz harness of the file of options, and of the lists of fields in it. Checked: sinks have names and are not too many, a file
 * that is taken leaves every sink with a place, and what is wrong is told, a bounded number of times.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/config.h"
#include "fuzz/fuzz.h"
#include "record/fields.h"

static unsigned int told;

/* In the place of message.c: thousands of messages a second would hide what a sanitizer says. */
void cmd_error(const char *format, ...)
{
	char text[2048];
	va_list ap;

	told++;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
}

int cmd_usage_hint(const char *command)
{
	(void)command;
	return CMD_USAGE;
}

int cmd_usage_error(const char *command, const char *format, ...)
{
	(void)format;
	return cmd_usage_hint(command);
}

static void insist(bool good)
{
	if (!good)
		abort();
}

static void check_fields(const char *list)
{
	uint64_t mask[EXEUNT_PRESENT_WORDS];
	const char *bad;
	size_t len;

	if (field_parse_list(list, mask, &bad, &len) < 0)
		insist(bad >= list && bad + len <= list + strlen(list));
}

static void check(const struct options *o, int status)
{
	insist(o->n_to <= OPTIONS_SINKS);
	insist(told <= 2 * OPTIONS_SINKS + 30);
	insist(status == -1 || told);
	for (unsigned int i = 0; i < o->n_to; i++) {
		insist(*o->to[i].name);
		insist(o->to[i].spec || status == CMD_USAGE);
		if (o->to[i].fields)
			check_fields(o->to[i].fields);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options o = { 0 };
	struct config *config = NULL;
	char path[32];
	int fd = memfd_create("config", MFD_CLOEXEC);

	insist(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	told = 0;
	check(&o, config_read(&config, path, &o, OPTIONS_LISTEN | OPTIONS_RUN));
	config_free(config);
	close(fd);
	return 0;
}
