-- extra_of_row: an expression for the column `extra` of a job that is copied from
-- another database. The row r has the job's fields. The value is null if the job has
-- none of the settings in `extra`, and no expire_at.

       iif(coalesce(r.keep_ms, r.timeout_ms, r.expire_at, r.backoff,
                    r.unique_for_ms, r.progress) is null,
           null,
           json_patch('{}', json_object(
               'keep_ms', r.keep_ms, 'timeout_ms', r.timeout_ms,
               'backoff', r.backoff, 'unique_for_ms', r.unique_for_ms,
               'progress', r.progress)))
