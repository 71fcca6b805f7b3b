/* SPDX-License-Identifier: MIT */
/* The words of the schema for the enums of record.h, and signal names. Constant data, no state. */
#include <exeunt/exeunt.h>

#include <signal.h>
#include <stdio.h>

static const char *const source_names[EXEUNT_SOURCE_COUNT] = {
	[EXEUNT_SOURCE_TASKSTATS] = "taskstats", [EXEUNT_SOURCE_PACCT] = "pacct",
	[EXEUNT_SOURCE_AUDIT] = "audit",	 [EXEUNT_SOURCE_PROCEVENTS] = "procevents",
	[EXEUNT_SOURCE_OUTPUT] = "output",
};

static const char *const cause_names[EXEUNT_LOSS_CAUSE_COUNT] = {
	[EXEUNT_LOSS_SOCKET_OVERFLOW] = "socket_overflow",
	[EXEUNT_LOSS_SEQUENCE_GAP] = "sequence_gap",
	[EXEUNT_LOSS_ACCOUNTING_PAUSED] = "accounting_paused",
	[EXEUNT_LOSS_BACKLOG] = "backlog",
	[EXEUNT_LOSS_SLOW_SINK] = "slow_sink",
	[EXEUNT_LOSS_TABLE_FULL] = "table_full",
	[EXEUNT_LOSS_UNPARSABLE] = "unparsable",
	[EXEUNT_LOSS_NOT_RUNNING] = "not_running",
	[EXEUNT_LOSS_RETENTION] = "retention",
};

static const char *const type_names[] = {
	[EXEUNT_TYPE_EXIT] = "exit",   [EXEUNT_TYPE_THREAD] = "thread",
	[EXEUNT_TYPE_AMEND] = "amend", [EXEUNT_TYPE_LOSS] = "loss",
	[EXEUNT_TYPE_START] = "start", [EXEUNT_TYPE_STATUS] = "status",
	[EXEUNT_TYPE_STOP] = "stop",   [EXEUNT_TYPE_INTERIM] = "interim",
};

static const char *const delay_names[EXEUNT_DELAY_COUNT] = {
	[EXEUNT_DELAY_CPU] = "cpu",
	[EXEUNT_DELAY_BLKIO] = "blkio",
	[EXEUNT_DELAY_SWAPIN] = "swapin",
	[EXEUNT_DELAY_RECLAIM] = "reclaim",
	[EXEUNT_DELAY_THRASHING] = "thrashing",
	[EXEUNT_DELAY_COMPACT] = "compact",
	[EXEUNT_DELAY_WPCOPY] = "wpcopy",
	[EXEUNT_DELAY_IRQ] = "irq",
};

/* The kernel's numbers on every architecture that Debian runs on, mips apart (asm-generic/signal.h). */
static const char *const signal_names[] = {
	NULL,	     "SIGHUP",	"SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
	"SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
	"SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
	"SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS",
};

#define NAME(table, i) \
	((size_t)(i) < sizeof(table) / sizeof((table)[0]) && (table)[i] ? (table)[i] : "unknown")

const char *exeunt_source_name(enum exeunt_source source)
{
	return NAME(source_names, source);
}

const char *exeunt_loss_cause_name(enum exeunt_loss_cause cause)
{
	return NAME(cause_names, cause);
}

const char *exeunt_type_name(enum exeunt_type type)
{
	return NAME(type_names, type);
}

const char *exeunt_delay_name(enum exeunt_delay_kind kind)
{
	return NAME(delay_names, kind);
}

/* Real-time signals by the C library's count: it keeps 32 and 33 for itself, so 34 is SIGRTMIN. */
static const char *const realtime_names[] = {
	"SIGRTMIN-2",  "SIGRTMIN-1",  "SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+2",  "SIGRTMIN+3",
	"SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",  "SIGRTMIN+7",  "SIGRTMIN+8",  "SIGRTMIN+9",
	"SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15",
	"SIGRTMAX-14", "SIGRTMAX-13", "SIGRTMAX-12", "SIGRTMAX-11", "SIGRTMAX-10", "SIGRTMAX-9",
	"SIGRTMAX-8",  "SIGRTMAX-7",  "SIGRTMAX-6",  "SIGRTMAX-5",  "SIGRTMAX-4",  "SIGRTMAX-3",
	"SIGRTMAX-2",  "SIGRTMAX-1",  "SIGRTMAX",
};

const char *exeunt_signal_name(unsigned int signal)
{
	if (signal < sizeof(signal_names) / sizeof(signal_names[0]))
		return signal_names[signal];
	if (signal >= 32 && signal - 32 < sizeof(realtime_names) / sizeof(realtime_names[0]))
		return realtime_names[signal - 32];
	return NULL;
}
