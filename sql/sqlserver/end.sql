-- end: let the session run statements again, in case the batch `stop` has stopped the
-- script.

set noexec off;
