-- state_word: the word for a state's number.

create function readpast.state_word(state integer) returns text
language sql immutable
as $body$
select (array['scheduled', 'ready', 'running', 'done', 'dead',
              'cancelled'])[state]
$body$;
