-- bad_headers: those of the headers that are not a JSON object. Null stands for none.

-- answer:
select true as bad
 where :headers is not null
   and iif(json_valid(:headers), json_type(:headers) <> 'object', true);
