-- came_in_line: the place among the jobs of its group that a ready job f without a slot
-- gets when it leaves the ready line. It is the time at which the job became ready, but
-- later than the place of the job before it in the line, so that the order of the line is
-- kept. (On PostgreSQL the place is a number of the ready line, not a time.)

max(coalesce(f.came, 1000 * f.run_at))
    over (partition by f.group_key, f.priority order by f.class, f.seq)
+ row_number() over (partition by f.group_key, f.priority order by f.class, f.seq)
