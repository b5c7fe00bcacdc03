-- end: if the batch `stop` has stopped the script, let the session run
-- statements again.

set noexec off;
