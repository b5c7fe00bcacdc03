-- enqueue_plain: one job, ready at once, with payload and kind only.

select readpast.put_plain(:queue, :kind, :payload) as id;
