-- sweep_start: is it this transaction that makes the next sweep, of all workers that
-- look? No row: another one does. :in_turn 0: it does, in any case.

select 1 as mine where readpast.sweep_start(
                           :in_turn::bigint operator(pg_catalog.<>) 0);
