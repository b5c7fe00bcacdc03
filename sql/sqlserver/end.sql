-- end: if the script was refused, let the session run statements again.

set noexec off;
