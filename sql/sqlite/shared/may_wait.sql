-- may_wait: 1 if a new job of the queue q that has a group may have to wait for it: the job
-- is due now, and the queue has a group limit or a held group.

coalesce(:run_at > :now, 0) + coalesce(:delay_ms > 0, 0) = 0
and (q.group_limit > 0 or coalesce(q.holds_until > :now, 0))
