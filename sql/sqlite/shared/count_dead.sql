-- count_dead: count a job of the queue @queue_id that has died. An `if` before the line
-- that includes this file applies to the statement.

insert into readpast_tally (queue_id, second, dead)
values (@queue_id, :now / 1000, 1)
on conflict do update set dead = dead + 1;
