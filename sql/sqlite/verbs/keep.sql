-- keep: set the time for which a done job is kept after its end to :keep_ms.

update readpast_archive
   set extra = json_set(coalesce(extra, '{}'), '$.keep_ms', :keep_ms)
 where id = :id and state = 4;
