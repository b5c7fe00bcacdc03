-- sweep_start: does this transaction make the next sweep, for all workers and all
-- queues? No row: another one makes it. :in_turn 0: this one does in any case. mine:
-- 2 if a schedule is due that this role may fire, else 1.

select case when exists (
                 select 1 from readpast.schedule s
                  where s.paused_at is null
                    and s.next_at operator(pg_catalog.<=)
                        pg_catalog.clock_timestamp())
                 and pg_catalog.has_table_privilege('readpast.schedule',
                                                    'UPDATE')
            then 2 else 1 end as mine
 where readpast.sweep_start(:in_turn::bigint operator(pg_catalog.<>) 0);
