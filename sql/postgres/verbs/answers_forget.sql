-- answers_forget: delete up to :max stored answers whose time is over.

delete from readpast.answer
 where name operator(pg_catalog.=) any (array(
       select a.name
         from readpast.answer a
        where a.until operator(pg_catalog.<) pg_catalog.clock_timestamp()
        order by a.until
        limit :max::bigint
          for update skip locked))
returning name;
