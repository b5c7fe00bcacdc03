-- blocked: jobs that somebody else has locked. Nobody locks a row here.

-- answer:
select :id as id where 0;
