-- hold_of: hold the group of a claimed job, or its queue if :whole is 1. See the
-- routine hold_of().

select id from readpast.hold_of(:id, :claim_no, :whole::bigint::integer::boolean, :for_ms) as h(id);
