-- sweep_rest: move jobs out of dropped queues, and notify waiters (workers that wait
-- for a notification) of ready jobs. See the routine sweep_rest().

select readpast.sweep_rest() as id;
