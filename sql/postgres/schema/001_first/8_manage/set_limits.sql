-- set_limits: change the limit of a queue's groups, and its rate. After the change,
-- waiting jobs may be admitted, and jobs that are in the ready line without a slot (the
-- right to run) must leave it. The call does this for about admit_slice() jobs, so it is
-- quick however many jobs there are. It stores a recheck request for all groups, and
-- claims and sweeps do the rest.
-- queue: the name of the queue. Each of the other parameters may be null. A null leaves
-- its setting as it is.
-- group_limit: how many jobs of one group may run at once. 0: any number.
-- group_on_failure: 'block': a failed job keeps its slot until its retry. 'pass': the
-- next job of the group gets the slot.
-- rate, per: at most `rate` jobs may start within any interval of the length `per`. A
-- rate of 0: any number. If a rate is set after that, earlier starts do not count.
-- joined: see stays_open(). If the transaction may stay open, claims and sweeps admit all
-- jobs, because this transaction would hold the locks of groups for too long.
-- Result: none. SQLSTATE RP003: an argument is wrong. SQLSTATE 25001: the transaction is
-- above READ COMMITTED, and the queue gets its first limit.
-- Locks: the queue's row, the rows that wake() locks, and the locks of leave_line(),
-- admit_requested() and, for the queue's first limit of groups, start_group_limit().

create function readpast.set_limits(queue text, group_limit integer,
                                    group_on_failure text, rate integer,
                                    per interval, joined boolean default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its record;
begin
	if group_limit not between 0 and :most_limit then
		raise exception 'group_limit is not within 0..:most_limit' using errcode = 'RP003';
	elsif group_on_failure not in ('block', 'pass') then
		raise exception 'group_on_failure must be block or pass'
			using errcode = 'RP003';
	elsif rate not between 0 and :most_rate or rate > 0 and per is null
	      or rate is null and per is not null or readpast.is_bad_lease(per) then
		raise exception 'rate must be 0, or 1..:most_rate with `per` within 1 ms..:most_days days'
			using errcode = 'RP003';
	end if;
	select q.id, q.group_limit as old into its
	  from readpast.queue q
	 where q.name = queue
	   for no key update;
	update readpast.queue q
	   set group_limit = coalesce(set_limits.group_limit, q.group_limit),
	       group_epoch = case when set_limits.group_limit > 0
	                               and (its.old = 0 or set_limits.group_limit < its.old)
	                          then nextval('readpast.line')
	                          else q.group_epoch end,
	       -- If the queue had a group limit before, an enqueue that is still open may
	       -- have added a slot by that limit, which start_group_limit() does not see.
	       group_lowered = case when set_limits.group_limit is null
	                            then q.group_lowered
	                            else set_limits.group_limit > 0
	                                 and (q.group_lowered
	                                      or set_limits.group_limit < its.old
	                                      or its.old = 0 and q.group_epoch > 0) end,
	       group_pass = coalesce((group_on_failure = 'pass')::integer, q.group_pass),
	       rate_count = coalesce(rate, q.rate_count),
	       rate_ms = coalesce(readpast.to_ms(per), q.rate_ms)
	 where q.id = its.id;
	if rate = 0 then
		delete from readpast.start s where s.queue_id = its.id;
	end if;
	if group_limit > 0 and its.old = 0 then
		perform readpast.need_read_committed('the first limit of a queue');
		perform readpast.start_group_limit(its.id);
	end if;
	if group_limit <> its.old then
		insert into readpast.group_recheck (queue_id, group_key, and_later)
		values (its.id, '', true);
		insert into readpast.limit_change (queue_id)
		select its.id where its.old > 0 and group_limit not between 1 and its.old;
		if current_setting('transaction_isolation') = 'read committed' then
			perform readpast.leave_line(its.id) where group_limit > 0;
			perform readpast.admit_requested(its.id)
			  where not readpast.stays_open(joined);
		end if;
		perform readpast.wake(its.id);
	end if;
end
$body$;
