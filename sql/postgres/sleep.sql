-- sleep: the worker is about to sleep: who puts a job into one of its queues
-- notifies its channel. It is to look once more before it does.
-- :queues is a text[] literal.

select channel
  from readpast.going_to_sleep(:worker_id::bigint, :queues::text::text[]);
