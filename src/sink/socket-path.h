/* SPDX-License-Identifier: MIT */
/* Where the daemon's socket usually is; who wants its records looks there. */
#ifndef SINK_SOCKET_PATH_H
#define SINK_SOCKET_PATH_H

#define SOCKET_PATH "/run/exeunt/exeunt.sock"

#endif
