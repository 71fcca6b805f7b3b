/* SPDX-License-Identifier: MIT */
/* See pacct_detect.h. The search through all file systems is in pacct_search.c. */
#include "source/pacct_detect.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/util.h"
#include "decode/pacct.h"
#include "source/pacct_own.h"
#include "source/pacct_scan.h"

struct usual_place {
	const char *path, *prefix;
};

/* Debian; Red Hat, Arch, Gentoo; SUSE and Slackware; atopacctd; atop without it; we. */
static const struct usual_place usual_places[] = {
	{ "/var/log/account/pacct", NULL },
	{ "/var/account/pacct", NULL },
	{ "/var/log/pacct", NULL },
	{ "/var/adm/pacct", NULL },
	{ "/run/pacct_source", NULL },
	{ "/tmp/atop.d/atop.acct", NULL },
	{ PACCT_OWN_DIR "/" PACCT_OWN_PREFIX "a", PACCT_OWN_PREFIX },
};

#define PLACES (ARRAY_SIZE(usual_places) + 1)
#define RECORD 64
#define PID_AT 16

struct place {
	const char *path;
	char dir[PATH_MAX];
	const char *name;
	bool pair;  /* the files beside it are no older ones of the same name */
	bool named; /* by the user */
	struct pacct_scan scan;
};

pid_t pacct_end_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(0);
	/* Where SIGCHLD is ignored, this waits too, and then finds no child. */
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			break;
	return pid;
}

bool pacct_lacks_room(int fd)
{
	unsigned long long resume = 4;
	struct statvfs st;
	FILE *f;

	if (fd < 0 || fstatvfs(fd, &st))
		return false;
	/*
	 * Percent of free blocks at which the kernel resumes, suspends; seconds between two looks.
	 */
	f = fopen("/proc/sys/kernel/acct", "re");
	if (f) {
		if (fscanf(f, "%4llu", &resume) != 1)
			resume = 4;
		fclose(f);
	}
	return st.f_bavail < st.f_blocks * resume / 100;
}

static void place_open(struct place *p, const char *path, const char *prefix)
{
	const char *slash = strrchr(path, '/');

	p->path = path;
	p->pair = prefix != NULL;
	p->name = slash ? slash + 1 : path;
	if (!slash)
		snprintf(p->dir, sizeof(p->dir), ".");
	else
		snprintf(p->dir, sizeof(p->dir), "%.*s", (int)MAX(slash - path, 1), path);
	/* A directory that is not there has no files. */
	pacct_scan_open(&p->scan, p->dir, p->name, prefix ? prefix : p->name);
}

/* Records of version 2 have no pid: then any record that came will do. */
static bool is_of(const unsigned char *record, pid_t pid)
{
	return (record[1] & 0x7f) == 2 || (int32_t)load_u32(record + PID_AT) == pid;
}

/* Is the child's record in what was added to this file? */
static bool got_record(const struct pacct_file *f, pid_t pid)
{
	unsigned char buf[256 * RECORD];
	uint64_t at = f->size;
	ssize_t n;

	if (f->gz)
		return false;
	while ((n = pread(f->fd, buf, sizeof(buf), (off_t)at)) >= RECORD) {
		for (ssize_t i = 0; i + RECORD <= n; i += RECORD)
			if (is_of(buf + i, pid))
				return true;
		at += (uint64_t)(n / RECORD * RECORD);
	}
	return false;
}

/* Some usual places lie where anybody can put a file with a record of any pid. */
static bool is_trusted(const struct place *p, const struct pacct_file *f)
{
	struct stat st;

	return p->named || (!fstat(f->fd, &st) && st.st_uid == 0 && !(st.st_mode & S_IWOTH));
}

static bool take_place(struct pacct_where *w, const struct place *p, pid_t pid)
{
	for (unsigned int i = 0; i < p->scan.n; i++) {
		const struct pacct_candidate *c = &p->scan.all[i];

		if (!is_trusted(p, c->file) || !got_record(c->file, pid))
			continue;
		if ((size_t)snprintf(w->path, sizeof(w->path), "%s/%s", p->dir, c->name) >=
		    sizeof(w->path))
			continue;
		snprintf(w->follow, sizeof(w->follow), "%s", p->pair ? w->path : p->path);
		w->found = true;
		return true;
	}
	return false;
}

static bool place_lacks_room(const struct place *p)
{
	return p->scan.n && pacct_lacks_room(p->scan.all[0].file->fd);
}

static int look_at_places(struct pacct_where *w, const char *first, const char *prefix)
{
	struct place *places = calloc(PLACES, sizeof(*places));
	size_t n = 0;
	pid_t pid;

	if (!places)
		return -ENOMEM;
	if (first) {
		places[n].named = true;
		place_open(&places[n++], first, prefix);
	}
	for (size_t i = 0; i < ARRAY_SIZE(usual_places); i++)
		place_open(&places[n++], usual_places[i].path, usual_places[i].prefix);
	pid = pacct_end_child();
	if (pid > 0)
		w->children[w->n_children++] = pid;
	for (size_t i = 0; i < n && pid > 0 && !w->found; i++)
		take_place(w, &places[i], pid);
	for (size_t i = 0; i < n; i++) {
		w->may_be_paused |= !w->found && place_lacks_room(&places[i]);
		pacct_scan_close(&places[i].scan);
	}
	free(places);
	return MIN(pid, 0);
}

int pacct_detect(struct pacct_where *w, const char *first, const char *prefix)
{
	int r;

	memset(w, 0, sizeof(*w));
	r = look_at_places(w, first, prefix);
	if (r < 0 || w->found)
		return r;
	/*
	 * Without the privilege, or on an old kernel, the usual places are all that can be looked
	 * at.
	 */
	r = pacct_search(w);
	return r == -ENOMEM ? r : 0;
}
