-- enqueue_unique: insert one job, unless its unique key is taken in its queue. A live
-- job holds its key. A done job may hold its key for some time, too.
-- If a job holds the key, the id of that job is returned. If :replace is 1, a live job
-- that is not running is replaced: it gets the content of the new job. It also gets a
-- larger claim number, so that a worker whose lease on the old content ran out cannot
-- settle the new content.
-- A live job whose expiry time has passed does not hold its key, unless it is running.
-- This verb removes the key of such a job. The next sweep cancels the job.
-- Nothing is inserted and no row is returned if the payload is larger than the queue
-- allows, or if the headers are not a JSON object.
-- A replaced job may be waiting for its group. It keeps its place among the waiting
-- jobs, unless its group or its priority changes, or its new run_at is in the future.
-- outcome is 0 if the job was added, 1 if a job with the key existed and was not
-- changed, 2 if the existing job got the new content.

select q.id as queue_id,
       coalesce(:priority, q.priority) as priority,
       coalesce(:max_attempts, q.max_attempts) as max_attempts,
       max(:now + coalesce(:delay_ms, 0), coalesce(:run_at, 0)) as run_at,
       :group_key as group_key,
       iif(:group_key is null, 0, q.group_limit > 0 or q.holds_until > :now)
       as is_grouped
  from readpast_queue q
 where q.name = :queue
   and :largest <= q.max_payload
   and (:headers is null
        or json_valid(:headers) and json_type(:headers) = 'object');

select max(iif(is_over, null, id)) as living,
       max(iif(is_over, id, null)) as overdue,
       (select job_id from readpast_taken_key
         where queue_id = @queue_id and unique_key = :unique_key
           and until > :now) as holder,
       max(iif(is_over, null, id)) is not null and :replace
       and max(lease_until) is null as replaced
  from (select id, lease_until,
               expire_at <= :now and lease_until is null as is_over
          from readpast_job
         where queue_id = @queue_id and unique_key = :unique_key);

-- if @overdue:
update readpast_job set unique_key = null where id = @overdue;

-- kept_seq: the seq (place in the ready line) that a replaced job keeps if its priority
-- and its class do not change.
select (select seq from readpast_job
         where id = @living and priority = @priority and class = 2)
       as kept_seq,
       1 + coalesce((select seq from readpast_job
                      where queue_id = @queue_id and priority = @priority
                        and class = 2 and seq is not null
                      order by seq desc limit 1), 0) as next_seq,
       coalesce(@living, @holder) is null as absent,
       iif(coalesce(:keep_ms, :timeout_ms, :expire_ms, :backoff,
                    :unique_for_ms) is null,
           null,
           json_patch('{}', json_object(
               'keep_ms', :keep_ms, 'timeout_ms', :timeout_ms,
               'backoff', :backoff, 'unique_for_ms', :unique_for_ms))) as extra,
       :apart is not null
       and (@replaced or coalesce(@living, @holder) is null) as apart;

-- if @absent:
insert into readpast_job (queue_id, priority, seq, run_at, max_attempts,
                          created_at, unique_key, kind, headers, payload,
                          extra, group_key, expire_at)
values (@queue_id, @priority, iif(@run_at > :now, null, @next_seq),
        @run_at, @max_attempts, :now, :unique_key, :kind, :headers, :payload,
        @extra, :group_key, :now + :expire_ms);

-- if @replaced:
select j.group_key as old_group, j.priority as old_priority,
       j.came as old_came, t.stays,
       iif(t.stays or j.run_at < 9223372036854775807
           and j.group_key is :group_key and @run_at <= :now,
           j.came, null) as came,
       j.group_key is not null and not t.stays
       and (j.group_key is not :group_key or @run_at > :now) as leaves
  from readpast_job j
 cross join (select run_at = 9223372036854775807
                    and group_key is :group_key
                    and priority = @priority and @run_at <= :now as stays
               from readpast_job
              where id = @living) t
 where j.id = @living;

-- if @replaced:
delete from readpast_group_wait
 where queue_id = @queue_id and group_key = @old_group
   and priority = @old_priority and came = @old_came and job_id = @living
   and not @stays;

-- if @replaced:
update readpast_job
   set priority = @priority,
       class = 2,
       seq = iif(@run_at > :now or @stays, null,
                 coalesce(@kept_seq, @next_seq)),
       run_at = iif(@stays, 9223372036854775807, @run_at),
       came = @came,
       claim_no = claim_no + 1,
       attempt = 0,
       lost = 0,
       max_attempts = @max_attempts,
       worker_id = null,
       last_error = null,
       failures = null,
       kind = :kind,
       headers = :headers,
       payload = :payload,
       extra = @extra,
       group_key = :group_key,
       expire_at = :now + :expire_ms
 where id = @living;

-- if @replaced:
delete from readpast_payload where id = @living;

-- if @apart:
insert into readpast_payload (id, payload)
values (coalesce(@living, last_insert_rowid()), :apart);

-- answer:
select coalesce(@living, @holder, last_insert_rowid()) as id,
       iif(@absent, 0, iif(@replaced, 2, 1)) as outcome,
       @is_grouped and @run_at <= :now
       and (@absent or @replaced and not @stays) as enters,
       @replaced and @leaves as leaves;

-- if @enters:
-- include enter_group

-- The replaced job leaves its old group.
-- the rest if @leaves:
select @old_group as group_key;

-- include leave_slot
