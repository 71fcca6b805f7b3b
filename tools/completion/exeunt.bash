# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion of exeunt for bash. What there is to complete is what exeunt itself tells by --help, so that it is always that
# of the program at hand; only the words that a few options take are written here.

# The program as it was typed, or where it is installed for those whose PATH has no sbin.
_exeunt_run() {
	local typed=${COMP_WORDS[0]/#\~/$HOME} program
	program=$(type -P "$typed" || type -P /usr/sbin/exeunt || type -P /usr/local/sbin/exeunt) && "$program" "$@" 2>/dev/null
}

_exeunt_commands() {
	_exeunt_run --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
}

# Of a command: "--output FILE" a line, or "--json" alone, and "-o FILE" where there is such.
_exeunt_options() {
	_exeunt_run "$1" --help | sed -nE '/^Options:|^$/,$ {
		s/^ +(-[a-zA-Z]), (--[a-z-]+)([= ]([A-Z]+))?( .*|$)/\1 \4\n\2 \4/p
		s/^ +(--[a-z-]+)([= ]([A-Z]+))?( .*|$)/\1 \3/p
	}'
}

_exeunt_sinks() {
	_exeunt_run run --help | sed -nE '/^Sinks:/,$s/^  ([a-z]+:?).*/\1/p'
}

_exeunt_sets_of_rules() {
	_exeunt_run rules list | sed -nE 's/^([a-z0-9]+) .*/\1/p'
}

# _exeunt_offer WORDS: those of them that go on what was typed; a list goes on behind its last comma.
_exeunt_offer() {
	local done=
	[[ $cur != *,* ]] || done=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$done" -W "$1" -- "${cur##*,}")
}

_exeunt_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "${1:--f}" -- "$cur")
}

# _exeunt_value OPTION KIND: KIND is what --help calls the value.
_exeunt_value() {
	case $1 in
	--source) _exeunt_offer "taskstats procevents audit pacct" ;;
	--audit) _exeunt_offer "auto off multicast unicast stdin" ;;
	--audit-rules) _exeunt_offer "$(_exeunt_sets_of_rules)" ;;
	--pacct) if [[ $cur == */* ]]; then _exeunt_files; else _exeunt_offer "auto off own"; fi ;;
	--color) _exeunt_offer "auto always never" ;;
	--sort) _exeunt_offer "cpu exits elapsed failed name" ;;
	--to)
		compopt -o nospace 2>/dev/null
		_exeunt_offer "$(_exeunt_sinks)"
		;;
	*)
		case $2 in
		FILE) _exeunt_files ;;
		DIR) _exeunt_files -d ;;
		USER) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
		esac
		;;
	esac
}

# What no option says: files, or the words of `rules`.
_exeunt_operand() {
	local words=" ${COMP_WORDS[*]:2:COMP_CWORD-2} "
	case $1 in
	'') _exeunt_offer "$(_exeunt_commands)" ;;
	replay | report | capture) _exeunt_files ;;
	rules)
		case $words in
		*" load "* | *" unload "*) _exeunt_offer "$(_exeunt_sets_of_rules)" ;;
		*" list "* | *" status "*) ;;
		*) _exeunt_offer "list load unload status" ;;
		esac
		;;
	esac
}

# bash takes --to=json:/x apart, at = and at the colon. Sets cur, and the option that it belongs to.
_exeunt_words() {
	local i=$COMP_CWORD
	cur=${COMP_WORDS[i]} option=
	if [[ $cur == : || ${COMP_WORDS[i - 1]} == : ]]; then
		option=path
		[[ $cur != : ]] || cur=
	elif [[ $cur == = ]]; then
		option=${COMP_WORDS[i - 1]} cur=
	elif [[ ${COMP_WORDS[i - 1]} == = && $i -ge 3 ]]; then
		option=${COMP_WORDS[i - 2]}
	elif [[ ${COMP_WORDS[i - 1]} == -* && $i -ge 2 ]]; then
		option=${COMP_WORDS[i - 1]}
	fi
}

_exeunt() {
	local cur option command='' name kind='' value names=''
	COMPREPLY=()
	_exeunt_words
	[[ $COMP_CWORD -lt 2 || ${COMP_WORDS[1]} == -* ]] || command=${COMP_WORDS[1]}
	[[ $option != path ]] || { _exeunt_files && return; }
	while read -r name value; do
		[[ $name != -? ]] && names+="$name "
		[[ $name != "$option" ]] || kind=$value
	done < <(_exeunt_options "${command:-live}")
	if [[ -n $kind ]]; then
		_exeunt_value "$option" "$kind"
	elif [[ $cur == -* ]]; then
		_exeunt_offer "$names"
	else
		_exeunt_operand "$command"
	fi
}

complete -F _exeunt exeunt
