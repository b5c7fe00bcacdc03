-- sweep_start: decide whether this transaction makes the next sweep, for all workers
-- and all queues. If :in_turn is 0, this transaction makes the sweep in any case. If
-- this transaction does not make the sweep, no row is returned. See the routine
-- sweep_start().
-- mine: 2 if a schedule is due and this role may fire it, otherwise 1.

select case when exists (
                 select 1 from readpast.schedule s
                  where s.paused_at is null
                    and coalesce(s.retry_at, s.next_at) operator(pg_catalog.<=)
                        pg_catalog.clock_timestamp())
                 and pg_catalog.has_table_privilege('readpast.schedule',
                                                    'UPDATE')
            then 2 else 1 end as mine
 where readpast.sweep_start(:in_turn::bigint operator(pg_catalog.<>) 0);
