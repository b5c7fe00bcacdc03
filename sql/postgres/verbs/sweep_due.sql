-- sweep_due: what is due comes into line, at the end of its lane; :max jobs of
-- each queue at the most.

select id from readpast.sweep_due(:max::bigint::integer);
