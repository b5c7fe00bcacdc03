-- bad_headers: headers that are no JSON object. Null is no headers at all.

-- answer:
select true as bad
 where :headers is not null
   and iif(json_valid(:headers), json_type(:headers) <> 'object', true);
