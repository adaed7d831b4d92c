/**
 * Counts a change. A transaction updates any row that no other one locks, so transactions never wait for each other.
 * The sum of all rows of a kind changes with every commit and never before it.
 */
const MOVE_VERSION = `create function move_library_version (moved text, owner int) returns void language plpgsql as $$
declare marker text := 'svc.moved_' || moved || '_' || owner;
begin
  if current_setting(marker, true) <> '' then return; end if;
  update library_versions set version = version + 1 where id = (
    select id from library_versions where kind = moved and user_id = owner order by id limit 1 for update skip locked);
  if not found then insert into library_versions (kind, user_id, version) values (moved, owner, 1); end if;
  perform set_config(marker, '1', true);
end $$`

/** Changes by the scan worker are counted apart from changes by people. */
const NOTE_LIBRARY = `create function note_library_change () returns trigger language plpgsql as $$ begin
  perform move_library_version(case current_setting('application_name') when 'svc worker' then 'scans' else 'edits' end, 0);
  return null;
end $$`
const noteKind = (kind: string) => `create function note_${kind}_change () returns trigger language plpgsql as $$ begin
  perform move_library_version('${kind}', 0);
  return null;
end $$`
/** After a scan ended, all rows that it stored must be visible. */
const NOTE_TASK = `create function note_task_end () returns trigger language plpgsql as $$ begin
  perform move_library_version('edits', 0);
  return null;
end $$`

const countMarks = (rows: string, isShown: string) => `for owner, shown in select user_id, bool_or(${isShown}) from ${rows} group by user_id
    loop
      perform move_library_version('marks', owner);
      if shown then perform move_library_version('shown', owner); end if;
    end loop;`
/** Only two of the marks decide which ROMs a user sees. */
const NOTE_MARKS = `create function note_marks_change () returns trigger language plpgsql as $$
declare owner int; shown boolean;
begin
  if tg_op = 'UPDATE' then
    ${countMarks('(select n.user_id, (n.hidden, n.is_main_sibling) is distinct from (o.hidden, o.is_main_sibling) as differs ' +
      'from new_rows n join old_rows o on o.id = n.id) changed', 'differs')}
  elsif tg_op = 'INSERT' then
    ${countMarks('new_rows', 'hidden or is_main_sibling')}
  else
    ${countMarks('old_rows', 'hidden or is_main_sibling')}
  end if;
  return null;
end $$`

const ROWS = { insert: 'new table as new_rows', update: 'old table as old_rows new table as new_rows', delete: 'old table as old_rows' }

const noteChange = (table: string, noted: string) => `create trigger note_change after insert or update or delete on ${table}
  for each statement execute function note_${noted}_change()`

/** Triggers that count changes of the library. Data derived from it can be cached until its version changes. */
export const versions = [
  MOVE_VERSION, NOTE_LIBRARY, noteKind('assets'), noteKind('collections'), NOTE_TASK, NOTE_MARKS,
  ...['platforms', 'roms', 'rom_files', 'rom_matches', 'hidden_entities'].map((table) => noteChange(table, 'library')),
  noteChange('assets', 'assets'),
  ...['collections', 'smart_collections', 'collection_roms'].map((table) => noteChange(table, 'collections')),
  `create trigger note_end after update on tasks for each row
    when (old.status = 'started' and new.status <> 'started') execute function note_task_end()`,
  ...Object.entries(ROWS).map(([event, rows]) => `create trigger note_${event} after ${event} on rom_users referencing ${rows}
    for each statement execute function note_marks_change()`)
]
