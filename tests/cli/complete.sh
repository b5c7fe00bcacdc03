#!/usr/bin/env bash
# The completion for bash: which words it offers, and that it changes nothing.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

completion=$(readlink -f "$(dirname "$0")/../../completions/readpast.bash")
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=completions/readpast.bash
. "$completion"
set +u # the completion also runs in interactive shells, which do not have set -u

# Print the words that are offered with the cursor at the end of the line. Like bash,
# split the line at blanks, and at the characters = and : if COMP_WORDBREAKS has them.
offered() {
	local left=$1 cuts='' word
	[[ $COMP_WORDBREAKS != *:* ]] || cuts=':='
	COMP_LINE=$1
	COMP_POINT=${#1}
	COMP_WORDS=()
	while [[ $left ]]; do
		left=${left#"${left%%[! ]*}"}
		word=${left%%[ "$cuts"]*}
		[[ $word || -z $cuts ]] || word=${left:0:1}
		COMP_WORDS+=("$word")
		left=${left#"$word"}
	done
	[[ $1 == *[!\ ] ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_readpast readpast "${COMP_WORDS[COMP_CWORD]}" 2>err >out
	[[ ! -s err && ! -s out ]] || echo "noise: $(cat err out)"
	((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
}

offers() { # LINE WORDS
	equal "$(offered "$1")" "$2"
}

PATH=$(dirname "$READPAST"):$PATH
unset -f readpast

check 'nothing is offered for a missing database' offers 'readpast stats ' ''
check 'and no database was made' test ! -e readpast.db
readpast enqueue mail a --quiet
readpast enqueue 'two words' a --quiet
readpast --db sqlite:other.db enqueue a:b a --quiet
readpast pause mail
check 'commands' offers 'readpast re' 'release resume retry'
check 'commands of queue' offers 'readpast queue ' 'drop list pause resume set'
check 'commands of cron' offers 'readpast cron ' 'add apply list next pause remove resume run'
check 'zones' offers 'readpast cron next --zone Europe/Ber' Europe/Berlin
check 'options' offers 'readpast list --' '--all --db --error --help --history --json --key --kind --limit --older --queue --state'
check 'options of two words' offers 'readpast queue drop q -' '--db --help --history --json --yes'
check 'options in front of the command' offers 'readpast --' '--db --help --history --version'
check 'queues' offers 'readpast stats ' 'mail two\ words'
check 'a command that takes one queue' offers 'readpast stats mail ' ''
check 'a command that takes several queues' offers 'readpast work mail t' 'two\ words'
check 'the value that a flag may have' offers 'readpast work --drain=' settled
check 'queues after a flag' offers 'readpast work --drain m' mail
check 'no queues as the value of an option' offers 'readpast work -j ' ''
check 'queues after that value' offers 'readpast work -j 4 m' mail
check 'states' offers 'readpast list q --state d' 'dead done'
check 'states after =' offers 'readpast list q --state=d' 'dead done'
check 'those that can be purged' offers 'readpast purge q --state ' 'all cancelled dead done ready scheduled'
check 'queues as a value' offers 'readpast retry --dead m' mail
check 'queues of the database that --db names' offers 'readpast --db sqlite:other.db stats a:' b
check '--db after the command' offers 'readpast stats --db sqlite:other.db a:' b
check '--db with =' offers 'readpast --db=sqlite:other.db stats ' a:b
check 'the scheme' offers 'readpast --db ' 'postgres:// sqlite:'
check 'its rest' offers 'readpast --db postgres:' //
check 'its file' offers 'readpast --db sqlite:o' 'other.db out'
check 'its file behind =' offers 'readpast --db=sqlite:oth' other.db
check 'histories' offers 'readpast check oth' other.db
check 'techniques' offers 'readpast lab m' 'marker merge'
check 'one to be explained' offers 'readpast lab --explain=w' worker-loop
check 'commands to be helped with' offers 'readpast help sw' sweep
check 'what a worker is to run' offers 'readpast work mail -- readpas' readpast
check 'files as arguments of that command' offers 'readpast work mail -- cat oth' other.db
COMP_WORDBREAKS=' '
check 'a shell that does not cut at = and :' offers 'readpast --db=sqlite:oth' '--db=sqlite:other.db'
check 'and not in the name of a queue' offers 'readpast --db sqlite:other.db stats a:' a:b
export READPAST_HISTORY=history
check 'queues once more' offers 'readpast stats m' mail
check 'no history was written' test ! -e history
echo 'no database, and long enough to be looked at as one: it is not' >text
check 'a file that is no database' offers 'readpast --db sqlite:text stats ' ''
finish
