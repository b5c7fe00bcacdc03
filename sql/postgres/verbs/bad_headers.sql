-- bad_headers: those of the headers that are not a JSON object. Null stands for none.

select h.number, true as bad
  from pg_catalog.unnest(:headers[]::pg_catalog.text[]) with ordinality
       as h(headers, number)
 where not readpast.is_object(h.headers);
