-- sweep_rest: if jobs were enqueued in a queue while it was dropped, move them into a
-- new queue of the same name. Then admit jobs of groups, and notify waiters (workers
-- that wait for a notification) of ready jobs. See the routine sweep_rest(). The
-- parameters are used only on SQLite.

select readpast.sweep_rest() as id;
