-- own: readpast's claim: a lease, a claim number, and one call a job
--
-- From readpast: locked rows are skipped. From marker: the life of a job is in
-- its row, and a mark of one's own, the claim number. From merge: one call
-- settles a job and claims the next, without the table lock. From applock: a
-- second guard, since each verdict names the claim number and counts only while
-- that is the job's. From worker-loop: work until there is none. No transaction
-- is open while a job runs; a worker that dies has its job back in line when the
-- lease is over, the attempt counted; one that comes too late is refused.

-- setup:
select count(*) as jobs
  from enqueue_many('lab', array(select n::text
                                   from generate_series(1, :jobs::integer) n));

-- take:
select id, claim_no as claim, convert_from(payload, 'UTF8') as job
  from turn('{lab}', most => 1,
            ids => array(select @id::bigint where @id::bigint > 0),
            claim_nos => array(select @claim::bigint where @id::bigint > 0))
 where id is not null;
