-- isolation: sessions of this role begin at a level where claims are refused.
-- (Those of the library set it right for themselves.)

select s.reset_val as level
  from pg_settings s
 where s.name = 'default_transaction_isolation'
   and s.reset_val <> 'read committed';
