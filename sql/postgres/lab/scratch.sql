-- scratch: create, use and drop the two schemas that a run of the lab needs, and read
-- the server's figures about the run. The lab compares techniques. A technique is one
-- way to build a queue in SQL, and each of the other files in this folder has one. The
-- names of both schemas have the same random number. The first schema holds readpast's
-- tables and routines. The name of the second schema also has the suffix _t. This
-- schema holds the tables and routines of the technique. The workers use the name of
-- the first schema as their application_name.

-- version:
select current_setting('server_version_num')::integer / 10000 as version;

-- leftovers:
select n.nspname as leftover
  from pg_namespace n
 where n.nspname ~ '^readpast_lab_[0-9]+(_t)?$'
   and not exists (
           select from pg_stat_activity a
            where a.application_name = rtrim(n.nspname, '_t'));

-- drop:
select set_config('readpast_lab.scratch', :scratch, false);
do $body$
begin
	execute format('drop schema if exists %I cascade',
	               current_setting('readpast_lab.scratch'));
end
$body$;

-- create:
select set_config('readpast_lab.scratch', :scratch || '_t', false);
do $body$
begin
	execute format('create schema %I',
	               current_setting('readpast_lab.scratch'));
end
$body$;

-- session:
select pg_catalog.set_config(
           'search_path',
           :scratch operator(pg_catalog.||) '_t,'
           operator(pg_catalog.||) :scratch operator(pg_catalog.||) ',pg_temp',
           false),
       pg_catalog.set_config('default_transaction_isolation',
                             'read committed', false);

-- waits:
select a.wait_event as what, count(*) as workers
  from pg_stat_activity a
 where a.application_name = :scratch and a.wait_event_type = 'Lock'
 group by a.wait_event;

-- log:
select (pg_current_wal_insert_lsn() - '0/0')::bigint as position;

-- end:
select count(pg_terminate_backend(a.pid)) as ended
  from pg_stat_activity a
 where a.application_name = :scratch and a.pid <> pg_backend_pid();

-- others:
select count(*) as others
  from pg_stat_activity a
 where a.application_name = :scratch and a.pid <> pg_backend_pid();
