/**
 * Providers whose ids decide which ROMs are one game, most trusted first. Ids of other providers are evaluated by the
 * statements of lists.
 */
const TRUSTED = "'{igdb,ss,moby,ra,hasheous,launchbox,tgdb,flashpoint}'::text[]"
const isEarly = (name: string) => `${name} ~* '[(\\[](demo|beta|proto|sample|kiosk|preview)'`
const hasId = 'provider_id is not null'

const idsOf = (order: string, which: string) =>
  `coalesce(array_agg(m.provider || ':' || m.provider_id order by ${order}) filter (where ${which}), '{}')`
const place = `array_position(${TRUSTED}, m.provider)`
const insertGames = (which: string) => `insert into rom_games (rom_id, platform_id, ids, other_ids, is_early, region, fs_name_no_ext)
    select r.id, r.platform_id, k.ids, k.other_ids, ${isEarly('r.fs_name')}, r.regions[1], r.fs_name_no_ext
    from (select m.rom_id, ${idsOf(place, `${place} is not null`)} as ids,
        ${idsOf('m.provider collate "C"', `${place} is null`)} as other_ids
      from rom_matches m where m.${hasId} and ${which} group by m.rom_id) k
    join roms r on r.id = k.rom_id`

/** Inserts the rows of a library whose changes no trigger has seen, such as a seeded one. */
export const INSERT_ALL_GAMES = insertGames('true')

const matchesOf = (table: string) => `select rom_id, provider, provider_id from ${table}`

/** The later of two transactions that change matches of one ROM waits, and then sees the changes of the earlier. */
const KEEP_GAMES = `create function keep_games () returns trigger language plpgsql as $$ declare changed int[];
begin
  if tg_op = 'INSERT' then
    changed := array(select distinct rom_id from added where ${hasId});
  elsif tg_op = 'DELETE' then
    changed := array(select distinct rom_id from removed where ${hasId});
  else
    changed := array(select distinct rom_id from (
      (${matchesOf('added')} except ${matchesOf('removed')}) union all (${matchesOf('removed')} except ${matchesOf('added')})) c);
  end if;
  if changed = '{}' then return null; end if;
  perform from roms where id = any(changed) order by id for no key update;
  delete from rom_games where rom_id = any(changed);
  ${insertGames('m.rom_id = any(changed)')};
  return null;
end $$`

const KEEP_PLACE = `create function keep_place_of_game () returns trigger language plpgsql as $$ begin
  update rom_games set platform_id = new.platform_id, is_early = ${isEarly('new.fs_name')}, region = new.regions[1],
    fs_name_no_ext = new.fs_name_no_ext where rom_id = new.id;
  return null;
end $$`

/** These triggers equal those of the entities. */
const PLACE = ['platform_id', 'fs_name', 'fs_name_no_ext', 'regions']
const isOther = PLACE.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')
const keepGames = [
  ['insert', 'new table as added'], ['update', 'old table as removed new table as added'], ['delete', 'old table as removed']
].map(([event, rows]) => `create trigger keep_games_${event} after ${event} on rom_matches referencing ${rows} ` +
  'for each statement execute function keep_games()')

/** Triggers that keep `rom_games`. */
export const games = [
  KEEP_GAMES, KEEP_PLACE, ...keepGames,
  `create trigger keep_place_of_game after update of ${PLACE.join(', ')} on roms for each row ` +
    `when (${isOther}) execute function keep_place_of_game()`
]
