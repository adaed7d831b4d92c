import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { INSERT_ALL_GAMES } from '../../../plugins/migrations/initial/games.ts'
import { IDENTIFYING } from '../../../plugins/plugins/known-providers.ts'
import type { AnyCaller } from '../../../plugins/platforms/visibility.ts'
import { hasSibling, hasSiblings } from '../../../plugins/roms/filters/siblings.ts'
import { isBestOfGroup, isRepresentative } from '../../../plugins/roms/lists/grouping.ts'
import { markedRoms } from '../../../plugins/roms/rows.ts'
import { isRomVisible } from '../../../plugins/roms/visibility.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from './support.ts'
import { PRIORITY, VIEWERS, change, refill } from './rom-games-support.ts'

const fresh = shareTestApp(t)

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

t.test('the order of identifying providers equals the order of stored ids', async (t) => {
  const test = await fresh(t)
  const all = [...test.app.roms.providers.identifying]
  const matches = Object.fromEntries([...all, 'acme', 'zed'].toReversed().map((key) => [key, 1]))
  const rom = await addRom(test, { fs_name: 'Game.sfc', matches })
  const { rows } = await test.app.pg.query('select ids, other_ids from rom_games where rom_id = $1', [rom])
  t.same(rows, [{ ids: all.map((key) => `${key}:1`), other_ids: ['acme:1', 'zed:1'] }], 'others by name')
})

/** Runs two changes of one ROM at once; the second has to wait for the first. */
async function changeAtOnce (t: Test, { app, databaseUrl }: TestApp, [first, second]: [string, string]): Promise<void> {
  const [one, other] = [1, 2].map(() => new pg.Client({ connectionString: databaseUrl }))
  if (one === undefined || other === undefined) throw new Error('There are two clients')
  t.teardown(() => Promise.all([one.end(), other.end()]))
  for (const client of [one, other]) await client.connect()
  await one.query('begin')
  await one.query(first)
  const later = other.query(second)
  const isWaiting = async () => (await app.pg.query(`select from pg_stat_activity where wait_event_type = 'Lock'
    and datname = current_database()`)).rows.length === 1
  await until(isWaiting, 'the second to wait')
  await one.query('commit')
  await later
}

t.test('two concurrent changes of one ROM both take effect', async (t) => {
  const test = await fresh(t)
  const match = (rom: number, key: string) => `insert into rom_matches (rom_id, provider, provider_id, match) values (${rom}, '${key}', '1', '{}')`
  const a = await addRom(test, { fs_name: 'A (Japan).sfc' })
  const b = await addRom(test, { fs_name: 'B.sfc', matches: { igdb: 1 } })
  const c = await addRom(test, { fs_name: 'C.sfc', matches: { igdb: 1 } })
  await changeAtOnce(t, test, [match(a, 'ss'), match(a, 'igdb')])
  await changeAtOnce(t, test, [`update roms set regions = '{USA}' where id = ${b}`, match(b, 'ra')])
  await changeAtOnce(t, test, [match(c, 'ss'), `update roms set regions = '{Europe}' where id = ${c}`])
  const { rows } = await test.app.pg.query('select ids, region from rom_games order by rom_id')
  t.same(rows, [
    { ids: ['igdb:1', 'ss:1'], region: 'Japan' }, { ids: ['igdb:1', 'ra:1'], region: 'USA' }, { ids: ['igdb:1', 'ss:1'], region: 'Europe' }
  ])
})
