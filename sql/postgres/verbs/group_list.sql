-- group_list: list groups of a queue. See the routine groups_of().

select name, waiting, ready, running, held_until, waiting_at_least
  from readpast.groups_of(:queue, :blocked::bigint::integer::boolean, :after,
                          :max, :most);
