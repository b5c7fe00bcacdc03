# Completion of readpast for fish.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# The words in front of the cursor that are no options: the command and what it
# was given. With `value --db`, that option's value instead.
function __readpast_words
    set -l words (commandline -opc)[2..]
    while set -q words[1]
        switch $words[1]
            case --db --history
                test "$argv" = "value $words[1]"; and echo $words[2]
                set -e words[1]
            case '--db=*'
                test "$argv" = 'value --db'; and string replace -- --db= '' $words[1]
            case '-*'
            case '*'
                test -z "$argv"; and echo $words[1]
        end
        set -e words[1]
    end
end

function __readpast_in # COMMAND
    set -l words (__readpast_words)
    if set -q argv[1]
        test "$words[1..$(count $argv)]" = "$argv"
    else
        not set -q words[1]
    end
end

# A database is looked at and never made; when something is wrong with it there
# are just no names.
function __readpast_queues
    command -q readpast; or return
    set -l db (__readpast_words value --db)
    set -q db[1]; and set db --db $db[-1]
    READPAST_HISTORY= command readpast $db queue list 2>/dev/null </dev/null |
        string match -v '  *' | string replace -r ' \(paused\)$' ''
end

function __readpast_urls
    set -l files (commandline -ct | string replace -r '^(--db=)?(sqlite:)?' '')*
    string replace -r '^' sqlite: -- $files
    echo postgres://
end

complete -c readpast -f
complete -c readpast -n __readpast_in -l db -x -a '(__readpast_urls)' -d 'the database'
complete -c readpast -n __readpast_in -l history -r -F -d 'write what happens to a file'
complete -c readpast -n __readpast_in -l version -d 'print the version'
complete -c readpast -l help -d 'tell about it'

complete -c readpast -n __readpast_in -a enqueue -d 'put jobs in'
complete -c readpast -n __readpast_in -a work -d 'run a command for each job'
complete -c readpast -n __readpast_in -a claim -d 'claim jobs, as JSON lines'
complete -c readpast -n __readpast_in -a complete -d 'the jobs are done'
complete -c readpast -n __readpast_in -a fail -d 'the attempts failed'
complete -c readpast -n __readpast_in -a release -d 'give the jobs back'
complete -c readpast -n __readpast_in -a extend -d 'keep the jobs for so long from now'
complete -c readpast -n __readpast_in -a cancel -d 'cancel jobs that are not finished'
complete -c readpast -n __readpast_in -a retry -d 'send dead or cancelled jobs back'
complete -c readpast -n __readpast_in -a purge -d 'forget the jobs in one state'
complete -c readpast -n __readpast_in -a list -d 'live jobs in claim order'
complete -c readpast -n __readpast_in -a show -d 'everything about a job'
complete -c readpast -n __readpast_in -a why -d 'why a job does not run'
complete -c readpast -n __readpast_in -a stats -d 'queues in numbers'
complete -c readpast -n __readpast_in -a workers -d 'who serves'
complete -c readpast -n __readpast_in -a queue -d 'queues and their settings'
complete -c readpast -n __readpast_in -a pause -d 'hand out no more jobs'
complete -c readpast -n __readpast_in -a resume -d 'go on handing out'
complete -c readpast -n __readpast_in -a sweep -d 'the maintenance'
complete -c readpast -n __readpast_in -a init -d 'create the database'
complete -c readpast -n __readpast_in -a top -d 'queues as they go, on a terminal'
complete -c readpast -n '__readpast_in top' -l interval -x -d 'look so often'
complete -c readpast -n __readpast_in -a copy -d 'copy or move queues to another database'
complete -c readpast -n __readpast_in -a doctor -d 'what is wrong with the database, or will be'
complete -c readpast -n __readpast_in -a check -d 'check histories against the promises'
complete -c readpast -n __readpast_in -a lab -d 'ways to take jobs, side by side'
complete -c readpast -n __readpast_in -a stress -d 'a load of its own, and the proof'
complete -c readpast -n __readpast_in -a version -d 'print the version'
complete -c readpast -n __readpast_in -a help -d 'tell about a command'

complete -c readpast -n 'test "$(__readpast_words)" = queue' -a 'set list drop pause resume'
for command in enqueue work claim purge list stats pause resume 'queue set' 'queue list' 'queue drop' 'queue pause' 'queue resume'
    complete -c readpast -n "__readpast_in $command" -a '(__readpast_queues)'
end
complete -c readpast -n '__readpast_in copy' -a '(__readpast_urls)'
complete -c readpast -n '__readpast_in copy' -l move -d 'what is in the target leaves the source'
complete -c readpast -n '__readpast_in copy' -l running -x -a 'wait leave' -d 'running jobs'
complete -c readpast -n '__readpast_in copy' -l json -d 'JSON'
complete -c readpast -n '__readpast_in check' -F

complete -c readpast -n '__readpast_in enqueue' -o 0 -d 'standard input is cut at NUL bytes'
complete -c readpast -n '__readpast_in enqueue' -l one -d 'all of standard input is one payload'
complete -c readpast -n '__readpast_in enqueue' -l delay -x -d 'not before so long from now'
complete -c readpast -n '__readpast_in enqueue' -l at -x -d 'not before this time'
complete -c readpast -n '__readpast_in enqueue' -l priority -x -d '0 to 255, lower first'
complete -c readpast -n '__readpast_in enqueue' -l unique -x -d 'unless a live job has the key'
complete -c readpast -n '__readpast_in enqueue' -l replace -d 'it becomes this job'
complete -c readpast -n '__readpast_in enqueue' -l max-attempts -x -d 'attempts before it is dead'
complete -c readpast -n '__readpast_in enqueue' -l kind -x -d 'what sort of job it is'
complete -c readpast -n '__readpast_in enqueue' -l header -x -d 'a header, K=V'
complete -c readpast -n '__readpast_in enqueue' -l skip -x -d 'so many jobs of the input are in already'
complete -c readpast -n '__readpast_in enqueue' -l quiet -d 'print no ids'

complete -c readpast -n '__readpast_in work' -s j -x -d 'so many at a time'
complete -c readpast -n '__readpast_in work' -l lease -x -d 'renewed at a third'
complete -c readpast -n '__readpast_in work' -l timeout -x -d 'a handler that takes longer has failed'
complete -c readpast -n '__readpast_in work' -l release-delay -x -d 'ready again after status 75'
complete -c readpast -n '__readpast_in work' -l drain -d 'exit when nothing is left'
complete -c readpast -n '__readpast_in work' -l max-jobs -x -d 'exit after so many'
complete -c readpast -n '__readpast_in work' -l grace -x -d 'for running handlers, once told to end'
complete -c readpast -n '__readpast_in work' -l log -x -a json -d 'what happens'

complete -c readpast -n '__readpast_in claim' -s n -x -d 'up to so many'
complete -c readpast -n '__readpast_in claim' -l lease -x -d 'hold them so long'
complete -c readpast -n '__readpast_in claim' -l wait -x -d 'wait so long for the first'

complete -c readpast -n '__readpast_in fail' -l error -x -d why
complete -c readpast -n '__readpast_in fail' -l retry-in -x -d 'try again after so long'
complete -c readpast -n '__readpast_in fail' -l for-good -d 'never try again'
complete -c readpast -n '__readpast_in release' -l delay -x -d 'ready after so long'
complete -c readpast -n '__readpast_in extend' -l lease -x -d 'from now'

complete -c readpast -n '__readpast_in cancel' -l kind -x -d 'only of this kind'
complete -c readpast -n '__readpast_in retry' -l dead -x -a '(__readpast_queues)' -d 'all dead jobs of the queue'
complete -c readpast -n '__readpast_in retry' -l kind -x -d 'only of this kind'
complete -c readpast -n '__readpast_in purge' -l state -x -a 'scheduled ready dead done cancelled all' -d which
complete -c readpast -n '__readpast_in purge' -l kind -x -d 'only of this kind'
complete -c readpast -n '__readpast_in purge' -l yes -d really

complete -c readpast -n '__readpast_in list' -l state -x -a 'scheduled ready running dead done cancelled' -d 'only in this state'
complete -c readpast -n '__readpast_in list' -l limit -x -d 'so many'
complete -c readpast -n '__readpast_in list' -l json -d 'JSON lines'
complete -c readpast -n '__readpast_in show' -l json -d 'JSON lines'
complete -c readpast -n '__readpast_in why' -l json -d 'JSON lines'
complete -c readpast -n '__readpast_in stats' -l json -d 'JSON lines'
complete -c readpast -n '__readpast_in workers' -l json -d 'JSON lines'

complete -c readpast -n '__readpast_in init' -l after-restore -d 'a backup was put back'
complete -c readpast -n '__readpast_in doctor' -l long -x -d 'what waits for longer is found'
complete -c readpast -n '__readpast_in doctor' -l json -d 'JSON lines'

complete -c readpast -n '__readpast_in queue set' -l max-attempts -x -d 'attempts before a job is dead'
complete -c readpast -n '__readpast_in queue set' -l lease -x -d 'how long a claim holds'
complete -c readpast -n '__readpast_in queue set' -l backoff -x -d 'before the second attempt, doubling'
complete -c readpast -n '__readpast_in queue set' -l backoff-max -x -d 'where the doubling ends'
complete -c readpast -n '__readpast_in queue set' -l priority -x -d 'of jobs that name none'
complete -c readpast -n '__readpast_in queue set' -l keep-done -x -d 'how long done jobs are kept'
complete -c readpast -n '__readpast_in queue set' -l keep-dead -x -d 'how long dead ones are kept'
complete -c readpast -n '__readpast_in queue set' -l max-payload -x -d 'the largest payload'
complete -c readpast -n '__readpast_in queue list' -l json -d 'JSON lines'
complete -c readpast -n '__readpast_in queue drop' -l yes -d really

complete -c readpast -n '__readpast_in check' -l left -x -a '(__readpast_queues)' -d 'where to look for what is not finished'
complete -c readpast -n '__readpast_in check' -l json -d 'JSON lines'

set -l techniques naive updlock readpast marker merge applock worker-loop own
complete -c readpast -n '__readpast_in lab' -a "$techniques"
complete -c readpast -n '__readpast_in lab' -l workers -x -d processes
complete -c readpast -n '__readpast_in lab' -l jobs -x -d 'rows in the table'
complete -c readpast -n '__readpast_in lab' -l delay -x -d 'so long each job takes'
complete -c readpast -n '__readpast_in lab' -l list -d 'the techniques'
complete -c readpast -n '__readpast_in lab' -l explain -x -a "$techniques" -d 'its story, and the SQL'
complete -c readpast -n '__readpast_in lab' -l json -d 'JSON lines'

complete -c readpast -n '__readpast_in stress' -l producers -x -d 'processes that enqueue'
complete -c readpast -n '__readpast_in stress' -l workers -x -d 'processes that work'
complete -c readpast -n '__readpast_in stress' -s j -x -d 'threads of each worker'
complete -c readpast -n '__readpast_in stress' -l jobs -x -d 'so many'
complete -c readpast -n '__readpast_in stress' -l for -x -d 'as many as so long a time takes'
complete -c readpast -n '__readpast_in stress' -l fill -d 'workers start when all are enqueued'
complete -c readpast -n '__readpast_in stress' -l payload -x -d 'bytes'
complete -c readpast -n '__readpast_in stress' -l batch -x -d 'jobs enqueued at a time'
complete -c readpast -n '__readpast_in stress' -l work-time -x -d 'how long a handler takes'
complete -c readpast -n '__readpast_in stress' -l fail-rate -x -d 'so many attempts fail'
complete -c readpast -n '__readpast_in stress' -l lease -x -d 'how long a claim holds'
complete -c readpast -n '__readpast_in stress' -l kill-every -x -d 'kill a worker with SIGKILL'
complete -c readpast -n '__readpast_in stress' -l stall-every -x -d 'stop a worker for longer than its lease'
complete -c readpast -n '__readpast_in stress' -l pin-snapshot -d 'hold an old snapshot'
complete -c readpast -n '__readpast_in stress' -l seed -x -d 'the same chances again'
complete -c readpast -n '__readpast_in stress' -l json -d 'JSON'
