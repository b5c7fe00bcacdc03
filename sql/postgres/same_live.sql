-- same_live: those of the rows that are here as live jobs, the same in every
-- field. What came into line here since, its time having come, is no other, and
-- what a sweep put at the end of its line is none.

select n.number, j.id
  from unnest(:id[]::bigint[], :queue[]::text[], :priority[]::bigint[],
              :class[]::bigint[], :seq[]::bigint[], :run_at[]::bigint[],
              :claim_no[]::bigint[], :attempt[]::bigint[],
              :lost[]::bigint[], :max_attempts[]::bigint[], :created_at[]::bigint[],
              :unique_key[]::text[], :kind[]::text[], :headers[]::text[],
              :payload[]::bytea[], :last_error[]::text[],
              :failures[]::text[]) with ordinality
       as n(id, queue, priority, class, seq, run_at, claim_no, attempt,
            lost, max_attempts, created_at, unique_key, kind, headers, payload,
            last_error, failures, number)
  join readpast.job j on j.id = n.id
 where j.queue_id = (select q.id from readpast.queue q
                      where q.name = n.queue)
   and j.lease_until is null
   and j.lane_id = readpast.lane_of(j.queue_id, n.priority::integer,
                                    n.class::integer)
   and ((j.seq is null) = (n.seq is null)
        or n.seq is null and j.run_at <= clock_timestamp())
   and j.run_at = readpast.at_ms(n.run_at) and j.claim_no = n.claim_no
   and j.attempt = n.attempt and j.lost = n.lost
   and j.max_attempts = n.max_attempts
   and j.created_at = readpast.at_ms(n.created_at)
   and j.unique_key is not distinct from n.unique_key
   and j.kind is not distinct from n.kind
   and j.headers::text is not distinct from n.headers
   and j.payload = n.payload
   and j.last_error is not distinct from n.last_error
   and j.failures is not distinct from n.failures::jsonb;
