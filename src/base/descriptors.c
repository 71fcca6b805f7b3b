/* SPDX-License-Identifier: MIT */
/* See descriptors.h. */
#include "base/descriptors.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "base/util.h"

#define FIRST 3
#define MOST 8

void descriptors_close_from(unsigned int first)
{
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
	for (long fd = first, most = MIN(sysconf(_SC_OPEN_MAX), 65536L); fd < most; fd++)
		close((int)fd);
}

int descriptors_keep(const int *fds, size_t n)
{
	int high[MOST], null;

	if (n > MOST)
		return -EINVAL;
	/* out of the way first: one may lie where another goes */
	for (size_t i = 0; i < n; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST + MOST);
		if (high[i] < 0)
			return -errno;
	}
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return -errno;
	for (int i = 0; i < FIRST; i++)
		if (null != i && dup2(null, i) < 0)
			return -errno;
	for (size_t i = 0; i < n; i++)
		if (dup3(high[i], FIRST + (int)i, O_CLOEXEC) < 0)
			return -errno;
	descriptors_close_from(FIRST + (unsigned int)n);
	return 0;
}
