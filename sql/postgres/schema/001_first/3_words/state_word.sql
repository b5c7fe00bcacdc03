-- state_word: return the word for a state's number.
-- state: 1..7.
-- Result: the word that the view `jobs` shows.
-- Locks: none.

create function readpast.state_word(state integer) returns text
language sql immutable
as $body$
select (array['scheduled', 'ready', 'running', 'done', 'dead',
              'cancelled', 'blocked'])[state]
$body$;
