/* SPDX-License-Identifier: MIT */
/* The kernel's lists of CPUs, "0-3,8". Owns the array it returns. */
#ifndef BASE_CPULIST_H
#define BASE_CPULIST_H

struct cpu_list {
	int *cpu; /* ascending */
	int n;
};

/* Parses a list; a newline may end it. Errors: -EINVAL, -ERANGE (more than 65,536 CPUs), -ENOMEM. */
int cpu_list_parse(struct cpu_list *ret, const char *text);

/* Reads /sys/devices/system/cpu/possible. */
int cpu_list_possible(struct cpu_list *ret);

void cpu_list_done(struct cpu_list *list);

#define _cleanup_cpu_list_ __attribute__((cleanup(cpu_list_done)))

#endif
