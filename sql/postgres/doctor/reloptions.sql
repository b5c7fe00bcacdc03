-- reloptions: return a row if the fillfactor of the table `job` leaves too little room
-- in its pages. In this case a claim often writes the new version of a row into another
-- page, and has to write to every index, too.

select coalesce((select option_value
                   from pg_options_to_table(c.reloptions)
                  where option_name = 'fillfactor'), '100') as fillfactor,
       format('%I.%I', current_schema(), c.relname) as table
  from pg_class c
 where c.oid = 'job'::regclass
   and not coalesce((select option_value::numeric <= 60
                       from pg_options_to_table(c.reloptions)
                      where option_name = 'fillfactor'), false);
