-- sweep_rest: workers not seen for an hour, and tallies older than a minute.

delete from readpast_worker where seen_at < :now - 3600000;

delete from readpast_tally where second < :now / 1000 - 60;
