/* SPDX-License-Identifier: MIT */
/* What exeunt check found, as a table: check-rows.c fills it, check.c prints it as text or JSON from the same rows. */
#ifndef CMD_CHECK_H
#define CMD_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <exeunt/exeunt.h>

#include "source/audit_report.h"

#define CHECK_ROWS 5
#define CHECK_RAW 400		       /* bytes of a sentence */
#define CHECK_TEXT (4 * CHECK_RAW + 8) /* the same, each of them escaped */

/* Something that was found besides. */
struct check_note {
	bool in_the_way; /* until it is mended, exits are not told of, or not all */
	char reason[sizeof(((struct audit_finding *)0)->reason)];
	const char *remedy; /* static; or NULL */
};

struct check_row {
	const char *name;
	bool is_source;
	const char *word; /* "works", "partly", "off", "no"; of a setting "on", "off" */
	bool works;
	bool tested;		 /* the exit of a test process arrived */
	char text[CHECK_TEXT];	 /* one sentence */
	char remedy[CHECK_TEXT]; /* or "" */
	char detail[CHECK_TEXT]; /* of struct exeunt_source_status; or "" */
	int version;		 /* 0: none */
	uint32_t sockets;	 /* 0: none */
	uint64_t receive_buffer; /* of each */
	struct check_note notes[AUDIT_FINDING_COUNT];
	size_t n_notes;
};

struct check {
	struct check_row rows[CHECK_ROWS];
	size_t n;
	bool collects; /* exits can be collected: listening began */
	bool delays;   /* delay accounting is on */
};

/* Asks audit, opens every source that works and lets processes end. Errors: -ENOMEM, those of exeunt_new(). */
int check_run(struct check *c);

#endif
