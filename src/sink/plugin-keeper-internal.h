/* SPDX-License-Identifier: MIT */
/* Between the halves of the keeper of a plugin, and for nobody else. See plugin-keeper.h. */
#ifndef SINK_PLUGIN_KEEPER_INTERNAL_H
#define SINK_PLUGIN_KEEPER_INTERNAL_H

#include <sys/types.h>

/* The life of the forked process. `control` is its end of the socket for questions, `input` the plugin's of its input. */
_Noreturn void plugin_keeper_run(int control, int input, char *const *argv);

/*
 * plugin-start.c: forks and executes it as auditd does: `input` as standard input, the others /dev/null, nothing else open; no
 * environment, the root as working directory, umask 022, every signal by default and none blocked. Besides, a process
 * group of its own. Returns its pid, or -errno of what went wrong, at the latest in execve(2).
 */
pid_t plugin_start(char *const *argv, int input);

#endif
