/* SPDX-License-Identifier: MIT */
/* What a command says to people, caught. */
#ifndef UNIT_STDERR_H
#define UNIT_STDERR_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char said[65536];
static int stderr_before = -1, stderr_caught = -1;

static inline void catch_stderr(void)
{
	fflush(stderr);
	stderr_before = dup(STDERR_FILENO);
	stderr_caught = memfd_create("stderr", MFD_CLOEXEC);
	assert_true(stderr_before >= 0 && stderr_caught >= 0);
	assert_int_equal(dup2(stderr_caught, STDERR_FILENO), STDERR_FILENO);
}

/* To `said`. */
static inline void end_catch(void)
{
	ssize_t n;

	fflush(stderr);
	n = pread(stderr_caught, said, sizeof(said) - 1, 0);
	assert_true(n >= 0);
	said[n] = '\0';
	assert_int_equal(dup2(stderr_before, STDERR_FILENO), STDERR_FILENO);
	close(stderr_before);
	close(stderr_caught);
}

#endif
