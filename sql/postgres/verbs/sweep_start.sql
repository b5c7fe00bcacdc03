-- sweep_start: does this transaction make the next sweep, for all workers and all
-- queues? No row: another one makes it. :in_turn 0: this one does in any case.

select 1 as mine where readpast.sweep_start(
                           :in_turn::bigint operator(pg_catalog.<>) 0);
