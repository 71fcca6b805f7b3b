/* SPDX-License-Identifier: MIT */
/* Is this process in the initial namespaces? Reads /proc/self/ns once per call; owns nothing. */
#ifndef BASE_NAMESPACE_H
#define BASE_NAMESPACE_H

#include <stdbool.h>

enum namespace_answer { NAMESPACE_INITIAL, NAMESPACE_OTHER, NAMESPACE_UNKNOWN };

/* name: "user", "pid" or "net". UNKNOWN when /proc is not there or tells nothing. */
enum namespace_answer namespace_is_initial(const char *name);

/* True when the effective set of this process has the capability (linux/capability.h). */
bool capability_effective(unsigned int capability);

#endif
