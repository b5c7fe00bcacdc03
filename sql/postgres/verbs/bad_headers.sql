-- bad_headers: which of these headers are not a JSON object? Null stands for no
-- headers.

select h.number, true as bad
  from pg_catalog.unnest(:headers[]::pg_catalog.text[]) with ordinality
       as h(headers, number)
 where not readpast.is_object(h.headers);
