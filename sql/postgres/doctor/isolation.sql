-- isolation: sessions of this role begin at a level where claims are refused.

select current_setting('default_transaction_isolation') as level
 where current_setting('default_transaction_isolation') <> 'read committed';
