/* SPDX-License-Identifier: MIT */
/*
 * join/cgroup.h: the names that container runtimes and systemd give, and the choice among
 * hierarchies.
 */
#include "unit/test.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "join/cgroup.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static void check(const char *what, struct exeunt_bytes got, const char *expected)
{
	if (!expected && !got.data)
		return;
	if (!expected || !got.data || got.len != strlen(expected) ||
	    memcmp(got.data, expected, got.len))
		fail_msg("%s: got \"%.*s\", expected \"%s\"", what, (int)got.len,
			 got.data ? got.data : "", expected ? expected : "(none)");
}

static void test_paths(void **state)
{
	static const struct {
		const char *path, *container, *unit;
	} rows[] = {
		{ "/", NULL, NULL },
		{ "/init.scope", NULL, "init.scope" },
		{ "/system.slice/ssh.service", NULL, "ssh.service" },
		{ "/system.slice/ssh.service/worker", NULL, "ssh.service" },
		{ "/user.slice/user-1000.slice/session-3.scope", NULL, "session-3.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/demo.service", NULL,
		  "demo.service" },
		{ "/user.slice/user-1000.slice", NULL, "user-1000.slice" },
		{ "/.service/.slice/x", NULL, NULL },
		{ "/docker/" ID, ID, NULL },
		{ "/docker/" ID "/init.scope", ID, "init.scope" },
		{ "/system.slice/docker-" ID ".scope", ID, "docker-" ID ".scope" },
		{ "/docker/" ID "/docker/" ID2, ID2, NULL },
		{ "/kubepods/burstable/pod2c48913c-b29f-11e7-9350-020968147796/" ID, ID, NULL },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice/"
		  "cri-containerd-" ID ".scope",
		  ID, "cri-containerd-" ID ".scope" },
		{ "/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", ID,
		  "crio-" ID ".scope" },
		{ "/kubepods.slice/kubepods-pod1.slice/crio-conmon-" ID ".scope", NULL,
		  "crio-conmon-" ID ".scope" },
		{ "/system.slice/containerd.service/kubepods-besteffort-pod1.slice:cri-containerd:" ID,
		  ID, "containerd.service" },
		{ "/machine.slice/libpod-" ID ".scope/container", ID, "libpod-" ID ".scope" },
		{ "/machine.slice/libpod-conmon-" ID ".scope", NULL, "libpod-conmon-" ID ".scope" },
		{ "/libpod_parent/libpod-" ID, ID, NULL },
		{ "/lxc.payload.web1", "web1", NULL },
		{ "/lxc.payload.web1/system.slice/cron.service", "web1", "cron.service" },
		{ "/lxc.monitor.web1", NULL, NULL },
		{ "/lxc/web1/init.scope", "web1", "init.scope" },
		{ "/machine.slice/machine-deb\\x2dstable.scope/payload", "deb\\x2dstable",
		  "machine-deb\\x2dstable.scope" },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", NULL,
		  "machine-qemu\\x2d1\\x2dvm.scope" },
		{ "/machine.slice/systemd-nspawn@deb.service/payload", "deb",
		  "systemd-nspawn@deb.service" },
		{ "/machine-.scope", NULL, "machine-.scope" },
		/* 63 digits, 65 digits, capitals: not an id */
		{ "/docker/123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL,
		  NULL },
		{ "/docker/0" ID, NULL, NULL },
		{ "/docker/A123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL,
		  NULL },
		{ "../../system.slice/a.mount", NULL, "a.mount" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cgroup_info info;

		cgroup_parse_path(rows[i].path, strlen(rows[i].path), &info);
		check(rows[i].path, info.path, rows[i].path);
		check(rows[i].path, info.container_id, rows[i].container);
		check(rows[i].path, info.unit, rows[i].unit);
	}
}

static void test_removed_group(void **state)
{
	static const char path[] = "/system.slice/a.service (deleted)";
	struct cgroup_info info;

	(void)state;
	cgroup_parse_path(path, strlen(path), &info);
	check(path, info.path, "/system.slice/a.service");
	check(path, info.unit, "a.service");
}

static void test_choice(void **state)
{
	static const struct {
		const char *text, *path, *container;
		bool v1;
	} rows[] = {
		{ "0::/system.slice/a.service\n", "/system.slice/a.service", NULL, false },
		{ "0::/\n", "/", NULL, false },
		/* no newline at the end, and a colon in the path */
		{ "0::/a:b.service", "/a:b.service", NULL, false },
		/* version 1: systemd's tree before the controllers */
		{ "4:memory:/lim\n1:name=systemd:/system.slice/a.service\n",
		  "/system.slice/a.service", NULL, true },
		/* hybrid: the unified tree before systemd's */
		{ "4:memory:/\n1:name=systemd:/old.service\n0::/new.service\n", "/new.service",
		  NULL, true },
		/* hybrid, and the runtime knows only version 1 */
		{ "4:cpu,cpuacct:/docker/" ID "\n1:name=systemd:/docker/" ID
		  "\n0::/system.slice/containerd.service\n",
		  "/docker/" ID, ID, true },
		{ "4:memory:/docker/" ID "\n1:name=systemd:/\n0::/\n", "/docker/" ID, ID, true },
		{ "4:memory:/lim\n1:name=systemd:/\n0::/\n", "/lim", NULL, true },
		{ "4:memory:/\n1:name=systemd:/\n0::/\n", "/", NULL, true },
		{ "rubbish\n\n:\n::\n5:x\n0::/ok\n", "/ok", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cgroup_info info;

		assert_int_equal(cgroup_parse(rows[i].text, strlen(rows[i].text), &info), 0);
		check(rows[i].text, info.path, rows[i].path);
		check(rows[i].text, info.container_id, rows[i].container);
		assert_int_equal(cgroup_has_v1(rows[i].text, strlen(rows[i].text)), rows[i].v1);
	}
}

static void test_nothing(void **state)
{
	static const char *const rows[] = { "", "\n", "0:", "0::", "0::\n", "0::relative\n", "::" };
	struct cgroup_info info;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(cgroup_parse(rows[i], strlen(rows[i]), &info), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_removed_group),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
