import { Migration } from '@mikro-orm/migrations'

/** Without the extension, searches read all rows of the table, as they did before. */
const INDEX_NAMES = `do $$ begin
  create index rom_names_trigrams on rom_names using gin (searched gin_trgm_ops);
exception when undefined_object then
  raise notice 'Without the extension pg_trgm searches read all names: %', sqlerrm;
end $$`

const namesOf = (row: string) => `coalesce(${row}.name, '') || ' ' || ${row}.fs_name`

/** `normalize` takes ten times as long as all else, and does not change ASCII. */
const composed = (text: string) => `case when octet_length(${text}) = char_length(${text}) then ${text} else normalize(${text}) end`

const searchedOf = (row: string) => `lower((${composed(namesOf(row))}) collate "default")`

export const INSERT_ALL_NAMES = `insert into rom_names (rom_id, searched) select r.id, ${searchedOf('r')} from roms r order by r.id`

const KEEP_NAMES = `create function keep_names () returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    insert into rom_names (rom_id, searched) select a.id, ${searchedOf('a')} from added a;
  elsif tg_op = 'DELETE' then
    delete from rom_names where rom_id in (select id from removed);
  else
    update rom_names set rom_id = new.id, searched = ${searchedOf('new')} where rom_id = old.id;
  end if;
  return null;
end $$`

/** These triggers equal those of the entities. */
const CHANGED = ['id', 'name', 'fs_name']
const TRIGGERS = [
  'create trigger keep_names_insert after insert on roms referencing new table as added for each statement execute function keep_names()',
  'create trigger keep_names_delete after delete on roms referencing old table as removed for each statement execute function keep_names()',
  `create trigger keep_names_update after update of ${CHANGED.join(', ')} on roms for each row when (` +
    CHANGED.map((column) => `old.${column} is distinct from new.${column}`).join(' or ') + ') execute function keep_names()'
]

/**
 * A table of the names of ROMs, in which a search reads a third of the blocks. No foreign key, because its
 * check would lock each new ROM. A former release works without the index on `roms`, and reads all names.
 */
export class Migration20261129120000 extends Migration {
  override up (): void {
    this.addSql('create table rom_names (rom_id int primary key, searched text not null)')
    this.addSql(KEEP_NAMES)
    // Until the migration ends, they block other hosts from writing ROMs, so that the table misses none.
    for (const trigger of TRIGGERS) this.addSql(trigger)
    this.addSql(INSERT_ALL_NAMES)
    this.addSql(INDEX_NAMES)
    this.addSql('drop index if exists roms_names_trigrams')
    this.addSql('analyze rom_names')
  }
}
