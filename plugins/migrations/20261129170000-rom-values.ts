import { Migration } from '@mikro-orm/migrations'

const LISTS = ['genres', 'franchises', 'collections', 'companies', 'game_modes', 'age_ratings', 'regions', 'languages', 'tags']
const SINGLE = ['player_count', 'platform_id']

const hash = (column: string, value: string) => `hashtextextended('${column}:' || ${value}, 0)`
const hashesOf = (row: string) => 'array(' + [
  ...LISTS.map((column) => `select ${hash(column, 'x')} from unnest(${row}.${column}) x`),
  ...SINGLE.map((column) => `select ${hash(column, `${row}.${column}`)}`)
].join(' union all ') + ')'

export const INSERT_VALUES_OF_ALL = `insert into rom_values (rom_id, hashes) select r.id, ${hashesOf('r')} from roms r order by r.id`

const KEEP_VALUES = `create function keep_values () returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    insert into rom_values (rom_id, hashes) select a.id, ${hashesOf('a')} from added a;
  elsif tg_op = 'DELETE' then
    delete from rom_values where rom_id in (select id from removed);
  else
    update rom_values set rom_id = new.id, hashes = ${hashesOf('new')} where rom_id = old.id;
  end if;
  return null;
end $$`

/** These triggers equal those of the entities. */
const CHANGED = ['id', ...LISTS, ...SINGLE]
const TRIGGERS = [
  'create trigger keep_values_insert after insert on roms referencing new table as added for each statement execute function keep_values()',
  'create trigger keep_values_delete after delete on roms referencing old table as removed for each statement execute function keep_values()',
  `create trigger keep_values_update after update of ${CHANGED.join(', ')} on roms for each row when (` +
    CHANGED.map((column) => `old.${column} is distinct from new.${column}`).join(' or ') + ') execute function keep_values()'
]

/**
 * A table of hashes of the values by which lists are filtered: a tenth of the blocks of `roms`. No foreign key, because
 * its check would lock each new ROM. A former release works without the index on `roms`, and reads all ROMs.
 */
export class Migration20261129170000 extends Migration {
  override up (): void {
    this.addSql("create table rom_values (rom_id int primary key, hashes bigint[] not null default '{}')")
    this.addSql(KEEP_VALUES)
    // Until the migration ends, they block other hosts from writing ROMs, so that the table misses none.
    for (const trigger of TRIGGERS) this.addSql(trigger)
    this.addSql(INSERT_VALUES_OF_ALL)
    this.addSql('create index rom_values_hashes on rom_values using gin (hashes)')
    this.addSql('drop index roms_lists')
    this.addSql('analyze rom_values')
  }
}
