/* SPDX-License-Identifier: MIT */
/*
 * Names of control groups, as the container runtimes and systemd choose them; see cgroup.h.
 *
 *	docker-ID.scope, /docker/ID		Docker, systemd's and cgroupfs driver
 *	crio-ID.scope, cri-containerd-ID.scope	Kubernetes; also SLICE:cri-containerd:ID
 *	kubepods/.../podUID/ID			Kubernetes, cgroupfs driver
 *	libpod-ID.scope, libpod-ID		Podman; libpod-conmon-ID, the monitor, is outside
 *	lxc.payload.NAME, lxc/NAME		LXC; lxc.monitor.NAME is outside
 *	machine-NAME.scope			systemd-machined; machine-qemu... is no container
 *	systemd-nspawn@NAME.service		systemd-nspawn
 */
#include "join/cgroup.h"

#include <errno.h>

#include "base/util.h"

#define CONTAINER_ID_LEN 64

static struct exeunt_bytes slice(const char *data, size_t len)
{
	return (struct exeunt_bytes){ data, (uint32_t)len };
}

static bool has_prefix(struct exeunt_bytes s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && !memcmp(s.data, prefix, n);
}

static bool has_suffix(struct exeunt_bytes s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && !memcmp(s.data + s.len - n, suffix, n);
}

static bool is_text(struct exeunt_bytes s, const char *text)
{
	return s.len == strlen(text) && has_prefix(s, text);
}

static bool cut_prefix(struct exeunt_bytes *s, const char *prefix)
{
	if (!has_prefix(*s, prefix) || s->len == strlen(prefix))
		return false;
	s->data += strlen(prefix);
	s->len -= (uint32_t)strlen(prefix);
	return true;
}

static bool cut_suffix(struct exeunt_bytes *s, const char *suffix)
{
	if (!has_suffix(*s, suffix) || s->len == strlen(suffix))
		return false;
	s->len -= (uint32_t)strlen(suffix);
	return true;
}

static bool is_hex(const char *p, size_t n)
{
	for (; n; n--, p++)
		if (!((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f')))
			return false;
	return true;
}

/* 64 hexadecimal digits, alone or behind RUNTIME- or SLICE:RUNTIME: */
static bool find_hex_id(struct exeunt_bytes name, struct exeunt_bytes *id)
{
	struct exeunt_bytes head;
	const char *p;

	cut_suffix(&name, ".scope");
	if (name.len < CONTAINER_ID_LEN)
		return false;
	head = slice(name.data, name.len - CONTAINER_ID_LEN);
	p = name.data + head.len;
	if (!is_hex(p, CONTAINER_ID_LEN))
		return false;
	if (head.len && p[-1] != '-' && p[-1] != ':')
		return false;
	if (has_suffix(head, "conmon-"))
		return false;
	*id = slice(p, CONTAINER_ID_LEN);
	return true;
}

static bool find_container(struct exeunt_bytes name, struct exeunt_bytes parent,
			   struct exeunt_bytes *id)
{
	if (find_hex_id(name, id))
		return true;
	*id = name;
	if (cut_prefix(id, "lxc.payload.") || is_text(parent, "lxc"))
		return true;
	if (cut_prefix(id, "machine-") && cut_suffix(id, ".scope"))
		return !has_prefix(*id, "qemu");
	*id = name;
	return cut_prefix(id, "systemd-nspawn@") && cut_suffix(id, ".service");
}

static bool is_unit(struct exeunt_bytes name)
{
	static const char *const types[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (has_suffix(name, types[i]) && name.len > strlen(types[i]))
			return true;
	return false;
}

void cgroup_parse_path(const char *path, size_t len, struct cgroup_info *ret)
{
	struct exeunt_bytes name, parent = { 0 }, id, unit_slice = { 0 };

	*ret = (struct cgroup_info){ .path = slice(path, len) };
	/* The kernel adds this when the group was removed under a process that is ending. */
	cut_suffix(&ret->path, " (deleted)");
	len = ret->path.len;
	for (size_t i = 0, end; i < len; i = end + 1, parent = name) {
		const char *p = memchr(path + i, '/', len - i);

		end = p ? (size_t)(p - path) : len;
		name = slice(path + i, end - i);
		if (!name.len)
			continue;
		if (find_container(name, parent, &id))
			ret->container_id = id;
		if (is_unit(name))
			ret->unit = name;
		else if (has_suffix(name, ".slice") && name.len > strlen(".slice"))
			unit_slice = name;
	}
	if (!ret->unit.data)
		ret->unit = unit_slice;
}

enum hierarchy { UNIFIED, SYSTEMD, CONTROLLER, N_HIERARCHIES };

struct line {
	enum hierarchy hierarchy;
	const char *path;
	size_t len;
};

/*
 * Takes "ID:CONTROLLERS:PATH" off the text. Returns false at the end; path is NULL for what is no
 * such line.
 */
static bool next_line(const char **text, size_t *left, struct line *ret)
{
	const char *p = *text, *end, *colon, *path;
	size_t n;

	if (!*left)
		return false;
	end = memchr(p, '\n', *left);
	n = end ? (size_t)(end - p) : *left;
	*text += end ? n + 1 : n;
	*left -= end ? n + 1 : n;
	ret->path = NULL;
	colon = memchr(p, ':', n);
	path = colon ? memchr(colon + 1, ':', n - (size_t)(colon + 1 - p)) : NULL;
	if (!path || path + 1 >= p + n || path[1] != '/')
		return true;
	ret->path = path + 1;
	ret->len = n - (size_t)(path + 1 - p);
	if (path == colon + 1)
		ret->hierarchy = UNIFIED;
	else if (is_text(slice(colon + 1, (size_t)(path - colon - 1)), "name=systemd"))
		ret->hierarchy = SYSTEMD;
	else
		ret->hierarchy = CONTROLLER;
	return true;
}

/* Lower is better. */
static int rank(const struct line *l, const struct cgroup_info *info)
{
	if (info->container_id.data)
		return (int)l->hierarchy;
	if (info->path.len > 1)
		return N_HIERARCHIES + (int)l->hierarchy;
	return 2 * N_HIERARCHIES;
}

int cgroup_parse(const char *text, size_t len, struct cgroup_info *ret)
{
	int best = 2 * N_HIERARCHIES + 1;
	struct line line;

	while (next_line(&text, &len, &line)) {
		struct cgroup_info info;
		int r;

		if (!line.path)
			continue;
		cgroup_parse_path(line.path, line.len, &info);
		r = rank(&line, &info);
		if (r < best) {
			best = r;
			*ret = info;
		}
	}
	return best > 2 * N_HIERARCHIES ? -ENODATA : 0;
}

bool cgroup_has_v1(const char *text, size_t len)
{
	struct line line;

	while (next_line(&text, &len, &line))
		if (line.path && line.hierarchy != UNIFIED)
			return true;
	return false;
}
