-- enqueue_in_group: like enqueue_grouped, for a single job, which has a group. It is faster,
-- because it needs no common table expression and does not read the new job again.

select :group_key as group_key,
-- include new_jobs
       ,
-- include may_wait
       as is_grouped
  from readpast_queue q
 where q.name = :queue
   and :largest <= q.max_payload
   and (not :with_headers
        or iif(json_valid(:headers), json_type(:headers) = 'object', false));

-- include new_terms

-- last_came: the `came` of the last job of the same priority that waits for the group, or
-- else of the newest job that has a slot (the right to run). The new job comes after it,
-- even if the clock was set back.
-- if @is_grouped:
select coalesce(
-- include is_held
       , 0) as held,
       q.group_limit > 0 as slotted,
       q.group_limit > 0 and
-- include is_full
       as full,
       coalesce((select came from readpast_group_wait
                  where queue_id = q.id and group_key = @group_key
                    and priority = @priority
                  order by came desc limit 1),
                (select k.came
                   from readpast_group_slot s
                  cross join readpast_job k
                  where s.queue_id = q.id and s.group_key = @group_key
                    and k.id = s.job_id
                  order by s.job_id desc limit 1), 0) as last_came
  from readpast_queue q
 where q.id = @queue_id;

select @slotted and not @held and not @full as fits,
       @held or @full as waits,
       iif(@slotted or @held, 1 + max(:now_us, @last_came), null) as came;

-- answer batch:
insert into readpast_job (id, queue_id, priority, seq, run_at, max_attempts,
                          created_at, kind, headers, payload, expire_at,
                          extra, group_key, came)
values (:ids_before + 1, @queue_id, @priority,
        iif(@waits, null, @last_seq + 1),
        iif(@waits, 9223372036854775807, @run_at), @max_attempts, :now, :kind,
        :headers, :payload, @expire_at, @extra, @group_key, @came);

-- if @fits:
insert into readpast_group_slot (queue_id, group_key, job_id)
values (@queue_id, @group_key, last_insert_rowid());

-- if @waits:
insert into readpast_group_wait (queue_id, group_key, priority, came, job_id,
                                 run_at)
values (@queue_id, @group_key, @priority, @came, last_insert_rowid(), :now);

-- if @apart:
insert into readpast_payload (id, payload) values (last_insert_rowid(), :apart);
