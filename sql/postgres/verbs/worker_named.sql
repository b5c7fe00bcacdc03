-- worker_named: register a client as a worker under a name that it chooses, or store the
-- heartbeat of the client with this name. See the routine worker_named().

select readpast.worker_named(
           :worker,
           array(select pg_catalog.jsonb_array_elements_text(
                            :queues::pg_catalog.text::pg_catalog.jsonb))) as id;
