-- plan_cost: run the statement of plan.sql, which finds jobs as a claim does, and count
-- the pages that the statement reads.

explain (analyze, buffers, timing off, verbose, format json)
select j.ctid as place, j.seq, j.max_attempts
  from job j
 where j.lane_id = (select l.lane_id from lane l
                     where exists (select 1 from job k
                                    where k.lane_id = l.lane_id
                                      and k.seq >= claims_start(l.lane_id)
                                      and k.lease_until is null)
                     order by l.lane_id limit 1)
   and j.seq >= claims_start(j.lane_id)
   and j.lease_until is null
 order by j.lane_id, j.seq
 limit 100;
