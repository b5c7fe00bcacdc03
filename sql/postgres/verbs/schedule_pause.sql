-- schedule_pause: pause a schedule if :paused is 1. If :paused is 0, end its pause and
-- set the time of its next fire to :next_at.

update readpast.schedule
   set paused_at = case when :paused::bigint operator(pg_catalog.<>) 0
                        then coalesce(paused_at, pg_catalog.clock_timestamp())
                   end,
       next_at = case when :paused::bigint operator(pg_catalog.<>) 0
                      then next_at else readpast.at_ms(:next_at) end,
       retry_at = case when :paused::bigint operator(pg_catalog.<>) 0
                       then retry_at end,
       standby = case when :paused::bigint operator(pg_catalog.<>) 0
                      then standby end
 where name operator(pg_catalog.=) :name
returning id;
