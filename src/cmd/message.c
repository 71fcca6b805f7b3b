/* SPDX-License-Identifier: MIT */
/* Messages for people, all to stderr, each in one write so that lines of several programs do not mix. See cmd.h. */
#include "cmd/cmd.h"

#include <stdarg.h>

/* A message may hold what a user or a file brought; lines and escapes of its own it shall not have. */
static void put_line(const char *prefix, const char *format, va_list ap)
{
	char line[1400], *p = line;
	int n = snprintf(line, sizeof(line), "%s", prefix);

	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, ap);
	for (; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	*p++ = '\n';
	while (write(STDERR_FILENO, line, (size_t)(p - line)) < 0 && errno == EINTR)
		;
}

void cmd_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line("exeunt: ", format, ap);
	va_end(ap);
}

void cmd_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line("exeunt: ", format, ap);
	va_end(ap);
}

int cmd_usage_error(const char *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line("exeunt: ", format, ap);
	va_end(ap);
	fprintf(stderr, "Try 'exeunt %s--help' for more information.\n", command);
	return CMD_USAGE;
}
