-- sequence: list tables whose ids are close to the largest possible id.

select name as sequence, seq as at,
       seq / 92233720368547758 as per_cent, 9223372036854775807 as most
  from sqlite_sequence
 where name like 'readpast!_%' escape '!' and seq > 7378697629483820646;
