-- note_ended: Jobs with these numbers are done. One that has none left the line
-- before.

create function readpast.note_ended(seqs bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.ended (thousand, jobs)
	select s.seq / 1000, count(*)
	  from unnest(seqs) as s(seq)
	 where s.seq is not null
	 group by 1;
end
$body$;
