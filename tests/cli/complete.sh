#!/usr/bin/env bash
# Test the completion for bash: which words it offers, and that it changes nothing.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

completion=$(readlink -f "$(dirname "$0")/../../completions/readpast.bash")
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=completions/readpast.bash
. "$completion"
set +u # an interactive shell, in which the completion runs, does not set -u

# Print the words that the completion offers for a command line with the cursor at its
# end. Like bash, split the line at blanks, and at the characters = and : if
# COMP_WORDBREAKS has them.
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

check 'for a missing database no queue is offered' offers 'readpast stats ' ''
check 'the completion has not made a database' test ! -e readpast.db
readpast enqueue mail a --quiet
readpast enqueue 'two words' a --quiet
readpast --db sqlite:other.db enqueue a:b a --quiet
readpast pause mail
check 'commands are offered' offers 'readpast re' 'release resume retry'
check 'the commands of queue are offered' offers 'readpast queue ' 'drop list pause resume set'
check 'the commands of cron are offered' offers 'readpast cron ' 'add apply list next pause remove resume run'
check 'time zones are offered' offers 'readpast cron next --zone Europe/Ber' Europe/Berlin
check 'the options of a command are offered' offers 'readpast list --' '--all --db --error --group --help --history --json --key --kind --limit --older --queue --state'
check 'the options of a command of two words are offered' offers 'readpast queue drop q -' '--db --help --history --json --yes'
check 'options before the command are offered' offers 'readpast --' '--db --help --history --version'
check 'the names of queues are offered' offers 'readpast stats ' 'mail two\ words'
check 'a command that takes one queue gets no second one' offers 'readpast stats mail ' ''
check 'a command that takes several queues gets another one' offers 'readpast work mail t' 'two\ words'
check 'the value that a flag may have is offered' offers 'readpast work --drain=' settled
check 'queues are offered after a flag' offers 'readpast work --drain m' mail
check 'no queue is offered as the value of an option' offers 'readpast work -j ' ''
check 'queues are offered after the value of an option' offers 'readpast work -j 4 m' mail
check 'states are offered' offers 'readpast list q --state d' 'dead done'
check 'states are offered after =' offers 'readpast list q --state=d' 'dead done'
check 'purge is offered the states that it can purge' offers 'readpast purge q --state ' 'all blocked cancelled dead done ready scheduled'
check 'a queue is offered as the value of an option' offers 'readpast retry --dead m' mail
check 'a queue is offered to which jobs move' offers 'readpast change 1 --to m' mail
check 'a queue for dead jobs is offered, and none' offers 'readpast queue set q --dead-to ' 'mail none two\ words'
check 'none is offered as the limit of a queue' offers 'readpast queue set q --limit n' none
check 'none is not offered as the length of a list' offers 'readpast list q --limit n' ''
check 'policies are offered' offers 'readpast cron add q n @daily --overlap ' 'allow skip'
check 'the value of --result is offered' offers 'readpast work mail --result ' stdout
check 'the options of pause are offered' offers 'readpast pause mail --' '--db --help --history --json --reason'
check 'queue pause has the options of pause' offers 'readpast queue pause mail --r' '--reason'
check 'a file of schedules is offered' offers 'readpast cron apply oth' other.db
check 'queues of the database that --db names are offered' offers 'readpast --db sqlite:other.db stats a:' b
check '--db may follow the command' offers 'readpast stats --db sqlite:other.db a:' b
check '--db may have its value after =' offers 'readpast --db=sqlite:other.db stats ' a:b
check 'the schemes of URLs are offered' offers 'readpast --db ' 'postgres:// sqlite:'
check 'the rest of a scheme is offered' offers 'readpast --db postgres:' //
check 'files are offered after a scheme' offers 'readpast --db sqlite:o' 'other.db out'
check 'files are offered after --db= and a scheme' offers 'readpast --db=sqlite:oth' other.db
check 'files of histories are offered' offers 'readpast check oth' other.db
check 'techniques of the lab are offered' offers 'readpast lab m' 'marker merge'
check 'a technique is offered for --explain' offers 'readpast lab --explain=w' worker-loop
check 'the dialects are offered for --dialect' offers 'readpast lab --dialect s' 'sqlite sqlserver'
check 'commands are offered after help' offers 'readpast help sw' sweep
check 'programs are offered as handlers' offers 'readpast work mail -- readpas' readpast
check 'files are offered as arguments of a handler' offers 'readpast work mail -- cat oth' other.db
COMP_WORDBREAKS=' '
check 'a shell that does not split words at = and : gets whole words' offers 'readpast --db=sqlite:oth' '--db=sqlite:other.db'
check 'such a shell gets whole names of queues' offers 'readpast --db sqlite:other.db stats a:' a:b
export READPAST_HISTORY=history
check 'queues are offered when a history is configured' offers 'readpast stats m' mail
check 'the completion has not written a history' test ! -e history
echo 'no database, and long enough to be looked at as one: it is not' >text
check 'for a file that is not a database no queue is offered' offers 'readpast --db sqlite:text stats ' ''
finish
