-- ready_or_blocked: the `then` branch of a `case`. The job j of the queue q is given
-- back without a delay. If the queue or the job's group is held, the new state of the
-- job is 7 (blocked). If not, it is 2 (ready).

                 then iif(q.held_until > :now
                          or q.holds_until > :now
                          and exists (select 1 from readpast_group_hold
                                       where queue_id = q.id
                                         and group_key = j.group_key
                                         and until > :now), 7, 2)
