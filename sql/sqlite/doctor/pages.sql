-- pages: return the size of the file's free pages if they take more than half of the
-- file and more than 16 MiB.

select f.freelist_count * s.page_size as free_bytes,
       c.page_count * s.page_size as file_bytes
  from pragma_freelist_count f, pragma_page_count c, pragma_page_size s
 where f.freelist_count * 2 > c.page_count
   and f.freelist_count * s.page_size > 16 * 1048576;
