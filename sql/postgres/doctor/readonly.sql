-- readonly: return a row if the server or this session allows no writes.

select case when pg_is_in_recovery() then 'this server is a standby'
            else 'default_transaction_read_only is on' end as why
 where pg_is_in_recovery()
    or current_setting('default_transaction_read_only') = 'on';
