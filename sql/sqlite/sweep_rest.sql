-- sweep_rest: workers not seen for an hour, and tallies older than a minute.

delete from readpast_worker
 where seen_at < :now - 3600000
   and not exists (select 1 from readpast_job j
                    where j.lease_until is not null
                      and j.worker_id = readpast_worker.id);

delete from readpast_tally where second < :now / 1000 - 60;
