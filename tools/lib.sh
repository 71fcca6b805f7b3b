# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts beside it: where the tree is, and the packages of tools/packages.
# Sourced, never run. Defines functions and `root`; changes nothing by itself.

# Debian's own programs first: what tools/packages lists, not what a user may have put before it.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# say TEXT...: progress, for a person.
say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# packages_in SECTION...: their packages, one a line.
packages_in() {
	awk -v wanted=" $* " '
		{ sub(/#.*/, "") }
		/^\[/ { gsub(/[][ \t]/, ""); on = index(wanted, " " $0 " "); next }
		on && NF { print $1 }' "$root/tools/packages"
}

# packages_missing SECTION...: those of them that are not installed.
packages_missing() {
	local wanted
	wanted=$(packages_in "$@")
	# Its status tells of packages it never heard of; those are missing, and no error.
	# shellcheck disable=SC2086 # one word is one package
	{ dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null || true; } |
		awk -v wanted="$wanted" '
			$2 == "installed" { have[$1] = 1 }
			END { n = split(wanted, all); for (i = 1; i <= n; i++) if (!(all[i] in have)) print all[i] }'
}

# packages_install SECTION...: installs what is missing, and asks the network only then. Returns 1 if it could not.
packages_install() {
	local missing log
	if ! command -v dpkg-query >/dev/null; then
		say "not a Debian system, so nothing is installed; needed: $(packages_in "$@" | paste -sd ' ')"
		return 0
	fi
	missing=$(packages_missing "$@")
	[ -n "$missing" ] || return 0
	missing=$(paste -sd ' ' <<<"$missing")
	if [ "$(id -u)" -ne 0 ]; then
		say "missing packages: $missing (install them, or run this as root)"
		return 1
	fi
	say "installing $missing"
	log=$(mktemp)
	services_hold
	# A failed update (no network) is no reason to give up: the packages may be in a local cache.
	# shellcheck disable=SC2086 # one word is one package
	if { apt_get update; apt_get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
		services_release "$missing"
		rm -f "$log"
		return 0
	fi
	services_release
	tail -n 20 "$log" >&2
	rm -f "$log"
	say "could not install: $missing"
	return 1
}

# What is installed here is wanted as a program. auditd and acct would also start at once, and at every boot, and change
# what the host records; so nothing is started, and what came as a service, or as auditd's plugin, is left switched off.
services_policy=/usr/sbin/policy-rc.d

services_hold() {
	if [ -e "$services_policy" ]; then
		services_policy=
	else
		printf '#!/bin/sh\nexit 101\n' >"$services_policy" && chmod 755 "$services_policy"
	fi
}

# services_release [PACKAGES]
services_release() {
	local package
	[ -z "$services_policy" ] || rm -f "$services_policy"
	for package in ${1-}; do
		case $package in
		auditd | acct) ! command -v systemctl >/dev/null || systemctl --quiet disable "$package" || true ;;
		laurel) sed -i 's/^active = yes/active = no/' /etc/audit/plugins.d/laurel.conf || true ;;
		esac
	done
} 2>/dev/null

apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
