-- isolation: return a row if by default sessions of this role begin at an isolation
-- level where claims are refused. (The library sets the level on its own connections.)

select s.reset_val as level
  from pg_settings s
 where s.name = 'default_transaction_isolation'
   and s.reset_val <> 'read committed';
