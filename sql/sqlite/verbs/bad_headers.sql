-- bad_headers: return a row for each element of :headers that is not a JSON object. A
-- null element means that the job has no headers, and returns no row.

-- answer:
select true as bad
 where :headers is not null
   and iif(json_valid(:headers), json_type(:headers) <> 'object', true);
