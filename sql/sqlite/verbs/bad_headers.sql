-- bad_headers: return a row if :headers, the headers of a job, is not a JSON object.
-- Null means that the job has no headers. In this case no row is returned.

-- answer:
select true as bad
 where :headers is not null
   and iif(json_valid(:headers), json_type(:headers) <> 'object', true);
