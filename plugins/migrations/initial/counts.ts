/** The counted values of each ROM: once by its extension, and once for each region. */
const FACTS = `cross join lateral (select 'extension' as kind, r.fs_extension as key
    union all select 'region', unnest(r.regions)) f`
const insertRomFacts = (from: string) => `insert into library_counts (platform_id, min_age, kind, key, roms, bytes)
    select r.platform_id, r.min_age, f.kind, f.key, sum(r.sign), sum(r.sign * r.fs_size_bytes)
    from (${from}) r ${FACTS} group by 1, 2, 3, 4
    having sum(r.sign) <> 0 or sum(r.sign * r.fs_size_bytes) <> 0`
const ROM_COLUMNS = 'id, platform_id, min_age, fs_extension, regions, fs_size_bytes'
const signed = (table: string, sign: 1 | -1) => `select ${ROM_COLUMNS}, ${sign} as sign from ${table}`
const BOTH = `${signed('added', 1)} union all ${signed('removed', -1)}`

/** Each statement that writes ROMs also writes its change of the counts. */
const COUNT_ROMS = `create function count_roms() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    ${insertRomFacts(signed('added', 1))};
  elsif tg_op = 'DELETE' then
    ${insertRomFacts(signed('removed', -1))};
  else
    ${insertRomFacts(BOTH)};
    insert into library_counts (platform_id, min_age, kind, key, roms)
    select r.platform_id, r.min_age, 'provider', m.provider, sum(r.sign)
    from (${BOTH}) r join rom_matches m on m.rom_id = r.id and m.provider_id is not null
    where r.id in (select a.id from added a join removed b using (id)
      where (a.platform_id, a.min_age) is distinct from (b.platform_id, b.min_age))
    group by 1, 2, 4 having sum(r.sign) <> 0;
  end if;
  return null;
end $$`

/** Deleting a ROM deletes its matches, but by then its platform is unknown. So this trigger counts them before. */
const COUNT_MATCHES_OF_GONE = `create function count_matches_of_gone() returns trigger language plpgsql as $$ begin
  insert into library_counts (platform_id, min_age, kind, key, roms)
  select old.platform_id, old.min_age, 'provider', m.provider, -1
  from rom_matches m where m.rom_id = old.id and m.provider_id is not null;
  return old;
end $$`

const MATCHES = {
  added: 'select rom_id, provider, 1 as sign from added where provider_id is not null',
  removed: 'select rom_id, provider, -1 as sign from removed where provider_id is not null'
}
/** The lock waits for a change of a ROM's age, so that its matches count for the new age. */
const insertMatchFacts = (from: string) => `insert into library_counts (platform_id, min_age, kind, key, roms)
    with changed as (select rom_id, provider, sum(sign) as sign from (${from}) c group by 1, 2 having sum(sign) <> 0),
      held as (select r.id, r.platform_id, r.min_age from roms r where r.id in (select rom_id from changed)
        order by r.id for no key update)
    select r.platform_id, r.min_age, 'provider', c.provider, sum(c.sign)
    from changed c join held r on r.id = c.rom_id group by 1, 2, 4`
const COUNT_MATCHES = `create function count_matches() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    ${insertMatchFacts(MATCHES.added)};
  elsif tg_op = 'DELETE' then
    ${insertMatchFacts(MATCHES.removed)};
  else
    ${insertMatchFacts(`${MATCHES.added} union all ${MATCHES.removed}`)};
  end if;
  return null;
end $$`

/** Inserts the counts of a library whose changes no trigger has seen, such as a seeded one. */
export const INSERT_ALL_COUNTS = [
  insertRomFacts(signed('roms', 1)), insertMatchFacts('select rom_id, provider, 1 as sign from rom_matches where provider_id is not null')
]

/** These triggers equal those of the entities. */
const statementTriggers = (table: string, run: string) => [
  `create trigger ${run}_insert after insert on ${table} referencing new table as added for each statement execute function ${run}()`,
  `create trigger ${run}_update after update on ${table} referencing old table as removed new table as added for each statement execute function ${run}()`,
  `create trigger ${run}_delete after delete on ${table} referencing old table as removed for each statement execute function ${run}()`
]

/** Triggers that count ROMs by kind, so that no request has to read them all. */
export const counts = [
  COUNT_ROMS, COUNT_MATCHES_OF_GONE, COUNT_MATCHES,
  ...statementTriggers('roms', 'count_roms'), ...statementTriggers('rom_matches', 'count_matches'),
  'create trigger count_matches_of_gone before delete on roms for each row execute function count_matches_of_gone()'
]
