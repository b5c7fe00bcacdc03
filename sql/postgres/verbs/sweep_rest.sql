-- sweep_rest: move jobs out of dropped queues, and notify waiters of ready jobs. See
-- the routine sweep_rest().

select readpast.sweep_rest() as id;
