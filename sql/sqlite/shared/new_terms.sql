-- new_terms: the settings that all new jobs of a call share. Most jobs have none. Then
-- @has_terms is 0, and the insert gets null for both columns.

-- if @has_terms:
select :now + :expire_ms as expire_at,
       json_patch('{}', json_object(
           'keep_ms', :keep_ms, 'timeout_ms', :timeout_ms,
           'backoff', :backoff)) as extra;
