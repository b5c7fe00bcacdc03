-- answers_forget: delete up to :max stored answers whose time is over.

-- answer:
delete from readpast_answer
 where name in (select name from readpast_answer
                 where until < :now order by until limit :max)
returning name;
