-- plan_cost: the same, and what it reads.

explain (analyze, buffers, timing off, format json)
select j.ctid as place, j.seq, j.max_attempts
  from job j
 where j.lane_id = (select j.lane_id from job j
                     where j.id = (select min(k.id) from job k))
   and j.seq >= head_of(j.lane_id)
   and j.lease_until is null
 order by j.lane_id, j.seq
 limit 100;
