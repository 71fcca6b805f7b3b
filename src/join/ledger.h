/* SPDX-License-Identifier: MIT */
/*
 * The ledger: every loss is counted here once, becomes a loss record, and stays in the balance. Owns the counters and
 * the per-CPU sequence numbers of taskstats. Time is passed in.
 */
#ifndef JOIN_LEDGER_H
#define JOIN_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/record.h>

typedef void (*ledger_loss_fn)(const struct exeunt_loss *loss, void *userdata);

struct ledger;

/* Errors: -ENOMEM. */
int ledger_new(struct ledger **ret, ledger_loss_fn fn, void *userdata);
void ledger_free(struct ledger *l);

/* The counters, for those who count. */
struct exeunt_balance *ledger_balance(struct ledger *l);

/* The source whose records make the exits: what it loses are exits lost; what others lose is told, and no more. */
void ledger_set_leading(struct ledger *l, enum exeunt_source source);

/* Books a loss and hands its record on. */
void ledger_lose(struct ledger *l, const struct exeunt_loss *loss);

/* Notes the sequence number of a taskstats message of this CPU. Errors: -ENOMEM. */
int ledger_sequence(struct ledger *l, int cpu, uint32_t seq);

/* The numbers that come now are of another boot. What is in doubt is given up: call ledger_check() twice before. */
void ledger_restart(struct ledger *l);

/* A kernel's overflow counter told of `count`: that much of the gaps is explained. */
void ledger_explain(struct ledger *l, uint64_t count);

/*
 * Books what the sequence numbers miss and no overflow explains, once it has stood for two checks: an allocation that
 * failed in the kernel. Call after the queues were read empty and the overflow counters were read.
 */
void ledger_check(struct ledger *l, int64_t real_ns);

/*
 * Losses of taskstats are held for so long after their window, so that what other sources bring can be told with them;
 * 0: not at all.
 */
void ledger_set_hold(struct ledger *l, int64_t hold_ns);

/* How many lost task records no other source has brought yet. */
uint64_t ledger_outstanding(const struct ledger *l);

/* Whether taskstats lost something about then that no other source has brought yet. */
bool ledger_is_lost(struct ledger *l, int64_t exit_time_ns);

/* Nothing is held, and no gap is in doubt: ledger_check() and ledger_release() have nothing to do. */
bool ledger_is_settled(const struct ledger *l);

/* Another source brought an exit of this time that taskstats lost. */
void ledger_backfill(struct ledger *l, int64_t exit_time_ns);

/* Hands on the losses that were held long enough; all of them with INT64_MAX. */
void ledger_release(struct ledger *l, int64_t real_ns);

#endif
