-- own: readpast's claim: a lease, a claim number, and one call per job
--
-- This technique combines several others of this folder. As in the technique
-- `readpast`, locked rows are skipped. As in `marker`, the state of a job is in its
-- row, and each claim writes a mark, the claim number. As in `merge`, one call settles
-- a job and claims the next, but without a table lock. As in `applock`, there is a
-- guard besides the row lock. A verdict names a claim number, and is accepted only
-- while the job has that number. As in `worker-loop`, workers continue until no job is
-- left. No transaction is open while a job runs. If a worker dies, its job is ready
-- again when the lease ends, and the attempt is counted. A verdict that comes too late
-- is refused.

-- setup:
select count(*) as jobs
  from enqueue_many('lab', array(select n::text
                                   from generate_series(1, :jobs::integer) n));

-- take:
select id, claim_no as claim, convert_from(payload, 'UTF8') as job
  from settle_and_claim('{lab}', most => 1,
            ids => array(select @id::bigint where @id::bigint > 0),
            claim_nos => array(select @claim::bigint where @id::bigint > 0))
 where id is not null;
