import { Migration } from '@mikro-orm/migrations'

/** Of a statement that changes more ROMs, only the fact is logged: cached lists are then read anew. */
const ROMS_MAX = 2_000

const LOG = `create function log_rom_changes (ids int[], lost_games text[] default '{}') returns void language sql as $$
  insert into rom_changes (xid, rom_ids, games)
  select pg_current_xact_id()::text::bigint, case when cardinality(ids) <= ${ROMS_MAX} then ids end, lost_games
  where ids is null or ids <> '{}'
$$`

const idsOf = (column: string, table: string) => `select ${column} from ${table}`
/** Creates a trigger function that logs the ROMs of the rows that a statement wrote and replaced. */
const logRows = (name: string, column: string, games = "'{}'") => `create function ${name} () returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    perform log_rom_changes(array(select distinct * from (${idsOf(column, 'added')} limit ${ROMS_MAX + 1}) c));
  elsif tg_op = 'DELETE' then
    perform log_rom_changes(array(select distinct * from (${idsOf(column, 'removed')} limit ${ROMS_MAX + 1}) c), ${games});
  else
    perform log_rom_changes(array(${idsOf(column, 'added')} union ${idsOf(column, 'removed')} limit ${ROMS_MAX + 1}), ${games});
  end if;
  return null;
end $$`

/** A ROM that lost its identity is no longer found by the matches of its former siblings. */
const LOST_GAMES = `array(select distinct provider || ':' || provider_id from removed
      where provider_id is not null limit ${ROMS_MAX + 1})`

const LOG_HIDDEN = `create function log_hidden_roms () returns trigger language plpgsql as $$ declare changed hidden_entities[];
begin
  if tg_op = 'INSERT' then
    changed := array(select added from added);
  elsif tg_op = 'DELETE' then
    changed := array(select removed from removed);
  else
    changed := array(select added from added union all select removed from removed);
  end if;
  perform log_rom_changes(case when not exists (select from unnest(changed) c where c.entity <> 'roms')
    then array(select distinct c.entity_id from unnest(changed) c) end);
  return null;
end $$`

const LOG_PLATFORM = `create function log_platform_change () returns trigger language plpgsql as $$ begin
  perform log_rom_changes(null);
  return null;
end $$`

/** These triggers equal those of the entities. */
const statementTriggers = (table: string, run: string) => [
  `create trigger ${run}_insert after insert on ${table} referencing new table as added for each statement execute function ${run}()`,
  `create trigger ${run}_update after update on ${table} referencing old table as removed new table as added for each statement execute function ${run}()`,
  `create trigger ${run}_delete after delete on ${table} referencing old table as removed for each statement execute function ${run}()`
]

/** A log of changed ROMs, from which cached lists are updated. */
export class Migration20261123210000 extends Migration {
  override up (): void {
    this.addSql(`create table rom_changes (
      id serial primary key,
      xid bigint not null,
      rom_ids int[],
      games text[] not null default '{}',
      created_at timestamptz(3) not null default now())`)
    this.addSql('create index rom_changes_xid_index on rom_changes (xid)')
    this.addSql(LOG)
    this.addSql(logRows('log_roms', 'id'))
    this.addSql(logRows('log_matches', 'rom_id', LOST_GAMES))
    this.addSql(logRows('log_dumps', 'rom_id'))
    this.addSql(LOG_HIDDEN)
    this.addSql(LOG_PLATFORM)
    for (const [table, run] of [
      ['roms', 'log_roms'], ['rom_matches', 'log_matches'], ['rom_dumps', 'log_dumps'], ['hidden_entities', 'log_hidden_roms']
    ] as const) {
      for (const trigger of statementTriggers(table, run)) this.addSql(trigger)
    }
    this.addSql(`create trigger log_platform_change after update of slug on platforms for each row
      when (old.slug is distinct from new.slug) execute function log_platform_change()`)
  }
}
