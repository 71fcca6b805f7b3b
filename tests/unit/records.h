/* SPDX-License-Identifier: MIT */
/* Numbered records for the tests of the output: written as far as they are taken, read back and checked. */
#ifndef UNIT_RECORDS_H
#define UNIT_RECORDS_H

#include "sink/output.h"

#define BOUND 65536

/* Records "0\n", "1\n" ... of varying length, as many as are taken. */
struct writer {
	struct output *o;
	unsigned int next;
	unsigned int refused;
};

static inline bool put(struct writer *w)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%u %0*d\n", w->next, (int)(w->next * 37 % 300), 0);
	char *p = output_reserve(w->o, sizeof(text));

	if (!p) {
		w->refused++;
		return false;
	}
	memcpy(p, text, (size_t)len);
	output_commit(w->o, (size_t)len);
	w->next++;
	return true;
}

/* Takes bytes from `fd` and insists that they are the records in order. */
struct reader {
	int fd;
	unsigned int next;
	char line[1024];
	size_t len;
};

static inline void check_line(struct reader *r)
{
	char want[512];

	snprintf(want, sizeof(want), "%u %0*d\n", r->next, (int)(r->next * 37 % 300), 0);
	assert_string_equal(r->line, want);
	r->next++;
	r->len = 0;
}

static inline ssize_t take(struct reader *r, size_t max)
{
	char data[16384];
	ssize_t n = read(r->fd, data, MIN(max, sizeof(data)));

	for (ssize_t i = 0; i < n; i++) {
		assert_true(r->len + 2 < sizeof(r->line));
		r->line[r->len++] = data[i];
		r->line[r->len] = '\0';
		if (data[i] == '\n')
			check_line(r);
	}
	return n;
}

#endif
