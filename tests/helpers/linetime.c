/* SPDX-License-Identifier: MIT */
/*
 * linetime: notes when each line of a stream of exit records arrived, to measure exit -> line.
 *
 *	exeunt live --json ... | linetime FILE
 *
 * FILE gets 16 bytes for each line that holds a "pid": u32 pid, u32 0, i64 CLOCK_REALTIME in ns
 * when read(2) returned its last byte. Ends at the end of its input and prints
 * {"lines":N,"records":R}.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

struct entry {
	uint32_t pid, zero;
	int64_t real_ns;
};

static uint64_t lines, records;

static void on_line(char *line, int64_t now, FILE *out)
{
	const char *at = strstr(line, "\"pid\":");
	struct entry e = { 0, 0, now };

	lines++;
	if (!at || !strstr(line, "\"type\":\"exit\""))
		return;
	e.pid = (uint32_t)strtoul(at + strlen("\"pid\":"), NULL, 10);
	fwrite(&e, sizeof(e), 1, out);
	records++;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

/*
 * Takes the whole lines out of `buf`; returns how many bytes of a begun line are left at its start.
 */
static size_t take_lines(char *buf, size_t len, int64_t now, FILE *out)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - buf)))) {
		*end = '\0';
		on_line(line, now, out);
		line = end + 1;
	}
	len -= (size_t)(line - buf);
	memmove(buf, line, len);
	return len;
}

int main(int argc, char **argv)
{
	static char buf[1 << 20];
	size_t len = 0;
	ssize_t n;
	FILE *out;

	if (argc != 2 || !(out = fopen(argv[1], "we"))) {
		fputs("usage: linetime FILE < stream\n", stderr);
		return 2;
	}
	while ((n = read(STDIN_FILENO, buf + len, sizeof(buf) - len)) > 0) {
		len = take_lines(buf, len + (size_t)n, now_ns(), out);
		if (len == sizeof(buf)) {
			fputs("linetime: a line is too long\n", stderr);
			return 1;
		}
	}
	printf("{\"lines\":%" PRIu64 ",\"records\":%" PRIu64 "}\n", lines, records);
	return fclose(out) ? 1 : 0;
}
