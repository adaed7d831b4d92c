import { Migration } from '@mikro-orm/migrations'

/** Columns with lists, of which each value counts once, besides regions. */
const LISTS = ['genres', 'franchises', 'collections', 'companies', 'game_modes', 'age_ratings', 'languages', 'tags']
const COUNTED = ['platform_id', 'min_age', 'fs_extension', 'regions', 'fs_size_bytes', 'player_count', ...LISTS]

const VALUES = `select 'player_count' as kind, r.player_count as key
    ${LISTS.map((column) => `union all select '${column}', unnest(r.${column})`).join(' ')}`
/** All counted values of a ROM `r`. */
const FACTS = `${VALUES} union all select 'extension', r.fs_extension union all select 'region', unnest(r.regions)`
/** Only the counts of extensions and regions have sizes. */
const BYTES = "sum(case when f.kind in ('extension', 'region') then r.sign * r.fs_size_bytes else 0 end)"
/** Values also count for all platforms and ages together, as platform 0. */
const insertFacts = (from: string, facts = FACTS) => `insert into library_counts (platform_id, min_age, kind, key, roms, bytes)
    select coalesce(r.platform_id, 0), r.min_age, f.kind, f.key, sum(r.sign), ${BYTES}
    from (${from}) r cross join lateral (${facts}) f
    group by grouping sets ((r.platform_id, r.min_age, f.kind, f.key), (f.kind, f.key))
    having (sum(r.sign) <> 0 or ${BYTES} <> 0) and (grouping(r.platform_id) = 0 or f.kind <> 'extension')`

const columnsOf = (row: string) => ['id', ...COUNTED].map((column) => `${row}.${column}`).join(', ')
const signed = (table: string, sign: 1 | -1) => `select ${columnsOf(table)}, ${sign} as sign from ${table}`
const valuesOf = (row: string) => `(${COUNTED.map((column) => `${row}.${column}`).join(', ')})`
/** Rows whose counted values an update changed. A full join, because an update may give a ROM another id. */
const PAIRS = `added a full join removed b on b.id = a.id where ${valuesOf('a')} is distinct from ${valuesOf('b')}`
const CHANGED = [['a', 1], ['b', -1]].map(([row, sign]) =>
  `select ${columnsOf(String(row))}, ${sign} as sign from ${PAIRS} and ${row}.id is not null`).join(' union all ')

/** Each statement that writes ROMs also writes its change of the counts. */
const COUNT_ROMS = `create or replace function count_roms() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    ${insertFacts(signed('added', 1))};
  elsif tg_op = 'DELETE' then
    ${insertFacts(signed('removed', -1))};
  elsif exists (select from ${PAIRS}) then
    ${insertFacts(CHANGED)};
    insert into library_counts (platform_id, min_age, kind, key, roms)
    select r.platform_id, r.min_age, 'provider', m.provider, sum(r.sign)
    from (${CHANGED}) r join rom_matches m on m.rom_id = r.id and m.provider_id is not null
    where r.id in (select a.id from added a join removed b using (id)
      where (a.platform_id, a.min_age) is distinct from (b.platform_id, b.min_age))
    group by 1, 2, 4 having sum(r.sign) <> 0;
  end if;
  return null;
end $$`

/** Inserts the counts of values of a library whose changes no trigger has seen, such as a seeded one. */
export const INSERT_ALL_VALUES = insertFacts(signed('roms', 1), VALUES)
export const INSERT_ALL_REGIONS = `insert into library_counts (platform_id, kind, key, roms, bytes)
  select 0, 'region', key, sum(roms), sum(bytes) from library_counts where kind = 'region' group by key`

/** Counts of the values that lists can be filtered by, so that no request reads all ROMs to list them. */
export class Migration20261123220000 extends Migration {
  override up (): void {
    this.addSql('create index library_counts_kind_platform_id_index on library_counts (kind, platform_id)')
    this.addSql(COUNT_ROMS)
    this.addSql(INSERT_ALL_VALUES)
    this.addSql(INSERT_ALL_REGIONS)
  }
}
