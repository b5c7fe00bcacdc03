-- ready_or_blocked: part of a `case`: the state of the job j of the queue q when it is
-- given back to the ready line, 7 if its queue or group is held, otherwise 2.

                 then iif(q.held_until > :now
                          or q.holds_until > :now
                          and exists (select 1 from readpast_group_hold
                                       where queue_id = q.id
                                         and group_key = j.extra ->> 'group'
                                         and until > :now), 7, 2)
