/* SPDX-License-Identifier: MIT */
/*
 * The file of `exeunt run --config`: INI, the same words as the options.
 *
 *	pacct = own			before the first section, or in [exeunt]: what the command line has in front of --to
 *	status = 10
 *
 *	[sink files]			a --to, and what follows it there; "files" is its --name
 *	to = json:/var/log/exeunt.jsonl
 *	filter = exit.code != 0
 */
#ifndef CMD_CONFIG_H
#define CMD_CONFIG_H

#include "cmd/options.h"

struct config;

/*
 * Reads `path` into `o`; strings in `o` are borrowed from *ret until config_free(). Tells every line that is wrong, with its
 * number. Returns -1 to go on, or an exit status.
 */
int config_read(struct config **ret, const char *path, struct options *o, int groups);

/* NULL is accepted. */
void config_free(struct config *c);

#endif
