/* SPDX-License-Identifier: MIT */
/*
 * A Unix stream socket at a path, that readers connect to. Owns the descriptor and the name in the file system.
 *
 * The socket has its mode and group from its first moment on. What a dead process left at the path is replaced;
 * a socket that answers, a file, a symbolic link are left alone and named in the error. Never waits.
 */
#ifndef SINK_LISTENER_H
#define SINK_LISTENER_H

#include <sys/types.h>

#include "base/util.h"

struct listener {
	int fd;
	char path[108]; /* as struct sockaddr_un has room */
	dev_t dev;	/* of what was made there */
	ino_t ino;
};

#define LISTENER_CLOSED ((struct listener){ .fd = -1 })

/*
 * Makes the folder of the path if it is missing, and the socket. `group`: (gid_t)-1 leaves it as it comes. On
 * -errno `error` has a sentence that names the path.
 */
int listener_open(struct listener *ret, const char *path, mode_t mode, gid_t group, char *error,
		  size_t size);

/* Closes, and removes the name if it still stands for this socket. */
void listener_close(struct listener *l);

/* The next reader's descriptor, which does not wait; -EAGAIN when there is none, or another -errno. */
int listener_accept(const struct listener *l);

#endif
