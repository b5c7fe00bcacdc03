-- admit: the blocked job @next_id gets a slot if @slotted is 1, and goes to the end of
-- its lane, with the number @next_seq.

insert into readpast_group_slot (queue_id, group_key, job_id, came)
select queue_id, group_key, job_id, came
  from readpast_group_wait
 where job_id = @next_id and @slotted;

delete from readpast_group_wait where job_id = @next_id;

update readpast_job
   set seq = @next_seq, run_at = :now
 where id = @next_id;
