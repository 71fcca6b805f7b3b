/* SPDX-License-Identifier: MIT */
/* See values.h. */
#include "cmd/values.h"

#include <exeunt/exeunt.h>

#include "base/util.h"

/* A number with a unit behind; units are pairs of letter and factor. */
static int parse_scaled(const char *text, const char *letters, const double *factors, double *ret)
{
	char *end;
	double value;
	const char *unit;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || errno || !(value >= 0) || value > 1e15)
		return -EINVAL;
	if (*end) {
		unit = strchr(letters, *end);
		if (!unit || end[1])
			return -EINVAL;
		value *= factors[unit - letters];
	}
	*ret = value;
	return 0;
}

int value_time(const char *text, int64_t *ns)
{
	static const double factors[] = { 1, 60, 3600, 86400 };
	double value;

	if (parse_scaled(text, "smhd", factors, &value) || value > 1e9)
		return -EINVAL;
	*ns = (int64_t)(value * 1e9);
	return 0;
}

int value_bytes(const char *text, uint64_t most, uint64_t *bytes)
{
	static const double factors[] = { 1024, 1024, 1048576, 1048576, 1073741824, 1073741824 };
	double value;

	if (parse_scaled(text, "KkMmGg", factors, &value) || value > (double)most)
		return -EINVAL;
	*bytes = (uint64_t)value;
	return 0;
}

int value_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return *end || end == text || errno || *text == '-' || !*count ? -EINVAL : 0;
}

int value_sources(const char *text, uint32_t *mask)
{
	for (*mask = 0;;) {
		size_t len = strcspn(text, ",");
		int found = -1;

		for (int s = 0; s < EXEUNT_SOURCE_OUTPUT; s++) {
			const char *name = exeunt_source_name((enum exeunt_source)s);

			if (strlen(name) == len && !memcmp(name, text, len))
				found = s;
		}
		if (found < 0)
			return -EINVAL;
		*mask |= EXEUNT_SOURCE_BIT(found);
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

int value_color(const char *text, enum color_when *color)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(words[i], text)) {
			*color = (enum color_when)i;
			return 0;
		}
	}
	return -EINVAL;
}

int value_pacct(const char *text)
{
	static const char *const words[] = { "auto", "off", "own" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i], text))
			return 0;
	return strchr(text, '/') ? 0 : -EINVAL; /* a word mistyped is no file */
}
