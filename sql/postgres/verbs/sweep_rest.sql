-- sweep_rest: save jobs that were enqueued in a queue while it was dropped, and notify
-- waiters (workers that wait for a notification) of ready jobs. See the routine
-- sweep_rest().

select readpast.sweep_rest() as id;
