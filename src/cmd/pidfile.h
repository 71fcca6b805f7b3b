/* SPDX-License-Identifier: MIT */
/* One daemon at a time: a file with our process id in it, locked as long as we live. */
#ifndef CMD_PIDFILE_H
#define CMD_PIDFILE_H

/*
 * Makes the file, and its directory if that alone is missing. Returns the descriptor that holds the lock, or -errno after a
 * message that names who has it.
 */
int pidfile_open(const char *path);

/* Empties it and gives the lock back. The file stays: removed, two could hold locks on two files of that name. */
void pidfile_close(int fd);

#endif
