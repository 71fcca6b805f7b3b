/* SPDX-License-Identifier: MIT */
/* How the initial namespaces are told from others. See namespace.h. */
#include "base/namespace.h"

#include <cap-ng.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* include/linux/proc_ns.h: fixed since 3.8; the one of net only since 6.18, older kernels count it out at boot. */
static const struct {
	const char *name;
	uint64_t inode;
	bool fixed;
} initial[] = {
	{ "user", UINT64_C(0xEFFFFFFD), true },
	{ "pid", UINT64_C(0xEFFFFFFC), true },
	{ "net", UINT64_C(0xEFFFFFF9), false },
};

static bool read_inode(const char *who, const char *name, uint64_t *inode)
{
	char path[64], text[64], format[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", who, name);
	n = readlink(path, text, sizeof(text) - 1);
	if (n < 0)
		return false;
	text[n] = '\0';
	snprintf(format, sizeof(format), "%s:[", name);
	if (strncmp(text, format, strlen(format)))
		return false;
	*inode = strtoull(text + strlen(format), NULL, 10);
	return true;
}

enum namespace_answer namespace_is_initial(const char *name)
{
	uint64_t own, first;

	if (!read_inode("self", name, &own))
		return NAMESPACE_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(initial); i++) {
		if (strcmp(initial[i].name, name))
			continue;
		if (own == initial[i].inode)
			return NAMESPACE_INITIAL;
		if (initial[i].fixed)
			return NAMESPACE_OTHER;
	}
	/* pid 1 is the host's init only if we are in the initial pid namespace */
	if (namespace_is_initial("pid") != NAMESPACE_INITIAL || !read_inode("1", name, &first))
		return NAMESPACE_UNKNOWN;
	return own == first ? NAMESPACE_INITIAL : NAMESPACE_OTHER;
}

bool capability_effective(unsigned int capability)
{
	if (capng_get_caps_process())
		return false;
	return capng_have_capability(CAPNG_EFFECTIVE, capability);
}
