/* SPDX-License-Identifier: MIT */
/*
 * The text format that Prometheus reads (version 0.0.4): families with HELP and TYPE, samples with labels. Owns its text. Never
 * prints what the format does not take: label values are escaped, and bytes that are no UTF-8 are replaced. Without memory
 * the text is incomplete, and exposition_failed() says so.
 */
#ifndef SINK_EXPOSITION_H
#define SINK_EXPOSITION_H

#include "base/util.h"

struct exposition {
	char *data;
	size_t len, size;
	const char *family; /* that samples are of */
	bool failed;
};

struct exposition_label {
	const char *name, *value;
};

/* Labels of a sample, written in place. */
#define LABELS(...)                                    \
	(const struct exposition_label[])              \
	{                                              \
		__VA_ARGS__, (struct exposition_label) \
		{                                      \
			0                              \
		}                                      \
	}

/* Begins a family. `name` is borrowed until the next one; `help` has no backslash and no newline. */
void exposition_family(struct exposition *e, const char *name, const char *type, const char *help);

/* A sample of the family, its name followed by `suffix`. `labels` end with one without a name; NULL: none. */
void exposition_u64(struct exposition *e, const char *suffix, const struct exposition_label *labels,
		    uint64_t value);

/* The same; the value is in nanoseconds, and put out in seconds. */
void exposition_seconds(struct exposition *e, const char *suffix,
			const struct exposition_label *labels, int64_t ns);

/* Begins anew; the memory stays. */
void exposition_reset(struct exposition *e);

static inline bool exposition_failed(const struct exposition *e)
{
	return e->failed;
}

void exposition_free(struct exposition *e);

#endif
