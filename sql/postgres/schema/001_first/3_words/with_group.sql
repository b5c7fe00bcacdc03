-- with_group: put a group into a job's `extra`, the column for rarely used fields.
-- extra: the value without a group, or null.
-- group_key: the group. If it is null, the routine returns `extra` unchanged.
-- slot_epoch, came: see the type `extra`.
-- Result: the new value of the column. Null if all its fields are null.
-- Locks: none.

create function readpast.with_group(extra readpast.extra, group_key text,
                                    slot_epoch bigint, came bigint)
returns readpast.extra
language sql immutable as $body$
select case when group_key is null then extra
            else readpast.extra_of((extra).keep_ms, (extra).timeout_ms,
                                   (extra).expire_at, (extra).backoff,
                                   (extra).unique_for_ms, with_group.group_key,
                                   (extra).progress, with_group.slot_epoch,
                                   with_group.came) end
$body$;
