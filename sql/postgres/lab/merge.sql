-- merge: one MERGE under a table lock claims the first row, or deletes it
--
-- Each call runs one atomic statement, which looks at the first row. If the row names
-- an agent, the statement deletes the row, because the job counts as processed.
-- Otherwise the statement writes the caller into the row as its agent, and the caller
-- gets the job. So each row is visited twice. Each visit locks the whole table, so
-- claims, deletions and inserts wait for each other. The trap: an agent in the row says
-- that a worker took the job, not that the job is done. If that worker dies, the next
-- visit deletes its job.
--
-- In the original of this technique, three consumers poll every 100 ms and one producer
-- inserts a row every 50 ms. Here all rows are inserted before the start and no worker
-- pauses, so that the techniques can be compared.
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
