# Completion of readpast for fish.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# Print the words in front of the cursor that are not options: the command and
# its arguments. With `value --db`, print that option's value instead.
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
    contains -- -- (commandline -opc); and return 1
    set -l words (__readpast_words)
    if set -q argv[1]
        test "$words[1..$(count $argv)]" = "$argv"
    else
        not set -q words[1]
    end
end

# Print the queues' names. This only reads the database and never creates one;
# if something is wrong with the database, there are no names.
function __readpast_queues
    command -q readpast; or return
    set -l db (__readpast_words value --db)
    set -q db[1]; and set db --db $db[-1]
    READPAST_HISTORY= command readpast $db queue list 2>/dev/null </dev/null |
        string match -v '  *' | string replace -r ' \(held\)$' '' |
        string replace -r ' \(paused\)$' ''
end

function __readpast_zones
    set -l folder /usr/share/zoneinfo
    string replace $folder/ '' $folder/** | string match -r '^[A-Z].*'
end

function __readpast_urls
    set -l files (commandline -ct | string replace -r '^(--db=)?(sqlite:)?' '')*
    string replace -r '^' sqlite: -- $files
    echo postgres://
end

# Behind -- the words are a command line of another program.
function __readpast_handler
    complete -C (commandline -cp | string replace -r '^.*? -- ' '')
end

complete -c readpast -f
complete -c readpast -n 'string match -qr " work .*-- " -- (commandline -cp)' -a '(__readpast_handler)'
complete -c readpast -l db -x -a '(__readpast_urls)' -d 'the database'
complete -c readpast -l history -r -F -d 'append the history of events to a file'
complete -c readpast -n __readpast_in -l version -d 'print the version'
complete -c readpast -l help -d 'print help for this command'

complete -c readpast -n __readpast_in -a enqueue -d 'add jobs'
complete -c readpast -n __readpast_in -a work -d 'run a command for each job'
complete -c readpast -n __readpast_in -a claim -d 'claim jobs, and print them as JSON lines'
complete -c readpast -n __readpast_in -a complete -d 'report that jobs are done'
complete -c readpast -n __readpast_in -a fail -d 'report that attempts failed'
complete -c readpast -n __readpast_in -a release -d 'give jobs back, without counting the attempt'
complete -c readpast -n __readpast_in -a extend -d 'renew the leases of jobs'
complete -c readpast -n __readpast_in -a cancel -d 'cancel jobs that are not finished'
complete -c readpast -n __readpast_in -a retry -d 'make dead or cancelled jobs ready again'
complete -c readpast -n __readpast_in -a change -d 'change jobs that are scheduled, ready or blocked'
complete -c readpast -n __readpast_in -a purge -d 'delete the jobs in one state'
complete -c readpast -n __readpast_in -a wait -d 'wait for the end of jobs'
complete -c readpast -n __readpast_in -a list -d 'list unfinished jobs, in the order in which they are claimed'
complete -c readpast -n __readpast_in -a show -d 'print all fields of a job'
complete -c readpast -n __readpast_in -a why -d 'explain why a job does not run'
complete -c readpast -n __readpast_in -a stats -d 'count jobs, workers and rates of each queue'
complete -c readpast -n __readpast_in -a workers -d 'list the workers'
complete -c readpast -n __readpast_in -a queue -d 'list queues, change their settings'
complete -c readpast -n __readpast_in -a pause -d 'keep workers from claiming the jobs of a queue'
complete -c readpast -n __readpast_in -a resume -d 'let workers claim the jobs of a paused queue again'
complete -c readpast -n __readpast_in -a hold -d 'for some time, start no job of a queue, or of one of its groups'
complete -c readpast -n __readpast_in -a groups -d 'list groups that have a limit or are held'
complete -c readpast -n __readpast_in -a cron -d 'schedules, and when they fire'
complete -c readpast -n __readpast_in -a metrics -d 'print metrics in the text format of Prometheus'
complete -c readpast -n __readpast_in -a serve -d 'offer the queue over HTTP'
complete -c readpast -n __readpast_in -a token -d 'tokens for clients of serve'
complete -c readpast -n __readpast_in -a sweep -d 'make due jobs ready, recover lost jobs, delete old ones'
complete -c readpast -n __readpast_in -a init -d 'create the database'
complete -c readpast -n __readpast_in -a top -d 'watch queues, workers and jobs on a terminal'
complete -c readpast -n '__readpast_in top' -l interval -x -d 'refresh interval'
complete -c readpast -n __readpast_in -a copy -d 'copy or move queues to another database'
complete -c readpast -n __readpast_in -a doctor -d 'find what is wrong with the database, or soon will be'
complete -c readpast -n __readpast_in -a check -d 'check that recorded histories keep the promises of readpast'
complete -c readpast -n __readpast_in -a lab -d 'compare ways to take jobs'
complete -c readpast -n __readpast_in -a stress -d 'run a test load, check the promises'
complete -c readpast -n __readpast_in -a version -d 'print the version'
complete -c readpast -n __readpast_in -a help -d 'print help for a command'

complete -c readpast -n 'test "$(__readpast_words)" = queue' -a 'set list drop pause resume'
complete -c readpast -n 'test "$(__readpast_words)" = cron' -a 'add list run pause resume remove apply next'
complete -c readpast -n 'test "$(__readpast_words)" = token' -a 'add list remove'
complete -c readpast -n '__readpast_in help' -a 'enqueue work claim complete fail
    release extend cancel retry change purge wait list show why stats workers queue
    pause resume hold groups cron sweep metrics serve token init top copy doctor check lab stress version help'
for command in enqueue work claim purge list stats pause resume hold groups 'queue set' 'queue list' 'queue drop' 'queue pause' 'queue resume'
    complete -c readpast -n "__readpast_in $command" -a '(__readpast_queues)'
end
for command in enqueue claim complete fail release extend cancel retry change purge \
    list wait show why stats workers init sweep version pause resume hold groups doctor \
    'queue set' 'queue list' 'queue drop' 'cron add' 'cron list' 'cron run' \
    'cron pause' 'cron resume' 'cron remove' 'cron apply' 'cron next' check lab \
    'token add' 'token list' 'token remove' \
    'queue pause' 'queue resume'
    complete -c readpast -n "__readpast_in $command" -l json -d 'JSON lines'
end
complete -c readpast -n '__readpast_in copy' -a '(__readpast_urls)'
complete -c readpast -n '__readpast_in copy' -l move -d 'delete from the source what the target has'
complete -c readpast -n '__readpast_in copy' -l running -x -a 'wait leave' -d 'what to do with running jobs'
complete -c readpast -n '__readpast_in copy' -l json -d 'JSON'
complete -c readpast -n '__readpast_in check' -F
complete -c readpast -n '__readpast_in cron apply' -F

complete -c readpast -n '__readpast_in serve' -l listen -x -d 'ADDRESS:PORT or unix:PATH'
complete -c readpast -n '__readpast_in serve' -l tokens -d 'calls of /v1 and /metrics need a token'
complete -c readpast -n '__readpast_in serve' -l insecure -d 'let other machines connect without tokens'
complete -c readpast -n '__readpast_in serve' -l host -x -d 'a name under which clients reach this server'
complete -c readpast -n '__readpast_in serve' -l demo -d 'serve a scratch database with a small load'
complete -c readpast -n '__readpast_in serve' -l prefix -x -d 'path under which a proxy shows this server'
complete -c readpast -n '__readpast_in serve' -l tls-cert -r -F -d 'certificate, in PEM'
complete -c readpast -n '__readpast_in serve' -l tls-key -r -F -d 'private key of the certificate'
complete -c readpast -n '__readpast_in serve' -l read-only -d 'refuse all changes, and their dry runs'
complete -c readpast -n '__readpast_in serve' -l hide-payloads -d 'leave out payloads, headers and results, except in claims'
complete -c readpast -n '__readpast_in serve' -l access-log -r -F -d 'write a line of JSON for each request'
complete -c readpast -n '__readpast_in serve' -l body -x -d 'largest body of a request'
complete -c readpast -n '__readpast_in serve' -l connections -x -d 'most connections at once'
complete -c readpast -n '__readpast_in serve' -l time -x -d 'longest time to send a request'
complete -c readpast -n '__readpast_in token add' -l may -x -d 'what it allows'

complete -c readpast -n '__readpast_in enqueue' -o 0 -d 'split standard input at NUL bytes, not at newlines'
complete -c readpast -n '__readpast_in enqueue' -l one -d 'take all of standard input as one payload'
complete -c readpast -n '__readpast_in enqueue' -l delay -x -d 'earliest start, counted from now'
complete -c readpast -n '__readpast_in enqueue' -l at -x -d 'earliest start'
complete -c readpast -n '__readpast_in enqueue' -l priority -x -d 'priority, 0 to 255, lower first'
complete -c readpast -n '__readpast_in enqueue' -l unique -x -d 'enqueue nothing if a live job has this key'
complete -c readpast -n '__readpast_in enqueue' -l group -x -d 'group of the job, such as a customer'
complete -c readpast -n '__readpast_in enqueue' -l unique-for -x -d 'keep the key taken after the job is done'
complete -c readpast -n '__readpast_in enqueue' -l replace -d 'replace the job that has the key'
complete -c readpast -n '__readpast_in enqueue' -l backoff -x -d 'delays after failures'
complete -c readpast -n '__readpast_in enqueue' -l timeout -x -d 'how long a handler may run'
complete -c readpast -n '__readpast_in enqueue' -l expire -x -d 'cancel the job if it has not started in this time'
complete -c readpast -n '__readpast_in enqueue' -l keep -x -d 'keep the job this long after it is done'
complete -c readpast -n '__readpast_in enqueue' -l max-attempts -x -d 'attempts before the job is dead'
complete -c readpast -n '__readpast_in enqueue' -l kind -x -d 'kind of the job'
complete -c readpast -n '__readpast_in enqueue' -l header -x -d 'a header, K=V'
complete -c readpast -n '__readpast_in enqueue' -l wait -d 'wait until the jobs have ended'
complete -c readpast -n '__readpast_in enqueue' -l result -d '... and print the results'
complete -c readpast -n '__readpast_in enqueue' -l skip -x -d 'skip the first N jobs of the input'
complete -c readpast -n '__readpast_in enqueue' -l quiet -d 'print no ids'

complete -c readpast -n '__readpast_in work' -s j -x -d 'jobs at a time'
complete -c readpast -n '__readpast_in work' -l jobs -x -d 'jobs at a time'
complete -c readpast -n '__readpast_in work' -l lease -x -d 'lease, renewed after a third of it'
complete -c readpast -n '__readpast_in work' -l timeout -x -d 'end handlers that take longer; their attempts fail'
complete -c readpast -n '__readpast_in work' -l release-delay -x -d 'delay of a job after exit status 75'
complete -c readpast -n '__readpast_in work' -l drain -d 'exit when no job is left'
complete -c readpast -n '__readpast_in work' -a --drain=settled -d '... and no job that it ran waits for another attempt'
complete -c readpast -n '__readpast_in work' -l max-jobs -x -d 'exit after this many jobs'
complete -c readpast -n '__readpast_in work' -l grace -x -d 'time for handlers to end, after a signal'
complete -c readpast -n '__readpast_in work' -l output-sync -d 'print the output of a handler only when it has ended'
complete -c readpast -n '__readpast_in work' -l result -x -a stdout -d 'take results from standard output'
complete -c readpast -n '__readpast_in work' -l post -x -d 'send the payload to this URL instead of running a command'
complete -c readpast -n '__readpast_in work' -l metrics -x -d 'answer with metrics for Prometheus at this address'
complete -c readpast -n '__readpast_in work' -l quiet -d 'print problems only'
complete -c readpast -n '__readpast_in work' -l log -x -a json -d 'log events as JSON lines'

complete -c readpast -n '__readpast_in claim' -s n -x -d 'claim at most this many jobs'
complete -c readpast -n '__readpast_in claim' -l lease -x -d 'lease'
complete -c readpast -n '__readpast_in claim' -l wait -x -d 'wait this long for a job'

complete -c readpast -n '__readpast_in complete' -l result -r -F -d 'the result of the job'
complete -c readpast -n '__readpast_in fail' -l error -x -d 'the reason of the failure'
complete -c readpast -n '__readpast_in fail' -l retry-in -x -d 'delay before the next attempt'
complete -c readpast -n '__readpast_in fail' -l for-good -d 'never try again'
complete -c readpast -n '__readpast_in release' -l delay -x -d 'delay until the job is ready'
for command in fail release
    complete -c readpast -n "__readpast_in $command" -l hold -x -a 'group queue' -d 'also hold the group or queue'
    complete -c readpast -n "__readpast_in $command" -l for -x -d 'how long --hold lasts'
end
complete -c readpast -n '__readpast_in extend' -l lease -x -d 'new lease, from now'
complete -c readpast -n '__readpast_in extend' -l progress -x -d 'progress of the job'

for command in cancel retry change purge list show why
    complete -c readpast -n "__readpast_in $command" -l queue -x -a '(__readpast_queues)' -d 'jobs of this queue'
    complete -c readpast -n "__readpast_in $command" -l kind -x -d 'jobs of this kind'
    complete -c readpast -n "__readpast_in $command" -l key -x -d 'jobs with this unique key'
    complete -c readpast -n "__readpast_in $command" -l group -x -d 'jobs of this group'
    complete -c readpast -n "__readpast_in $command" -l error -x -d 'jobs whose last error contains this text'
    complete -c readpast -n "__readpast_in $command" -l older -x -d 'jobs enqueued at least this long ago'
end
complete -c readpast -n '__readpast_in cancel' -l state -x -a 'scheduled ready blocked running all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in cancel' -l dry-run -d 'only print how many jobs match'
complete -c readpast -n '__readpast_in retry' -l dead -x -a '(__readpast_queues)' -d 'all dead jobs of the queue'
complete -c readpast -n '__readpast_in retry' -l state -x -a 'dead cancelled all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in retry' -l dry-run -d 'only print how many jobs match'
complete -c readpast -n '__readpast_in change' -l priority -x -d 'the new priority'
complete -c readpast -n '__readpast_in change' -l delay -x -d 'run the job after this time'
complete -c readpast -n '__readpast_in change' -l at -x -d 'earliest start'
complete -c readpast -n '__readpast_in change' -l to -x -a '(__readpast_queues)' -d 'move the job to this queue'
complete -c readpast -n '__readpast_in change' -l max-attempts -x -d 'attempts before the job is dead'
complete -c readpast -n '__readpast_in change' -l state -x -a 'scheduled ready blocked all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in change' -l dry-run -d 'only print how many jobs match'
complete -c readpast -n '__readpast_in purge' -l state -x -a 'scheduled ready blocked done dead cancelled all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in purge' -l dry-run -d 'only print how many jobs match'
complete -c readpast -n '__readpast_in purge' -l yes -d 'confirm that the jobs are deleted for good'

complete -c readpast -n '__readpast_in list' -l state -x -a 'scheduled ready blocked running done dead cancelled all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in list' -l limit -x -d 'list at most this many jobs'
complete -c readpast -n '__readpast_in list' -l all -d 'examine all jobs'
complete -c readpast -n '__readpast_in wait' -l any -d 'wait only until one job has ended'
complete -c readpast -n '__readpast_in wait' -l queue -x -a '(__readpast_queues)' -d 'wait until this queue has no live job'
complete -c readpast -n '__readpast_in wait' -l timeout -x -d 'wait no longer than this'
complete -c readpast -n '__readpast_in wait' -l result -d 'print the bytes of the results'
complete -c readpast -n '__readpast_in wait' -l quiet -d 'print only errors'
complete -c readpast -n '__readpast_in show' -l state -x -a 'scheduled ready blocked running done dead cancelled all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in show' -l all -d 'examine all jobs'
complete -c readpast -n '__readpast_in show' -l dry-run -d 'only print how many jobs match'
complete -c readpast -n '__readpast_in why' -l state -x -a 'scheduled ready blocked running done dead cancelled all' -d 'jobs in this state'
complete -c readpast -n '__readpast_in why' -l all -d 'examine all jobs'
complete -c readpast -n '__readpast_in why' -l dry-run -d 'only print how many jobs match'
for command in pause 'queue pause'
    complete -c readpast -n "__readpast_in $command" -l reason -x -d 'reason, a text for people'
end

complete -c readpast -n '__readpast_in hold' -l group -x -d 'hold only this group'
complete -c readpast -n '__readpast_in hold' -l for -x -d 'how long, from now'
complete -c readpast -n '__readpast_in hold' -l clear -d 'end the hold now'
complete -c readpast -n '__readpast_in groups' -l blocked -d 'only groups with jobs that wait'
complete -c readpast -n '__readpast_in groups' -l after -x -d 'only groups after this one'
complete -c readpast -n '__readpast_in groups' -s n -x -d 'list at most this many groups'

complete -c readpast -n '__readpast_in init' -l after-restore -d 'skip ids after a backup was restored'
complete -c readpast -n '__readpast_in init' -l print -d 'print the SQL, and connect to no server'
complete -c readpast -n '__readpast_in doctor' -l long -x -d 'report conditions that last longer than this'

complete -c readpast -n '__readpast_in queue set' -l max-attempts -x -d 'attempts before a job is dead'
complete -c readpast -n '__readpast_in queue set' -l lease -x -d 'how long a claim holds a job'
complete -c readpast -n '__readpast_in queue set' -l backoff -x -d 'delay before the second attempt; it doubles each time'
complete -c readpast -n '__readpast_in queue set' -l backoff-max -x -d 'the longest backoff'
complete -c readpast -n '__readpast_in queue set' -l priority -x -d 'priority of jobs that are enqueued without one'
complete -c readpast -n '__readpast_in queue set' -l keep-done -x -d 'how long done jobs are kept'
complete -c readpast -n '__readpast_in queue set' -l keep-dead -x -d 'how long dead jobs are kept'
complete -c readpast -n '__readpast_in queue set' -l max-payload -x -d 'the largest payload'
complete -c readpast -n '__readpast_in queue set' -l timeout -x -d 'longest time of a handler'
complete -c readpast -n '__readpast_in queue set' -l limit -x -a none -d 'how many jobs may run at once'
complete -c readpast -n '__readpast_in queue set' -l group-limit -x -a none -d 'how many jobs of one group may run at once'
complete -c readpast -n '__readpast_in queue set' -l group-on-failure -x -a 'block pass' -d 'whether a group waits for a failed job'
complete -c readpast -n '__readpast_in queue set' -l rate -x -a none -d 'how many jobs may start in an interval, N/D'
complete -c readpast -n '__readpast_in queue set' -l dead-to -x -a '(__readpast_queues) none' -d 'queue that gets a new job when a job dies'
complete -c readpast -n '__readpast_in queue drop' -l yes -d 'confirm that the jobs are deleted for good'

complete -c readpast -n '__readpast_in cron add' -l zone -x -a '(__readpast_zones)' -d 'time zone'
complete -c readpast -n '__readpast_in cron add' -l payload -x -d 'payload of the jobs'
complete -c readpast -n '__readpast_in cron add' -l kind -x -d 'kind of the jobs'
complete -c readpast -n '__readpast_in cron add' -l header -x -d 'a header of the jobs, K=V'
complete -c readpast -n '__readpast_in cron add' -l priority -x -d 'priority, lower first'
complete -c readpast -n '__readpast_in cron add' -l missed -x -a 'once all skip' -d 'what to do for missed times'
complete -c readpast -n '__readpast_in cron add' -l overlap -x -a 'allow skip' -d 'what to do while an earlier job is live'
complete -c readpast -n '__readpast_in cron add' -l replace -d 'replace all its settings'
complete -c readpast -n '__readpast_in cron apply' -l dry-run -d 'only print what would be done'
complete -c readpast -n '__readpast_in cron next' -l zone -x -a '(__readpast_zones)' -d 'time zone'
complete -c readpast -n '__readpast_in cron next' -l from -x -d 'print the times after this one'
complete -c readpast -n '__readpast_in cron next' -s n -x -d 'how many'

complete -c readpast -n '__readpast_in check' -l left -x -a '(__readpast_queues)' -d 'queue to search for unfinished jobs'

set -l techniques naive updlock readpast marker merge applock worker-loop own
complete -c readpast -n '__readpast_in lab' -a "$techniques"
complete -c readpast -n '__readpast_in lab' -l workers -x -d processes
complete -c readpast -n '__readpast_in lab' -l jobs -x -d 'rows in the table'
complete -c readpast -n '__readpast_in lab' -l delay -x -d 'duration of each job'
complete -c readpast -n '__readpast_in lab' -l list -d 'list the techniques'
complete -c readpast -n '__readpast_in lab' -l explain -x -a "$techniques" -d 'explain a technique, with its SQL'
complete -c readpast -n '__readpast_in lab' -l dialect -x -a 'sqlite postgres sqlserver' -d 'list or explain the scripts for this kind of database'

complete -c readpast -n '__readpast_in stress' -l producers -x -d 'processes that enqueue'
complete -c readpast -n '__readpast_in stress' -l workers -x -d 'worker processes'
complete -c readpast -n '__readpast_in stress' -s j -x -d 'threads of each worker'
complete -c readpast -n '__readpast_in stress' -l jobs -x -d 'number of jobs'
complete -c readpast -n '__readpast_in stress' -l for -x -d 'enqueue for this long'
complete -c readpast -n '__readpast_in stress' -l fill -d 'start workers after all jobs are enqueued'
complete -c readpast -n '__readpast_in stress' -l payload -x -d 'bytes'
complete -c readpast -n '__readpast_in stress' -l batch -x -d 'jobs enqueued at a time'
complete -c readpast -n '__readpast_in stress' -l work-time -x -d 'how long a handler takes'
complete -c readpast -n '__readpast_in stress' -l fail-rate -x -d 'rate of attempts that fail, 0 to 1'
complete -c readpast -n '__readpast_in stress' -l groups -x -d 'number of groups of the jobs'
complete -c readpast -n '__readpast_in stress' -l group-limit -x -d 'how many jobs of a group run at once'
complete -c readpast -n '__readpast_in stress' -l group-on-failure -x -a 'block pass' -d 'what a group does after a failure'
complete -c readpast -n '__readpast_in stress' -l limit -x -d 'how many jobs run at once'
complete -c readpast -n '__readpast_in stress' -l rate -x -d 'how many jobs start within a duration'
complete -c readpast -n '__readpast_in stress' -l lease -x -d 'how long a claim holds a job'
complete -c readpast -n '__readpast_in stress' -l kill-every -x -d 'kill a worker with SIGKILL'
complete -c readpast -n '__readpast_in stress' -l stall-every -x -d 'suspend a worker for longer than its lease'
complete -c readpast -n '__readpast_in stress' -l pin-snapshot -d 'keep an old snapshot open'
complete -c readpast -n '__readpast_in stress' -l seed -x -d 'repeat the random choices of a run'
complete -c readpast -n '__readpast_in stress' -l json -d 'JSON'
