-- bad_headers: which of these headers are not a JSON object? Null stands for no
-- headers.

-- answer:
select true as bad
 where :headers is not null
   and iif(json_valid(:headers), json_type(:headers) <> 'object', true);
