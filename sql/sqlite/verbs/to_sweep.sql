-- to_sweep: return the queues in which a lease ran out, a job expired, a job is due, a
-- hold of a group has ended, or the group limit was changed (see sweep_groups).
-- A sweep takes the write lock only for these queues.
-- If :rest is 1, the verb also returns queues with a kept job whose retention time is
-- over, and queues that were dropped (dropped is 1).
-- A row with a null queue_id and dropped 1 means that a schedule is due. A row with a
-- null queue_id and dropped 0 means that sweep_rest has rows to delete.

-- answer:
select q.id as queue_id, 0 as dropped
  from readpast_queue q
 where exists (select 1 from readpast_job
                where queue_id = q.id and lease_until <= :now
                  and lease_until is not null)
    or exists (select 1 from readpast_job
                where queue_id = q.id and seq is null and lease_until is null
                  and run_at <= :now and run_at < 9223372036854775807)
    or exists (select 1 from readpast_job
                where queue_id = q.id and expire_at <= :now
                  and expire_at is not null and lease_until is null)
    or q.group_scan is not null and q.paused_at is null
    or q.holds_until is not null
       and exists (select 1 from readpast_group_hold
                    where queue_id = q.id and until <= :now)
    or :rest
       and q.id in (select k.queue_id
                      from readpast_kept_count k
                      join readpast_queue s on s.id = k.queue_id
                     where k.jobs > 0
                       and exists (
                           select 1 from readpast_archive
                            where queue_id = k.queue_id and state = k.state
                              and finished_at <= :now - iif(k.state = 4,
                                                            s.keep_done_ms,
                                                            s.keep_dead_ms)
                              and (keep_ms is null
                                   or k.state > 4
                                   and finished_at + keep_ms <= :now)))
    or :rest
       and exists (select 1 from readpast_archive indexed by readpast_archive_keep
                    where queue_id = q.id and state = 4
                      and keep_ms is not null
                      and finished_at + keep_ms <= :now)
union all
select queue_id, 1
  from readpast_dropped
 where :rest
union all
select null, 1
 where exists (select 1 from readpast_schedule indexed by readpast_schedule_due
                where paused_at is null and coalesce(retry_at, next_at) <= :now)
union all
select null, 0
 where :rest
   and (exists (select 1 from readpast_gone)
        or exists (select 1 from readpast_taken_key where until <= :now)
        or exists (select 1 from readpast_worker where seen_at < :now - 3600000)
        or exists (select 1 from readpast_tally
                    where second > 0 and second < :now / 1000 - 60));
