-- merge: one MERGE under a table lock claims the first row, or clears it away
--
-- One atomic statement for both ends of a job: if the first row has an agent it
-- was processed, and is deleted; if it has none it is given to the caller. Each
-- row is visited twice, and each visit locks the whole table: claims and
-- deletions take turns, also with whoever inserts. The trap: an agent in the row
-- says that somebody took it, not that the job was done. If that agent dies the
-- next visitor deletes its job.
--
-- Three consumers that look every 100 ms and a producer every 50 ms are the
-- original's load. Here the rows are there from the beginning and nobody pauses,
-- as with all the others.
--
-- needs 15: MERGE

-- setup:
create table queue (
	id        bigint generated always as identity primary key,
	payload   text not null,
	createdon timestamptz not null default clock_timestamp(),
	agentid   integer
);
insert into queue (payload)
select n from generate_series(1, :jobs::integer) n;
create function dequeue(agent integer)
returns table (action text, id bigint, payload text)
language plpgsql as $body$
begin
	lock table queue in exclusive mode;
	select case when q.agentid is null then 'UPDATE' else 'DELETE' end,
	       q.id, q.payload
	  into action, id, payload
	  from queue q
	 order by q.id
	 limit 1;
	if not found then
		return;
	end if;
	merge into queue q
	using (select dequeue.id) as first (id) on q.id = first.id
	 when matched and q.agentid is not null then delete
	 when matched then update set agentid = agent;
	return next;
end
$body$;

-- take:
select id, case action when 'UPDATE' then payload end as job
  from dequeue(pg_backend_pid());
