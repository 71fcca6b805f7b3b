/* SPDX-License-Identifier: MIT */
/* A command is a row in main.c and a file with its name. Commands print, and only they do. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/util.h"

/* Exit statuses; exeunt(8) has them too. */
enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_NOT_PERMITTED = 3 };

int cmd_live(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_last(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_plugin(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_top(int argc, char **argv);

/* A message to stderr, "exeunt: ..." in one line; control bytes in it come out as `?`. */
void cmd_error(const char *format, ...) PRINTF(1, 2);
void cmd_note(const char *format, ...) PRINTF(1, 2);

/* The same with a level of syslog's. To the journal, lines begin with it. */
void cmd_say(int level, const char *format, ...) PRINTF(2, 3);

/* From here on messages go to the system's log, if stderr is /dev/null or closed. Never waits for the logger. */
void cmd_messages_to_log(void);

/* From here on a message that would have to be waited for is dropped: who runs on may wait for nobody. */
void cmd_messages_prompt(void);

/* True if fd is /dev/null, or closed. */
bool cmd_is_null(int fd);

/* "exeunt: ...", then "Try 'exeunt COMMAND --help'". Returns CMD_USAGE. */
int cmd_usage_error(const char *command, const char *format, ...) PRINTF(2, 3);

/* The second line alone, where the first is told. Returns CMD_USAGE. */
int cmd_usage_hint(const char *command);

#endif
