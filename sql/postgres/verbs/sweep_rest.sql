-- sweep_rest: workers not seen for an hour, tallies older than a minute,
-- what sleepers left behind; lanes that are new.

select readpast.sweep_rest() as id;
