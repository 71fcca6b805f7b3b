/* SPDX-License-Identifier: MIT */
/*
 * The one door: every frame, live or replayed, comes in here, is decoded and goes to the joiner or the ledger.
 * What cannot be decoded is counted and becomes a loss; reading goes on.
 */
#ifndef LIB_INTAKE_H
#define LIB_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/frame.h"
#include "join/join.h"
#include "join/ledger.h"

#define INTAKE_OWN_MOST 4096

struct intake {
	struct joiner *joiner; /* borrowed */
	struct ledger *ledger; /* borrowed */
	bool delay_accounting;
	uint16_t taskstats_version; /* as last seen */
	int64_t mono_ns, real_ns;   /* of the latest frame */
	uint64_t unparsable;	    /* since the last intake_settle() */
	int64_t unparsable_since_ns;
	bool lost_since_sweep;
	int32_t own[INTAKE_OWN_MOST]; /* children of our self-test that have not been seen */
	int n_own;
};

/* Takes one frame; 0, or -ENOMEM. */
int intake_frame(struct intake *in, const struct frame *f);

/* Books what is outstanding: unparsable messages, sequence gaps. Call now and then, when queues were read empty. */
void intake_settle(struct intake *in);

/* The exit of this child of ours is to be left out. False when there are too many. */
bool intake_expect_own(struct intake *in, int32_t pid);

#endif
