/* SPDX-License-Identifier: MIT */
/* The one function that a harness defines; libFuzzer or replay-main.c calls it. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Must accept any bytes; a bug is told by a sanitizer or by abort(). Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
