import { isRepresentative } from '../../../plugins/roms/lists/grouping.ts'
import { isBestOfGroup } from '../../../plugins/roms/lists/grouping.ts'
import { IDENTIFYING } from '../../../plugins/plugins/known-providers.ts'
import { hasSiblings } from '../../../plugins/roms/filters/siblings.ts'
import { hasSibling } from '../../../plugins/roms/filters/siblings.ts'
import { INSERT_ALL_GAMES } from '../../../plugins/migrations/initial/games.ts'
import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { sql, type RawBuilder } from 'kysely'
import t from 'tap'
import { Value } from '@sinclair/typebox/value'
import { allOf } from '../../../core/database/conditions.ts'
import { romAssets } from '../../../plugins/assets/rom-assets.ts'
import { selectVersions } from '../../../plugins/library-versions/version-rows.ts'
import type { AnyCaller } from '../../../plugins/platforms/visibility.ts'
import { selectCountedValues, selectFilterValues } from '../../../plugins/roms/filters/filter-value-rows.ts'
import { isNotHidden, isOfPlatform } from '../../../plugins/roms/filters/list-conditions.ts'
import { ListRomsQuery } from '../../../plugins/roms/filters/list-query.ts'
import { createListCache } from '../../../plugins/roms/lists/list-cache.ts'
import { selectListIndex, selectSortedIds } from '../../../plugins/roms/lists/list-index-rows.ts'
import { readOrder } from '../../../plugins/roms/lists/list-order.ts'
import { prepareConditions } from '../../../plugins/roms/lists/query-conditions.ts'
import { markedRoms } from '../../../plugins/roms/rows.ts'
import { virtualId } from '../../../plugins/roms/virtual-collections.ts'
import { isRomVisible } from '../../../plugins/roms/visibility.ts'
import { shareTestApp, type TestApp } from '../../support.ts'
import { PRIORITY, VIEWERS, alike, change, id, limited, refill, type Change } from './rom-games-support.ts'

const fresh = shareTestApp(t)

const EDIT = `update roms set name_sort_key = $2, fs_size_bytes = $3, genres = $4, age_ratings = $5, min_age = $6, missing_from_fs = $7,
  updated_at = now() where id = $1`
const HIDE = `insert into rom_users (rom_id, user_id, hidden) values ($1, 1, true)
  on conflict (rom_id, user_id) do update set hidden = not rom_users.hidden`

const MARK_PLAYED = `insert into rom_users (rom_id, user_id, now_playing, status, last_played) values ($1, $2, true, $3, now())
  on conflict (rom_id, user_id) do update set now_playing = not rom_users.now_playing, status = excluded.status, last_played = null`
const SAVE = `insert into assets (kind, rom_id, user_id, is_public, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path)
  values ('save', $1, $2, $3, 'snes', 'a', 'a.sav', '', 'a/' || gen_random_uuid())`
const user = fc.constantFrom(1, 2)
/** Changes of what belongs to users. */
const ownEdit: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(id, user, fc.constantFrom('finished', 'retired')).map((values): Change => [MARK_PLAYED, values]),
  fc.tuple(user, id).map((values): Change => ['insert into collection_roms (collection_id, rom_id) values ($1, $2) on conflict do nothing', values]),
  fc.tuple(user, id).map((values): Change => ['delete from collection_roms where collection_id = $1 and rom_id = $2', values]),
  fc.tuple(id, user, fc.boolean()).map((values): Change => [SAVE, values])
)

/** Changes of values by which lists are sorted and filtered, and of what a user or a group sees. */
const edit: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: change },
  { weight: 4, arbitrary: ownEdit },
  {
    weight: 4, arbitrary: fc.tuple(id, fc.constantFrom('a', 'b', 'c', 'é'), fc.integer({ min: 1, max: 3 }), fc.subarray(['Quiz', 'Puzzle']),
      fc.subarray(['E', 'M']), fc.constantFrom(null, 6, 18), fc.boolean()).map((values): Change => [EDIT, values])
  },
  id.map((rom): Change => [HIDE, [rom]]),
  id.map((rom): Change =>
    ["insert into hidden_entities (entity, entity_id, group_id) values ('roms', $1, 1) on conflict do nothing", [rom]]),
  alike("insert into hidden_entities (entity, entity_id, user_id) values ('platforms', 2, 1) on conflict do nothing"),
  alike('delete from hidden_entities'), alike("update platforms set slug = case slug when 'gb' then 'other' else 'gb' end where id = 2"),
  alike("insert into rom_dumps (rom_id, status, compared_at) select id, 'verified', now() from roms where id % 2 = 0 on conflict do nothing"),
  alike('delete from rom_dumps'), alike('update roms set library_id = 3 - library_id where id % 3 = 0')
)

const PUZZLES = virtualId({ type: 'genre', name: 'Puzzle' })
const LISTS: Partial<ListRomsQuery>[] = [
  {}, { group_by_meta_id: true }, { genres: ['Quiz'], order_dir: 'desc' }, { order_by: 'fs_size_bytes' }, { order_by: 'igdb_id', order_dir: 'desc' },
  { duplicate: true }, { duplicate: false, order_by: 'updated_at' }, { group_by_meta_id: true, genres: ['Quiz'], order_by: 'age_ratings' },
  { verified: true }, { playable: true }, { missing: false }, { matched: true, missing: true }, { matched: false, genres: ['Quiz'] },
  { genres: ['Puzzle', 'Quiz'], genres_logic: 'all', platform_ids: [1] },
  { genres: ['Quiz'], genres_logic: 'none', player_counts: ['1'] }, { search_term: 'game', genres: ['Quiz'], virtual_collection_id: PUZZLES },
  { search_term: 'game', matched: false, missing: false },
  { group_by_meta_id: true, search_term: 'game', missing: false }, { group_by_meta_id: true, duplicate: true },
  { favorite: true }, { favorite: false, missing: false }, { collection_id: 2, genres: ['Quiz'], genres_logic: 'none' },
  { has_saves: true, order_by: 'fs_size_bytes' }, { has_saves: false, matched: true }, { last_played: true, search_term: 'game' },
  { last_played: false }, { statuses: ['finished', 'now_playing'], order_by: 'rating' }, { dump_statuses: ['verified', 'bad'] },
  { statuses: ['finished', 'now_playing'], statuses_logic: 'all' }, { statuses: ['finished', 'hidden'] }, { statuses: ['unknown'] },
  { statuses: ['retired', 'now_playing'], statuses_logic: 'none', favorite: false }, { favorite: true, group_by_meta_id: true },
  { order_dir: 'desc' }, { order_dir: 'desc', group_by_meta_id: true }, { order_dir: 'desc', platform_ids: [1], missing: false },
  { updated_after: '2000-01-01T00:00:00Z', matched: true }, { updated_after: '2100-01-01T00:00:00Z' },
  { library_ids: [1], matched: true }, { library_ids: [1, 2] }, { duplicate: true, search_term: 'game' }, { duplicate: false, matched: true },
  { metadata_providers: ['igdb', 'ss', 'igdb'] }, { metadata_providers: ['igdb', 'ss'], metadata_providers_logic: 'all', matched: true },
  { metadata_providers: ['igdb', 'unknown'], metadata_providers_logic: 'none', group_by_meta_id: true }
]
const PAGE_ONLY = {
  limit: 3, with_total: false, with_char_index: false, with_rom_id_index: false, with_filter_values: false
}
const BOB: AnyCaller = { id: 2, access: limited.access }

t.test('lists and values that follow changes equal those of the whole library', async (t) => {
  const { app, ...test } = await fresh(t)
  await test.createUser('bob')
  await app.pg.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES'), (2, 'gb', 'gb', 'Game Boy')")
  await app.pg.query(`insert into collections (id, user_id, name, is_favorite, is_public) values (1, 1, 'Own', true, false),
    (2, 2, 'Public', true, true)`)
  const extensions = { providers: app.roms.providers, userFiles: romAssets }
  const { identifying } = extensions.providers
  const parts = { longReads: app.longReads, shortReads: app.shortReads, identifying }
  // Few ROMs are sorted anew; as if they were many, they are picked from longer lists.
  const caches = [createListCache(parts), createListCache({ ...parts, fewRoms: 0 })]

  async function check (changes: Partial<ListRomsQuery>, caller: AnyCaller): Promise<void> {
    const { query, order } = readOrder({ ...Value.Create(ListRomsQuery), ...changes }, extensions.providers)
    const options = { query, order, regionPriority: PRIORITY }
    const conditions = await prepareConditions({ db: app.db, caller }, extensions, options)
    const versions = await selectVersions(app.db, caller?.id ?? null)
    const list = conditions.describe(query, { caller, versions, settings: PRIORITY })
    const source = { userId: caller?.id ?? null, order }
    const { index: whole } = await selectListIndex(app.longReads, source, list.condition(caller, true))
    const { index: byTables } = await selectListIndex(app.longReads, source, list.condition(caller, false))
    deepEqual([...byTables.toIds()], [...whole.toIds()], JSON.stringify([query, caller]))
    for (const cache of caches) {
      const found = await cache.index(list, order)
      deepEqual([...found.toIds()], [...whole.toIds()], JSON.stringify([query, caller]))
      deepEqual(found.offsets, whole.offsets, 'the offsets of characters')
    }
    // The settings have other regions first.
    if (query.group_by_meta_id) return
    const page = await app.roms.list({ db: app.db, caller }, { ...query, ...PAGE_ONLY })
    const ids = page.items.map(({ shared }) => (JSON.parse(`${shared.toString()}}`) as { id: number }).id)
    deepEqual(ids, [...whole.toIds()].slice(0, PAGE_ONLY.limit), 'a page without a total')
    const { total } = await app.roms.list({ db: app.db, caller }, { ...query, ...PAGE_ONLY, with_total: true })
    deepEqual(total, whole.length)
  }

  async function checkValues (caller: AnyCaller): Promise<void> {
    for (const platforms of [null, [2]]) {
      const isOfScope = platforms === null ? [] : [isOfPlatform(2)]
      const isListed = allOf([isRomVisible(caller), isNotHidden(caller, false), ...isOfScope])
      const ids = await selectSortedIds(app.longReads, caller?.id ?? null, isListed)
      const stored = await selectFilterValues(app.longReads, ids)
      const { rows: roms } = await sql<{ genres: string[], platform_id: number }>`select r.genres, r.platform_id
        from ${markedRoms(caller?.id ?? null)} where ${isListed}`.execute(app.longReads)
      const genres = [...new Set(roms.flatMap((rom) => rom.genres))].sort()
      deepEqual(stored.genres, genres, JSON.stringify([platforms, caller]))
      deepEqual(stored.platforms, [...new Set(roms.map((rom) => rom.platform_id))].sort())
      const counted = await selectCountedValues(app.longReads, caller, platforms)
      deepEqual(counted.values, stored, JSON.stringify([platforms, caller]))
      const { rows } = await sql<{ value: string, roms: number }>`select value, count(*)::int as roms
        from ${markedRoms(caller?.id ?? null)} cross join lateral unnest(r.regions) value where ${isListed} group by 1`.execute(app.longReads)
      deepEqual({ ...counted.counts?.regions }, Object.fromEntries(rows.map(({ value, roms }) => [value, roms])), 'ROMs by region')
    }
  }

  const edits = fc.array(edit, { minLength: 1, maxLength: 5 })
  const lists = fc.subarray(LISTS, { minLength: 2, maxLength: 2 })
  await fc.assert(fc.asyncProperty(edits, lists, async (changes, some) => {
    await refill({ app })
    await app.pg.query('delete from collection_roms; delete from assets')
    const checkAllLists = async () => {
      for (const caller of [...VIEWERS, BOB]) {
        for (const list of some) await check(list, caller)
        await checkValues(caller)
      }
    }
    await checkAllLists()
    for (const [text, values] of changes) {
      await app.pg.query('delete from former_roms')
      await app.pg.query(text, [...values])
      await checkAllLists()
    }
  }), { numRuns: 15 })
})

/**
 * Identifying providers, two of them community plugins. Other providers with ids, such as one for covers, do not group
 * ROMs.
 */
const KEYS = [...IDENTIFYING, 'acme', 'zed']

/** True for one ROM of each group, computed from all current ROMs and matches. */
function isFirst (from: RawBuilder<unknown>, condition: RawBuilder<boolean>) {
  const first = sql`select m.rom_id, min(lpad(array_position(${KEYS}::text[], m.provider)::text, 6, '0') || m.provider_id) as key
    from rom_matches m where m.provider = any(${KEYS}::text[]) group by m.rom_id`
  return sql<boolean>`(${condition} and r.id not in (select g.id from (
    select r.id, row_number() over (partition by r.platform_id, k.key
      order by coalesce(u.is_main_sibling, false) desc, r.fs_name ~* '[(\\[](demo|beta|proto|sample|kiosk|preview)',
        array_position('{USA,Europe}'::text[], r.regions[1]) nulls last, r.fs_name_no_ext, r.id) as rank
    from ${from} join (${first}) k on k.rom_id = r.id where k.key is not null and ${condition}) g where g.rank > 1))`
}

/** True for ROMs with siblings, computed from all current ROMs and matches. */
const isSibling = (caller: AnyCaller) => sql<boolean>`r.id in (
  select unnest(array_agg(r.id)) from rom_matches m join roms r on r.id = m.rom_id
  where m.provider = any(${KEYS}::text[]) and m.provider_id is not null and ${isRomVisible(caller)}
  group by r.platform_id, m.provider, m.provider_id having count(*) > 1)`

async function select ({ app }: TestApp, condition: RawBuilder<boolean>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select r.id from ${markedRoms(1)} where ${condition} order by r.id`
    .execute(app.db)
  return rows.map((row) => row.id)
}

async function checkAll (test: TestApp): Promise<void> {
  const check = async (is: RawBuilder<boolean>, wanted: RawBuilder<boolean>, what: string) => {
    deepEqual(await select(test, is), await select(test, wanted), what)
  }
  for (const caller of VIEWERS) {
    const visible = isRomVisible(caller)
    for (const condition of [visible, sql<boolean>`(${visible} and r.regions && '{Japan}')`]) {
      for (const isChosen of [isRepresentative, isBestOfGroup]) {
        const is = isChosen(markedRoms(1), condition, KEYS, PRIORITY)
        await check(sql<boolean>`(${condition} and ${is})`, isFirst(markedRoms(1), condition), isChosen.name)
      }
    }
    const siblings = sql<boolean>`(${visible} and ${isSibling(caller)})`
    for (const having of [hasSiblings, hasSibling]) {
      await check(sql<boolean>`(${visible} and ${having(KEYS, caller)})`, siblings, having.name)
    }
  }
}

t.test('groups and siblings follow every change of ROMs and matches, for each caller', async (t) => {
  const test = await fresh(t)
  const { pg: pool } = test.app
  await pool.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES'), (2, 'gb', 'gb', 'Game Boy')")
  const kept = async () => (await pool.query('select * from rom_games order by rom_id')).rows
  await fc.assert(fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
    await refill(test)
    for (const [text, values] of changes) {
      // A scan that gives a ROM its former id deletes it from this table.
      await pool.query('delete from former_roms')
      await pool.query(text, [...values])
    }
    await checkAll(test)
    const following = await kept()
    await pool.query('delete from rom_games')
    await pool.query(INSERT_ALL_GAMES)
    deepEqual(following, await kept(), 'as of a library that is seen for the first time')
  }), { numRuns: 15 })
})
