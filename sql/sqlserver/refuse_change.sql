-- refuse_change: raise the error that says why a job cannot be cancelled or retried.
-- @id, @kind: the parameters of `cancel` and `retry`.
-- Errors: 52001 the job's state does not allow it, 52005 there is no such job, or it is
-- of another kind.
-- Locks: none.

alter procedure [readpast].refuse_change @id bigint, @kind nvarchar(4000)
as
set nocount on;
set xact_abort on;
declare @state int, @own nvarchar(128), @message nvarchar(2048);
select @state = case when j.lease_until is not null then 3
                     when j.lane_id > 0 then 2 else 1 end, @own = j.kind
  from [readpast].job as j
 where j.id = @id;
select @state = a.state, @own = a.kind from [readpast].archive as a where a.id = @id;
set @message = case
	when @state is null then concat(N'no job has the id ', @id)
	when @kind is not null and (@own is null or @own <> @kind) then
		concat(N'job ', @id, N' is of kind ', isnull(@own, N'(none)'))
	else concat(N'job ', @id, N' is ', [readpast].state_word(@state)) end;
if @state is null or @kind is not null and (@own is null or @own <> @kind)
	throw 52005, @message, 1;
throw 52001, @message, 1;
