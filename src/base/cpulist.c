/* SPDX-License-Identifier: MIT */
/* Parsing of CPU lists. See cpulist.h. */
#include "base/cpulist.h"

#include <fcntl.h>
#include <limits.h>

#include "base/util.h"

#define MOST_CPUS 65536

static int add_range(struct cpu_list *list, long first, long last)
{
	long n = last - first + 1;
	int *grown;

	if (first > last)
		return -EINVAL;
	if (last >= MOST_CPUS || list->n + n > MOST_CPUS)
		return -ERANGE;
	grown = realloc(list->cpu, (size_t)(list->n + n) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->cpu = grown;
	for (long c = first; c <= last; c++)
		list->cpu[list->n++] = (int)c;
	return 0;
}

static int parse_number(const char **p, long *ret)
{
	char *end;

	if (**p < '0' || **p > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtol(*p, &end, 10);
	*p = end;
	return errno ? -ERANGE : 0;
}

static int parse_ranges(struct cpu_list *list, const char *p)
{
	for (;;) {
		long first, last;
		int r = parse_number(&p, &first);

		if (r < 0)
			return r;
		last = first;
		if (*p == '-') {
			p++;
			r = parse_number(&p, &last);
			if (r < 0)
				return r;
		}
		r = add_range(list, first, last);
		if (r < 0)
			return r;
		if (*p == '\n')
			p++;
		if (!*p)
			return 0;
		if (*p++ != ',')
			return -EINVAL;
	}
}

int cpu_list_parse(struct cpu_list *ret, const char *text)
{
	struct cpu_list list = { 0 };
	int r = parse_ranges(&list, text);

	if (r < 0) {
		cpu_list_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

int cpu_list_possible(struct cpu_list *ret)
{
	_cleanup_fd_
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return cpu_list_parse(ret, text);
}

void cpu_list_done(struct cpu_list *list)
{
	free(list->cpu);
	*list = (struct cpu_list){ 0 };
}
