-- hold: hold a queue, or one of its groups, for :for_ms from now. If :for_ms is null,
-- end the hold. See the routine hold_for().

select id from readpast.hold_for(:queue, :group_key, :for_ms,
                                 :joined::bigint::integer::boolean) as h(id);
