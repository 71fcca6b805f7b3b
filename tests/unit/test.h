/* SPDX-License-Identifier: MIT */
/* What every unit test includes; cmocka needs these headers before it, in this order. */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
