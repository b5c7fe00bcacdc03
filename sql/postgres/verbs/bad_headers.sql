-- bad_headers: which of these texts are not a JSON object? A null text means that the
-- job has no headers, and is accepted.

select h.number, true as bad
  from pg_catalog.unnest(:headers[]::pg_catalog.text[]) with ordinality
       as h(headers, number)
 where not readpast.is_object(h.headers);
