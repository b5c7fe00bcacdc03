-- sweep_rest: workers not seen for an hour, tallies older than a minute, and
-- what sleepers left behind.

select readpast.sweep_rest();
