-- bad_headers: return a row for each element of :headers[] that is not a JSON object. A
-- null element means that the job has no headers, and returns no row.

select h.number, true as bad
  from pg_catalog.unnest(:headers[]::pg_catalog.text[]) with ordinality
       as h(headers, number)
 where not readpast.is_object(h.headers);
