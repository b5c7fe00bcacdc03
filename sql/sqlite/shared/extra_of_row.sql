-- extra_of_row: return the value of the column `extra` for a job of another database, the
-- row of parameters r. It is null if no member of the JSON object would have a value.

       iif(coalesce(r.keep_ms, r.timeout_ms, r.expire_at, r.backoff,
                    r.unique_for_ms, r.progress) is null,
           null,
           json_patch('{}', json_object(
               'keep_ms', r.keep_ms, 'timeout_ms', r.timeout_ms,
               'backoff', r.backoff, 'unique_for_ms', r.unique_for_ms,
               'progress', r.progress)))
