# Completion of readpast for bash.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors
# shellcheck shell=bash

# Set `options` to the options of a command. An option that takes a value ends with =.
_readpast_options() { # COMMAND
	options=()
	case $1 in
	'') options=(--db= --history= --help --version) ;;
	enqueue)
		options=(-0 --one --delay= --at= --priority= --unique= --unique-for= --group=
			--backoff= --timeout= --expire= --keep= --replace
			--max-attempts= --kind= --header= --wait --result --skip= --quiet --json)
		;;
	work)
		options=(-j= --jobs= --lease= --timeout= --release-delay= --drain
			--max-jobs= --grace= --output-sync --result= --post=
			--metrics= --quiet --log=)
		;;
	claim) options=(-n= --lease= --wait= --json) ;;
	complete) options=(--result= --json) ;;
	fail) options=(--error= --retry-in= --for-good --hold= --for= --json) ;;
	release) options=(--delay= --hold= --for= --json) ;;
	extend) options=(--lease= --progress= --json) ;;
	cancel)
		options=(--queue= --state= --kind= --key= --group= --error= --older=
			--dry-run --json)
		;;
	retry)
		options=(--queue= --state= --kind= --key= --group= --error= --older=
			--dead= --dry-run --json)
		;;
	change)
		options=(--priority= --delay= --at= --to= --max-attempts= --queue=
			--state= --kind= --key= --group= --error= --older= --dry-run --json)
		;;
	purge)
		options=(--queue= --state= --kind= --key= --group= --error= --older=
			--dry-run --yes --json)
		;;
	list)
		options=(--queue= --state= --kind= --key= --group= --error= --older=
			--limit= --all --json)
		;;
	show)
		options=(--queue= --state= --kind= --key= --group= --error= --older=
			--all --dry-run --json)
		;;
	why)
		options=(--queue= --state= --kind= --key= --group= --error= --older=
			--all --dry-run --json)
		;;
	wait) options=(--any --queue= --timeout= --result --quiet --json) ;;
	init) options=(--after-restore --print --json) ;;
	sweep) options=(--json) ;;
	version) options=(--json) ;;
	resume) options=(--json) ;;
	doctor) options=(--long= --json) ;;
	stats) options=(--json) ;;
	pause) options=(--reason= --json) ;;
	hold) options=(--group= --for= --clear --json) ;;
	groups) options=(--blocked --after= -n= --json) ;;
	workers) options=(--json) ;;
	top) options=(--interval=) ;;
	'queue set')
		options=(--max-attempts= --lease= --backoff= --backoff-max=
			--priority= --keep-done= --keep-dead= --max-payload= --timeout=
			--limit= --group-limit= --group-on-failure= --rate= --dead-to=
			--json)
		;;
	'queue list') options=(--json) ;;
	'queue drop') options=(--yes --json) ;;
	'cron add')
		options=(--zone= --payload= --kind= --header= --priority= --missed=
			--overlap= --replace --json)
		;;
	'cron list') options=(--json) ;;
	'cron run') options=(--json) ;;
	'cron pause') options=(--json) ;;
	'cron resume') options=(--json) ;;
	'cron remove') options=(--json) ;;
	'cron apply') options=(--dry-run --json) ;;
	'cron next') options=(--zone= --from= -n= --json) ;;
	copy) options=(--move --running= --json) ;;
	serve)
		options=(--listen= --tokens --insecure --host= --prefix= --demo
			--tls-cert= --tls-key= --read-only --hide-payloads
			--access-log= --body= --connections= --time=)
		;;
	'token add') options=(--may= --json) ;;
	'token list') options=(--json) ;;
	'token remove') options=(--json) ;;
	metrics) options=() ;;
	check) options=(--left= --json) ;;
	lab) options=(--workers= --jobs= --delay= --list --explain= --dialect=
		--json) ;;
	stress)
		options=(--producers= --workers= -j= --jobs= --for= --fill --payload=
			--batch= --work-time= --fail-rate= --groups= --group-limit=
			--group-on-failure= --limit= --rate= --lease= --kill-every=
			--stall-every= --pin-snapshot --seed= --json)
		;;
	esac
}

# Set `words` to the words up to the cursor. bash has split them at = and :,
# too, but --delay=5m and sqlite:queue.db are one word each.
_readpast_words() {
	local rest=${COMP_LINE:0:COMP_POINT} i
	words=("${COMP_WORDS[0]}")
	rest=${rest#*"${words[0]}"}
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ $rest != [[:space:]]* ]] || words+=('')
		rest=${rest#"${rest%%[![:space:]]*}"}
		words[${#words[@]} - 1]+=${COMP_WORDS[i]}
		rest=${rest#"${COMP_WORDS[i]}"}
	done
	[[ $rest != [[:space:]]* ]] || words+=('')
	words[${#words[@]} - 1]+=${rest#"${rest%%[![:space:]]*}"}
}

_readpast_offer() { # WORD...
	mapfile -t COMPREPLY < <(IFS=$' \n' && compgen -W "$*" -- "$cur")
}

_readpast_files() { # [PREFIX]
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "${cur#"${1-}"}")
	COMPREPLY=("${COMPREPLY[@]/#/${1-}}")
}

_readpast_url() {
	if [[ $cur == sqlite:* ]]; then
		_readpast_files sqlite:
	else
		compopt -o nospace 2>/dev/null
		_readpast_offer sqlite: postgres://
	fi
}

# Print the queues' names. This only reads the database and never creates one;
# if something is wrong with the database, there are no names.
_readpast_queues() {
	local name
	while IFS= read -r name; do
		[[ $name != "$cur"* ]] || COMPREPLY+=("$(printf %q "$name")")
	done < <(READPAST_HISTORY='' "${words[0]}" ${db:+--db "$db"} queue list \
		2>/dev/null </dev/null | sed '/^  /d; s/ (held)$//; s/ (paused)$//')
}

_readpast_techniques() {
	_readpast_offer naive updlock readpast marker merge applock worker-loop own
}

_readpast_zones() {
	_readpast_offer "$(cd /usr/share/zoneinfo 2>/dev/null && find [A-Z]* ! -type d)"
}

_readpast_value() { # OPTION
	case $1 in
	--db) _readpast_url ;;
	--history | --tls-cert | --tls-key | --access-log) _readpast_files ;;
	--dead | --left | --queue | --to) _readpast_queues ;;
	--limit | --group-limit | --rate) [[ $command == list ]] || _readpast_offer none ;;
	--group-on-failure) _readpast_offer block pass ;;
	--hold) _readpast_offer group queue ;;
	--dead-to)
		_readpast_offer none
		_readpast_queues
		;;
	--result)
		case $command in
		work) _readpast_offer stdout ;;
		*) _readpast_files ;;
		esac
		;;
	--missed) _readpast_offer once all skip ;;
	--overlap) _readpast_offer allow skip ;;
	--drain) _readpast_offer settled ;;
	--log) _readpast_offer json ;;
	--explain) _readpast_techniques ;;
	--dialect) _readpast_offer sqlite postgres sqlserver ;;
	--zone) _readpast_zones ;;
	--running) _readpast_offer wait leave ;;
	--state)
		states=(scheduled ready blocked running 'done' dead cancelled all)
		case $command in
		cancel) states=(scheduled ready blocked running all) ;;
		retry) states=(dead cancelled all) ;;
		change) states=(scheduled ready blocked all) ;;
		purge) states=(scheduled ready blocked 'done' dead cancelled all) ;;
		esac
		_readpast_offer "${states[@]}"
		;;
	esac
}

_readpast_argument() {
	case $command in
	'') _readpast_offer "${commands[@]}" ;;
	queue) _readpast_offer set list drop pause resume ;;
	token) _readpast_offer add list remove ;;
	cron) _readpast_offer add list run pause resume remove apply next ;;
	work) _readpast_queues ;;
	copy) ((arguments > 1)) || _readpast_url ;;
	check) _readpast_files ;;
	'cron apply') ((arguments)) || _readpast_files ;;
	lab) _readpast_techniques ;;
	help) _readpast_offer "${commands[@]}" ;;
	enqueue | claim | purge | list | stats | pause | resume | hold | groups | 'queue '*)
		((arguments)) || _readpast_queues
		;;
	esac
}

# Complete the command line of a handler: first its name, then files.
_readpast_handler() { # HOW-MANY-WORDS
	_readpast_files
	(($1)) || mapfile -t COMPREPLY < <(compgen -c -- "$cur")
}

# Look at the words in front of the cursor: find the database, the command, the
# number of its arguments, and the option that waits for its value; or the words
# of a handler.
_readpast_look() {
	local i word
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		_readpast_options "$command"
		if [[ $option ]]; then
			[[ $option != --db ]] || db=$word
			option=
		elif [[ $word == -- ]]; then
			handler=$((${#words[@]} - 2 - i))
			return
		elif [[ $word == --db=* ]]; then
			db=${word#*=}
		elif [[ $word == -* ]]; then
			[[ " ${options[*]} --db= --history= " != *" $word= "* ]] ||
				option=$word
		elif [[ -z $command ]]; then
			command=$word
		elif [[ $command == @(queue|cron|token) ]]; then
			command+=" $word"
			# These two are also commands of their own.
			[[ $command != queue\ @(pause|resume) ]] || command=$word
		else
			arguments=$((arguments + 1))
		fi
	done
}

_readpast() {
	local commands=(enqueue work claim complete fail release extend cancel
		retry change purge wait list show why stats workers top queue pause resume
		hold groups cron sweep metrics serve token init copy doctor check lab stress version help)
	local words options db='' command='' option='' handler=''
	local cur states breaks='' kept='' arguments=0
	COMPREPLY=()
	_readpast_words
	_readpast_look
	cur=${words[${#words[@]} - 1]}
	if [[ $handler ]]; then
		[[ $command != work ]] || _readpast_handler "$handler"
	elif [[ $option ]]; then
		_readpast_value "$option"
	elif [[ $cur == --*=* ]]; then
		option=${cur%%=*}=
		cur=${cur#*=}
		_readpast_value "${option%=}"
		COMPREPLY=("${COMPREPLY[@]/#/$option}")
		cur=$option$cur
	elif [[ $cur == -* ]]; then
		_readpast_options "$command"
		_readpast_offer "${options[@]%=}" ${command:+--db --history --help}
	else
		_readpast_argument
	fi

	# bash inserts the completion behind the last = or : of the word.
	[[ $COMP_WORDBREAKS != *:* ]] || breaks=:
	[[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
	[[ -z $breaks ]] || kept=${cur%"${cur##*["$breaks"]}"}
	COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _readpast readpast
