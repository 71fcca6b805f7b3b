# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Part `deb` of tools/check, which sources this: the Debian packages are built, judged, installed, used, and removed.
# Needs `step`, `work` and `root` of tools/check.

# shellcheck disable=SC2154 # work and root come from tools/check
debs=$work/debs

# On this very system, of which an overlay takes all changes, in a mount namespace that nobody else sees.
deb_installed() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "needs root"
		return 77
	fi
	mkdir -p "$work/overlay"
	unshare --mount --propagation private "$root/tools/check.d/deb-overlay" "$work/overlay" "$debs"
}

deb_checks() {
	step "packages built" "$root/tools/deb" "$debs"
	step "lintian" lintian --allow-root --info --display-info --fail-on error,warning,info "$debs"/*.changes
	step "packages installed, used, removed, purged" deb_installed
}
