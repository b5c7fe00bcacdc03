-- bad_headers: headers that are no JSON object. Null is no headers at all.

select h.number, true as bad
  from pg_catalog.unnest(:headers[]::pg_catalog.text[]) with ordinality
       as h(headers, number)
 where not readpast.is_object(h.headers);
