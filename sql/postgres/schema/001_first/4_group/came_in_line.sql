-- came_in_line: return the number that a job in the ready line without a slot gets in the
-- order of its group. The jobs of the front class come first, then the suspects, as in the
-- ready line, see lane_of(). No number of the ready line reaches 2^60.
-- lane_id, seq: the columns of the job.
-- Result: the number.
-- Locks: none.

create function readpast.came_in_line(lane_id bigint, seq bigint) returns bigint
language sql immutable
as $body$
select seq operator(pg_catalog.-)
       ((2 operator(pg_catalog.-) readpast.class_of(lane_id))
        operator(pg_catalog.*) 1152921504606846976)
$body$;
