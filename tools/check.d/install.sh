# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Part `install` of tools/check, which sources this: what `meson install` leaves, used as a stranger would use it.
# Needs `step`, `work` and `root` of tools/check, and the folder $work/release.

# The prefix of the release build, so that nothing of it can be found by accident.
# shellcheck disable=SC2154 # work and root come from tools/check
installed=$work/destdir/opt/exeunt

# $root/tools/check.d/installed names each file and link below the prefix.
installed_files() {
	(cd "$installed" && find . ! -type d -printf '%P\n') | LC_ALL=C sort |
		diff -u --label expected --label installed "$root/tools/check.d/installed" -
}

# Nothing but exeunt_* leaves the library, and everything that the header declares does.
exported_symbols() {
	nm -D --defined-only "$installed/lib/libexeunt.so" | awk '$2 != "A" { print $NF }' | sed 's/@.*//' | sort -u >"$work/exported"
	cat "$installed"/include/exeunt/*.h | gcc -fpreprocessed -dD -E -P - 2>/dev/null | tr '\n' ' ' |
		grep -oE '\bexeunt_[a-z_]+\(' | tr -d '(' | sort -u >"$work/declared"
	if grep -v '^exeunt_' "$work/exported"; then
		echo "exported, and not ours to name"
		return 1
	fi
	# A static inline function of the header is declared, and rightly not exported.
	grep -ohE '^static inline .*\bexeunt_[a-z_]+\(' "$installed"/include/exeunt/*.h |
		grep -oE 'exeunt_[a-z_]+\(' | tr -d '(' | sort -u >"$work/inline"
	comm -23 "$work/declared" "$work/inline" | comm -23 - "$work/exported" >"$work/absent"
	if [ -s "$work/absent" ]; then
		echo "declared, and not exported:" && cat "$work/absent"
		return 1
	fi
}

pkg_config() {
	PKG_CONFIG_PATH=$installed/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/destdir pkg-config "$@" exeunt
}

# c_program FILE.c: against the installed header and library only.
c_program() {
	local flags libs
	flags=$(pkg_config --cflags) && libs=$(pkg_config --libs) || return 1
	# shellcheck disable=SC2086 # flags are words
	gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $flags "$1" -o "${1%.c}" $libs
}

small_program() {
	cat >"$work/small.c" <<-'END'
		#include <exeunt/exeunt.h>
		#include <stdio.h>
		int main(void)
		{
			struct exeunt *x = NULL;
			int r = exeunt_new(&x, NULL);
			printf("%s %d\n", exeunt_version(), r);
			exeunt_free(x);
			return r < 0;
		}
	END
	c_program "$work/small.c" || return 1
	[ "$(LD_LIBRARY_PATH=$installed/lib "$work/small")" = "$(pkg_config --modversion) 0" ]
}

# The example of README.md must go on compiling.
readme_example() {
	awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >"$work/example.c"
	[ -s "$work/example.c" ] && c_program "$work/example.c"
}

header_in_cxx() {
	printf '%s\n' '#include <exeunt/exeunt.h>' 'int main() { exeunt_free(nullptr); }' >"$work/header.cc"
	# shellcheck disable=SC2046 # flags are words
	g++ -std=c++11 -Wall -Wextra -Werror $(pkg_config --cflags) "$work/header.cc" -o "$work/header" $(pkg_config --libs)
}

installed_program() {
	LD_LIBRARY_PATH=$installed/lib "$(find "$installed" -type f -name exeunt -perm -u+x)" --version
}

install_again() {
	meson install -C "$work/release" --destdir "$work/destdir" --no-rebuild --quiet
}

# They name this prefix, auditd's file is as auditd wants it and switched off, and the sample is taken by the program.
configuration_files() {
	local etc=$installed/etc
	# laurel is the host's
	if grep -rE '(^|[^a-z])/(usr|etc)/' "$etc" "$installed/lib"/systemd 2>/dev/null | grep -v /laurel; then
		echo "not of this prefix"
		return 1
	fi
	[ "$(stat -c %a "$etc/audit/plugins.d/exeunt.conf")" = 640 ] || return 1
	grep -qx 'active = no' "$etc/audit/plugins.d/exeunt.conf" || return 1
	LD_LIBRARY_PATH=$installed/lib "$installed/sbin/exeunt" run --config="$etc/exeunt/exeunt.conf" --check-config
}

# What somebody changed is theirs.
edited_files_stay() {
	local file
	for file in audit/plugins.d/exeunt.conf exeunt/exeunt.conf logrotate.d/exeunt; do
		echo "# changed" >>"$installed/etc/$file"
	done
	install_again || return 1
	for file in audit/plugins.d/exeunt.conf exeunt/exeunt.conf logrotate.d/exeunt; do
		[ "$(tail -n 1 "$installed/etc/$file")" = "# changed" ] || { echo "overwritten: $file" && return 1; }
	done
}

install_checks() {
	step "install" install_again
	step "installed files" installed_files
	step "exported symbols" exported_symbols
	step "a C program with the library" small_program
	step "the example in README.md" readme_example
	step "the header in C++" header_in_cxx
	step "the installed program" installed_program
	step "files of configuration" configuration_files
	step "what was changed stays" edited_files_stay
}
