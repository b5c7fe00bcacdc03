-- why_refused: return the reason why a verdict was refused.
-- id, claim_no: the job and the claim number of the verdict.
-- Result: one of these numbers. -8: the job was cancelled. -9: no job ever had this id.
-- -5: this claim no longer has the job. SQLSTATE 40001: the job was claimed after this
-- transaction began, and the transaction is above READ COMMITTED, so it may not see the
-- job. (A claim number is the time of the claim.)
-- Locks: none.

create function readpast.why_refused(id bigint, claim_no bigint)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if current_setting('transaction_isolation') <> 'read committed'
	   and claim_no >= readpast.epoch_us(now()) then
		raise exception 'job % was claimed after this transaction began', id
			using errcode = '40001';
	end if;
	return case
	       when exists (select 1 from readpast.archive a
	                     where a.id = why_refused.id and a.state = 6
	                       and a.claim_no = why_refused.claim_no) then -8
	       when why_refused.id > (select s.last_value
	                                from readpast.job_id_seq s) then -9
	       else -5 end;
end
$body$;
