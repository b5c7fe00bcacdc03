-- enqueue_plain: as enqueue, for one job of which nothing else is said.

select readpast.put_plain(:queue, :kind, :payload) as id;
