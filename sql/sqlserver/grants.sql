-- grants: create the three roles, and let their members call procedures. The members
-- need no rights on the tables, because the procedures and the tables have the same
-- owner.

if database_principal_id(N'readpast_producer') is null
	create role readpast_producer;
if database_principal_id(N'readpast_worker') is null
	create role readpast_worker;
if database_principal_id(N'readpast_admin') is null
	create role readpast_admin;

grant execute on object::[readpast].enqueue to readpast_producer;
grant execute on object::[readpast].enqueue_many to readpast_producer;

grant execute on object::[readpast].claim to readpast_worker;
grant execute on object::[readpast].settle to readpast_worker;
grant execute on object::[readpast].settle_and_claim to readpast_worker;
grant execute on object::[readpast].complete to readpast_worker;
grant execute on object::[readpast].fail to readpast_worker;
grant execute on object::[readpast].release to readpast_worker;
grant execute on object::[readpast].extend to readpast_worker;
grant execute on object::[readpast].sweep to readpast_worker;
grant execute on object::[readpast].stats to readpast_worker;
grant execute on object::[readpast].why to readpast_worker;
grant execute on object::[readpast].text_of to readpast_worker;

grant execute on object::[readpast].enqueue to readpast_admin;
grant execute on object::[readpast].enqueue_many to readpast_admin;
grant execute on object::[readpast].cancel to readpast_admin;
grant execute on object::[readpast].retry to readpast_admin;
grant execute on object::[readpast].purge to readpast_admin;
grant execute on object::[readpast].sweep to readpast_admin;
grant execute on object::[readpast].queue_set to readpast_admin;
grant execute on object::[readpast].queue_drop to readpast_admin;
grant execute on object::[readpast].pause to readpast_admin;
grant execute on object::[readpast].resume to readpast_admin;
grant execute on object::[readpast].stats to readpast_admin;
grant execute on object::[readpast].why to readpast_admin;
grant execute on object::[readpast].text_of to readpast_admin;
grant select on object::[readpast].jobs to readpast_admin;
