-- release: Given back, the attempt not counted.

create function readpast.release(
	id bigint, claim_no bigint, delay interval default '0')
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 3, delay, null)
$body$;
