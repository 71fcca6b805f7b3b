/* SPDX-License-Identifier: MIT */
/*
 * Owns one table. The numbers are those of each architecture's asm/unistd.h; audit records hold the
 * full number, so MIPS has its ABI's base in it and x32 its marker bit
 * (arch/x86/include/uapi/asm/unistd.h, __X32_SYSCALL_BIT).
 */
#include "decode/audit_arch.h"

#include <linux/audit.h>

#include "base/util.h"

/* linux/audit.h has these, but not in every release that this compiles with. */
#ifndef AUDIT_ARCH_LOONGARCH64
#define AUDIT_ARCH_LOONGARCH64 0xc0000102
#endif
#ifndef AUDIT_ARCH_RISCV64
#define AUDIT_ARCH_RISCV64 0xc00000f3
#endif

#define X32_BIT INT64_C(0x40000000)

struct arch_row {
	uint32_t arch;
	uint16_t exit, exit_group, execve, execveat;
};

static const struct arch_row rows[] = {
	{ AUDIT_ARCH_X86_64, 60, 231, 59, 322 },
	{ AUDIT_ARCH_AARCH64, 93, 94, 221, 281 },
	{ AUDIT_ARCH_I386, 1, 252, 11, 358 },
	{ AUDIT_ARCH_PPC64LE, 1, 234, 11, 362 },
	{ AUDIT_ARCH_S390X, 1, 248, 11, 354 },
	{ AUDIT_ARCH_RISCV64, 93, 94, 221, 281 },
	{ AUDIT_ARCH_ARM, 1, 248, 11, 387 },
	{ AUDIT_ARCH_MIPSEL64, 5058, 5205, 5057, 5316 },
	{ AUDIT_ARCH_MIPSEL, 4001, 4246, 4011, 4356 },
	{ AUDIT_ARCH_MIPSEL64N32, 6058, 6205, 6057, 6320 },
	{ AUDIT_ARCH_LOONGARCH64, 93, 94, 221, 281 },
	{ AUDIT_ARCH_S390, 1, 248, 11, 354 },
	{ AUDIT_ARCH_ARMEB, 1, 248, 11, 387 },
	{ AUDIT_ARCH_PPC64, 1, 234, 11, 362 },
	{ AUDIT_ARCH_PPC, 1, 234, 11, 362 },
	{ AUDIT_ARCH_MIPS64, 5058, 5205, 5057, 5316 },
	{ AUDIT_ARCH_MIPS, 4001, 4246, 4011, 4356 },
	{ AUDIT_ARCH_MIPS64N32, 6058, 6205, 6057, 6320 },
	{ AUDIT_ARCH_RISCV32, 93, 94, 221, 281 },
	{ AUDIT_ARCH_SPARC64, 1, 188, 59, 350 },
	{ AUDIT_ARCH_SPARC, 1, 188, 59, 350 },
	{ AUDIT_ARCH_PARISC64, 1, 222, 11, 342 },
	{ AUDIT_ARCH_PARISC, 1, 222, 11, 342 },
	{ AUDIT_ARCH_ALPHA, 1, 405, 59, 513 },
	{ AUDIT_ARCH_M68K, 1, 247, 11, 355 },
	{ AUDIT_ARCH_SHEL, 1, 252, 11, 376 },
	{ AUDIT_ARCH_SH, 1, 252, 11, 376 },
	{ AUDIT_ARCH_IA64, 1025, 1236, 1033, 1342 },
};

static const struct arch_row x32 = { AUDIT_ARCH_X86_64, 60, 231, 520, 545 };

static int match_call(const struct arch_row *row, int64_t number)
{
	if (number == row->exit_group)
		return AUDIT_CALL_EXIT_GROUP;
	if (number == row->exit)
		return AUDIT_CALL_EXIT;
	if (number == row->execve)
		return AUDIT_CALL_EXECVE;
	return number == row->execveat ? AUDIT_CALL_EXECVEAT : AUDIT_CALL_OTHER;
}

int audit_arch_call(uint32_t arch, int64_t number)
{
	if (arch == AUDIT_ARCH_X86_64 && number >= X32_BIT)
		return match_call(&x32, number - X32_BIT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].arch == arch)
			return match_call(&rows[i], number);
	return -ENOENT;
}
