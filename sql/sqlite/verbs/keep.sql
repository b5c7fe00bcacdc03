-- keep: keep a done job for :keep_ms after its end.

update readpast_archive
   set extra = json_set(coalesce(extra, '{}'), '$.keep_ms', :keep_ms)
 where id = :id and state = 4;
