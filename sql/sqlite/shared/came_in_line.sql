-- came_in_line: the place among the jobs of its group that a ready job f without a slot
-- gets when it leaves the ready line. Like the line, the places are in the order of class
-- and seq. The job at row n of those that became ready at the time t gets t - 1 ms + n us,
-- if no job before it became ready later. So it comes before jobs that are enqueued from
-- now on, and before jobs of the line that are examined later, which get t (see admit.sql).
-- Jobs at the front of the line (class 0 or 1) may have become ready after those behind
-- them, for example because they were released. They get places before those of all
-- other jobs, and do not move the others back.
-- (On PostgreSQL the place is a number of the ready line, not a time.)

iif(f.class < 2,
    min(coalesce(f.came, 1000 * f.run_at))
        over (partition by f.group_key, f.priority)
    - count(*) over (partition by f.group_key, f.priority),
    max(coalesce(f.came, 1000 * f.run_at))
        over (partition by f.group_key, f.priority, f.class = 2 order by f.seq))
- 1000
+ row_number() over (partition by f.group_key, f.priority order by f.class, f.seq)
