-- sequence: list sequences of the schema that have used up 80 % of their numbers.

select s.sequencename as sequence, s.last_value as at,
       (100.0 * s.last_value / s.max_value)::bigint as per_cent,
       s.max_value as most
  from pg_sequences s
 where s.schemaname = current_schema()
   and s.last_value > s.max_value / 10 * 8;
