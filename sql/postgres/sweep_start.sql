-- sweep_start: is it this transaction that makes the sweep of this second, of all
-- workers that look? No row: another one does.

select 1 as mine where readpast.sweep_start();
