-- sweep_rest: take over jobs of dropped queues, and send notifications that were missed.
-- See the routine.

select readpast.sweep_rest() as id;
