-- enqueue_plain: add one ready job that has only a payload and a kind.

select readpast.put_plain(:queue, :kind, :payload) as id;
