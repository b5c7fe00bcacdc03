-- fail: Tried again after the queue's backoff or `delay`, unless attempts are
-- used up or it failed `for_good`: then it is dead.

create function readpast.fail(
	id bigint, claim_no bigint, error text default 'failed',
	delay interval default null, for_good boolean default false)
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, case when for_good then 2 else 1 end,
                        delay, error)
$body$;
