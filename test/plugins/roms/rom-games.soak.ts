import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { Value } from '@sinclair/typebox/value'
import { allOf } from '../../../core/database/conditions.ts'
import { romAssets } from '../../../plugins/assets/rom-assets.ts'
import { selectVersions } from '../../../plugins/library-versions/version-rows.ts'
import type { AnyCaller } from '../../../plugins/platforms/visibility.ts'
import { selectCountedValues, selectFilterValues } from '../../../plugins/roms/filters/filter-value-rows.ts'
import { isNotHidden, isOfPlatform } from '../../../plugins/roms/filters/list-conditions.ts'
import { ListRomsQuery } from '../../../plugins/roms/filters/list-query.ts'
import { type CachedList, createListCache } from '../../../plugins/roms/lists/list-cache.ts'
import { selectListIndex } from '../../../plugins/roms/lists/list-index-rows.ts'
import { readOrder } from '../../../plugins/roms/lists/list-order.ts'
import { listCondition } from '../../../plugins/roms/lists/query-conditions.ts'
import { markedRoms } from '../../../plugins/roms/rows.ts'
import { isRomVisible } from '../../../plugins/roms/visibility.ts'
import { shareTestApp } from '../../support.ts'
import { PRIORITY, VIEWERS, alike, change, id, limited, refill, type Change } from './rom-games-support.ts'

const fresh = shareTestApp(t)

const EDIT = `update roms set name_sort_key = $2, fs_size_bytes = $3, genres = $4, age_ratings = $5, min_age = $6, missing_from_fs = $7,
  updated_at = now() where id = $1`
const HIDE = `insert into rom_users (rom_id, user_id, hidden) values ($1, 1, true)
  on conflict (rom_id, user_id) do update set hidden = not rom_users.hidden`

/** Changes of values by which lists are sorted and filtered, and of what a user or a group sees. */
const edit: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: change },
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
  alike('delete from rom_dumps')
)

const LISTS: Partial<ListRomsQuery>[] = [
  {}, { group_by_meta_id: true }, { genres: ['Quiz'], order_dir: 'desc' }, { order_by: 'fs_size_bytes' }, { order_by: 'igdb_id', order_dir: 'desc' },
  { duplicate: true }, { duplicate: false, order_by: 'updated_at' }, { group_by_meta_id: true, genres: ['Quiz'], order_by: 'age_ratings' },
  { verified: true }, { playable: true },
  { genres: ['Puzzle', 'Quiz'], genres_logic: 'all', platform_ids: [1] },
  { search_term: 'game', matched: false, missing: false }
]
const PAGE_ONLY = {
  limit: 3, with_total: false, with_char_index: false, with_rom_id_index: false, with_filter_values: false
}
const BOB: AnyCaller = { id: 2, access: limited.access }

t.test('lists and values that follow changes equal those of the whole library', async (t) => {
  const { app, ...test } = await fresh(t)
  await test.createUser('bob')
  await app.pg.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES'), (2, 'gb', 'gb', 'Game Boy')")
  const extensions = { providers: app.roms.providers, userFiles: romAssets }
  const { identifying } = extensions.providers
  const cache = createListCache({ longReads: app.longReads, shortReads: app.shortReads, identifying })

  async function check (changes: Partial<ListRomsQuery>, caller: AnyCaller): Promise<void> {
    const query = { ...Value.Create(ListRomsQuery), ...changes }
    const order = readOrder(query.order_by, query.order_dir, extensions.providers)
    const condition: CachedList['condition'] = (viewer, isForFew) =>
      listCondition(viewer, extensions, query, { order, regionPriority: PRIORITY, isForFew })
    const versions = await selectVersions(app.db, caller?.id ?? null)
    const found = await cache.index({ caller, versions, query, condition, by: PRIORITY }, order)
    const source = { userId: caller?.id ?? null, order }
    const { index: whole } = await selectListIndex(app.longReads, source, condition(caller, false))
    deepEqual([...found.toIds()], [...whole.toIds()], JSON.stringify([query, caller]))
    deepEqual(found.offsets, whole.offsets, 'the offsets of characters')
    // The settings have other regions first.
    if (query.group_by_meta_id) return
    const page = await app.roms.list({ db: app.db, caller }, { ...query, ...PAGE_ONLY })
    const ids = page.items.map(({ shared }) => (JSON.parse(shared) as { id: number }).id)
    deepEqual(ids, [...whole.toIds()].slice(0, PAGE_ONLY.limit), 'a page without a total')
  }

  async function checkValues (caller: AnyCaller): Promise<void> {
    for (const platforms of [null, [2]]) {
      const isOfScope = platforms === null ? [] : [isOfPlatform(2)]
      const isListed = allOf([isRomVisible(caller), isNotHidden(caller, false), ...isOfScope])
      const whole = await selectFilterValues(app.longReads, caller?.id ?? null, isListed)
      const counted = await selectCountedValues(app.longReads, caller, platforms)
      deepEqual(counted.values, whole, JSON.stringify([platforms, caller]))
      const { rows } = await sql<{ value: string, roms: number }>`select value, count(*)::int as roms
        from ${markedRoms(caller?.id ?? null)} cross join lateral unnest(r.regions) value where ${isListed} group by 1`.execute(app.longReads)
      deepEqual({ ...counted.counts?.regions }, Object.fromEntries(rows.map(({ value, roms }) => [value, roms])), 'ROMs by region')
    }
  }

  const edits = fc.array(edit, { minLength: 1, maxLength: 5 })
  const lists = fc.subarray(LISTS, { minLength: 2, maxLength: 2 })
  await fc.assert(fc.asyncProperty(edits, lists, async (changes, some) => {
    await refill({ app })
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
