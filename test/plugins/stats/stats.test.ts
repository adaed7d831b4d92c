import fc from 'fast-check'
import t from 'tap'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import { compactCounts, selectCounts, selectPlayedWeeks } from '../../../plugins/stats/rows.ts'
import { openDb, setTimeZone } from '../../open-db.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'

const fresh = shareTestApp(t)

type Headers = Record<string, string>
interface Stats extends Record<string, unknown> {
  ROMS: number
  METADATA_COVERAGE: Record<string, { source: string, matched: number }[]>
  REGION_BREAKDOWN: Record<string, { region: string, count: number }[]>
  EXTENSION_BREAKDOWN: Record<string, { extension: string, count: number, size_bytes: number }[]>
}

async function stats ({ app, admin }: TestApp, headers: Headers = admin): Promise<Stats> {
  return (await app.inject({ url: '/api/stats?include_platform_stats=true', headers })).json()
}

const platformOf = async ({ app }: TestApp, slug: string): Promise<number> =>
  (await app.platforms.ensure(app.db, slug)).platform.id

const hide = ({ app }: TestApp, entity: string, id: number) => app.pg.query(`insert into hidden_entities
  (entity, entity_id, user_id) select $1, $2, id from users where username = 'bob'`, [entity, id])

t.test('an empty library has no counts', async (t) => {
  const test = await fresh(t)
  t.same((await test.app.inject({ url: '/api/stats', headers: test.admin })).json(), {
    PLATFORMS: 0, ROMS: 0, SAVES: 0, STATES: 0, SCREENSHOTS: 0, TOTAL_FILESIZE_BYTES: 0,
    METADATA_COVERAGE: {}, REGION_BREAKDOWN: {}, EXTENSION_BREAKDOWN: {}
  })
  t.equal((await test.app.inject('/api/stats')).statusCode, 401)
})

t.test('ROMs are counted by platform, provider, region and file type', async (t) => {
  const test = await fresh(t)
  const [snes, nes] = [await platformOf(test, 'snes'), await platformOf(test, 'nes')]
  await platformOf(test, 'gb')
  await addRom(test, {
    fs_name: 'A (USA, Europe).sfc', matches: { libretro: 'a', igdb: 1, steam: 2 }, fields: { fs_size_bytes: 10 }
  })
  await addRom(test, { fs_name: 'B (Europe).zip', matches: { igdb: 3 }, fields: { fs_size_bytes: 100 } })
  await addRom(test, { fs_name: 'C.nes', platform: 'nes', fields: { fs_size_bytes: 1000, missing_from_fs: true } })
  t.match(await stats(test), {
    PLATFORMS: 2,
    ROMS: 3,
    TOTAL_FILESIZE_BYTES: 1110,
    METADATA_COVERAGE: {
      [snes]: [{ source: 'igdb', matched: 2 }, { source: 'libretro', matched: 1 }, { source: 'steam', matched: 1 }], [nes]: []
    },
    EXTENSION_BREAKDOWN: {
      [snes]: [{ extension: 'zip', count: 1, size_bytes: 100 }, { extension: 'sfc', count: 1, size_bytes: 10 }],
      [nes]: [{ extension: 'nes', count: 1, size_bytes: 1000 }]
    }
  })
  t.same((await stats(test)).REGION_BREAKDOWN, { [snes]: [{ region: 'Europe', count: 2 }, { region: 'USA', count: 1 }] })
})

t.test('uploads count if the caller may see them and they are not deleted', async (t) => {
  const test = await fresh(t)
  const rom = await addRom(test, { fs_name: 'A.sfc' })
  const secret = await addRom(test, { fs_name: 'B.sfc' })
  const bob = await test.createUser('bob')
  await hide(test, 'roms', secret)
  for (const [kind, user, of, isPublic] of [['save', 'admin', rom, false], ['save', 'bob', rom, false], ['state', 'bob', rom, true],
    ['screenshot', 'bob', rom, false], ['screenshot', 'admin', rom, true], ['save', 'bob', secret, false], ['state', 'admin', secret, true]]) {
    await test.app.pg.query(`insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path, is_public)
      select $1, id, $3, 'snes', 'A.sfc', 'x', 'x', 'x', $4 from users where username = $2`, [kind, user, of, isPublic])
  }
  await test.app.pg.query(`insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1,
    disk_path, deleted_at, deleted_by) select 'save', id, $1, 'snes', 'A.sfc', 'x', 'x', 'x', now(), 'owner' from users`, [rom])
  t.match(await stats(test), { SAVES: 1, STATES: 2, SCREENSHOTS: 1 })
  t.match(await stats(test, bob), { SAVES: 1, STATES: 1, SCREENSHOTS: 2 })
})

t.test('V9: hidden ROMs, also by platform or age limit, are not counted', async (t) => {
  const test = await fresh(t)
  const bob = await test.createUser('bob')
  await addRom(test, { fs_name: 'Open (USA).sfc', matches: { igdb: 1 }, fields: { fs_size_bytes: 1, min_age: 6 } })
  const secret = await addRom(test, {
    fs_name: 'Secret (Japan).bin', matches: { moby: 1 }, fields: { fs_size_bytes: 10, min_age: 6 }
  })
  await addRom(test, { fs_name: 'Grown (France).iso', matches: { ss: 1 }, fields: { fs_size_bytes: 100, min_age: 18 } })
  await addRom(test, { fs_name: 'A.nes', platform: 'nes', matches: { ra: 1 }, fields: { fs_size_bytes: 1000 } })
  await hide(test, 'roms', secret)
  await hide(test, 'platforms', await platformOf(test, 'nes'))
  await test.app.pg.query("update users set age_limit = 12 where username = 'bob'")
  const snes = await platformOf(test, 'snes')
  t.same(await stats(test, bob), {
    PLATFORMS: 1,
    ROMS: 1,
    SAVES: 0,
    STATES: 0,
    SCREENSHOTS: 0,
    TOTAL_FILESIZE_BYTES: 1,
    METADATA_COVERAGE: { [snes]: [{ source: 'igdb', matched: 1 }] },
    REGION_BREAKDOWN: { [snes]: [{ region: 'USA', count: 1 }] },
    EXTENSION_BREAKDOWN: { [snes]: [{ extension: 'sfc', count: 1, size_bytes: 1 }] }
  })
  t.match(await stats(test), { ROMS: 4, TOTAL_FILESIZE_BYTES: 1111 })
})

t.test('the counts follow every change, in any order of writes', async (t) => {
  const test = await fresh(t)
  const { app } = test
  const platforms = [await platformOf(test, 'snes'), await platformOf(test, 'nes')]
  const run = (sql: string, values: unknown[] = []) => app.pg.query(sql, values)
  const somewhere = fc.record({
    place: fc.integer({ min: 0, max: 1 }), rom: fc.integer({ min: 0, max: 3 }), age: fc.constantFrom(null, 6, 18),
    provider: fc.constantFrom('igdb', 'ss'), step: fc.constantFrom('add', 'age', 'grow', 'match', 'unmatch', 'drop', 'compact')
  })
  interface At { platform: number, rom: number, age: number | null, provider: string }
  const steps: Record<string, (at: At) => Promise<unknown>> = {
    add: ({ platform, rom, age }) => run(`insert into roms (platform_id, fs_name, fs_path, fs_extension, fs_name_no_tags,
      fs_name_no_ext, fs_size_bytes, regions, min_age) values ($1, $2, 'x', 'sfc', 'x', 'x', 5, '{USA,Japan}', $3)
      on conflict (platform_id, fs_name, library_id) do update set regions = '{USA}'`, [platform, `rom ${rom}`, age]),
    age: ({ rom, age }) => run('update roms set min_age = $1 where fs_name <= $2', [age, `rom ${rom}`]),
    grow: ({ platform }) => run("update roms set fs_size_bytes = fs_size_bytes * 2, fs_extension = 'zip' where platform_id = $1", [platform]),
    match: ({ rom, provider }) => run(`insert into rom_matches (rom_id, provider, provider_id, match)
      select id, $1, case when $1 = 'ss' and id % 2 = 0 then null else '7' end, '{}' from roms where fs_name = $2
      on conflict (rom_id, provider) do update set provider_id = null`, [provider, `rom ${rom}`]),
    unmatch: ({ provider }) => run('delete from rom_matches where provider = $1', [provider]),
    drop: ({ rom, platform }) => run('delete from roms where fs_name >= $1 and platform_id = $2', [`rom ${rom}`, platform]),
    compact: () => compactCounts(app.db)
  }
  const counted = `select platform_id, kind, key, sum(roms)::int as roms, sum(bytes)::int as bytes from (
    select platform_id, 'extension' as kind, fs_extension as key, 1 as roms, fs_size_bytes as bytes from roms
    union all select platform_id, 'region', unnest(regions), 1, fs_size_bytes from roms
    union all select platform_id, 'provider', provider, 1, 0 from rom_matches m join roms r on r.id = m.rom_id
      where provider_id is not null) x group by 1, 2, 3 order by 1, 2, 3`
  const key = (row: object) => JSON.stringify(row)
  await fc.assert(fc.asyncProperty(fc.array(somewhere, { maxLength: 25 }), async (history) => {
    for (const { step, place, ...at } of history) await steps[step]?.({ ...at, platform: platforms[place] ?? 0 })
    const expected = (await run(counted)).rows.map(key).sort()
    const found = (await selectCounts({ db: app.db, caller: null }))
      .map(({ platform_id: id, kind, key: name, roms, bytes }) =>
        key({ platform_id: id, kind, key: name, roms, bytes }))
      .sort()
    t.same(found, expected)
    await run('delete from roms')
    t.same(await selectCounts({ db: app.db, caller: null }), [])
  }), { numRuns: 25 })
})

t.test('counting reads no ROM, however many there are', async (t) => {
  const test = await fresh(t)
  for (const name of ['A.sfc', 'B.sfc', 'C.sfc']) await addRom(test, { fs_name: name, matches: { igdb: name } })
  const client = await test.app.pg.connect()
  try {
    // Without triggers a deletion does not change the counts. So the counts do not come from reading the ROMs.
    await client.query('begin; set local session_replication_role = replica; delete from roms; delete from rom_matches; commit')
  } finally {
    client.release()
  }
  t.match(await stats(test), { ROMS: 3, METADATA_COVERAGE: { [await platformOf(test, 'snes')]: [{ matched: 3 }] } })
})

t.test('play time is shown by ROM, and by week and platform, of the caller alone', async (t) => {
  const test = await fresh(t)
  const bob = await test.createUser('bob')
  const [one, other] = [await addRom(test, { fs_name: 'One.sfc' }), await addRom(test, { fs_name: 'Other.nes', platform: 'nes' })]
  const secret = await addRom(test, { fs_name: 'Secret.sfc' })
  await hide(test, 'roms', secret)
  const play = (user: string, rom: number, ago: string, minutes: number) => test.app.pg.query(`insert into play_sessions
    (user_id, identity, rom_id, start_time, end_time, duration_ms) select id, gen_random_uuid()::text, $2,
    date_trunc('week', now()) - $3::interval, date_trunc('week', now()) - $3::interval + make_interval(mins => $4::int),
    $4::int * 60000 from users where username = $1`, [user, rom, ago, minutes])
  await play('bob', one, '0', 10)
  await play('bob', one, '1 week', 20)
  await play('bob', other, '1 week', 50)
  await play('bob', other, '20 weeks', 5)
  await play('bob', secret, '0', 500)
  await play('admin', one, '0', 500)
  const get = async (url: string) =>
    (await test.app.inject({ url, headers: bob })).json<{ most_played: object[], weeks: { week: string }[] }>()
  const { most_played: most, weeks } = await get('/api/stats/play')
  t.match(most, [
    { rom_id: other, name: 'Other', total_ms: 55 * 60_000, sessions: 2, last_played: /^\d{4}-/ },
    { rom_id: one, total_ms: 30 * 60_000, sessions: 2 }
  ])
  t.match(weeks, [
    { platform_display_name: /Super/, total_ms: 10 * 60_000, sessions: 1 }, { total_ms: 50 * 60_000 }, { total_ms: 20 * 60_000 }
  ])
  t.equal(weeks.length, 3)
  t.ok(weeks.every(({ week }) => new Date(week).getUTCDay() === 1), 'weeks begin on Monday')
  t.equal((await get('/api/stats/play?weeks=1')).weeks.length, 1)
  t.equal((await get('/api/stats/play?limit=1')).most_played.length, 1)
})

t.test('weeks begin on Monday in UTC, also in a database of another time zone', async (t) => {
  const test = await fresh(t)
  const rom = await addRom(test, { fs_name: 'One.sfc' })
  const { rows: [user] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'admin'")
  const caller = { id: user?.id ?? 0, access: ADMIN_ACCESS }
  const today = new Date().setUTCHours(0, 0, 0, 0)
  const monday = today - (new Date(today).getUTCDay() + 6) % 7 * 86_400_000
  const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)
  const week = 7 * 86_400_000
  for (const [minutes, start] of [monday, monday - 1, monday - week, monday - week - 1].entries()) {
    await test.app.pg.query(`insert into play_sessions (user_id, identity, rom_id, start_time, end_time, duration_ms)
      values ($1, $2, $3, $4, $4, $5)`, [caller.id, start, rom, new Date(start), 2 ** minutes])
  }
  for (const zone of ['Pacific/Auckland', 'America/Los_Angeles']) {
    const { db, close } = await openDb(setTimeZone(test.databaseUrl, zone), 1)
    t.teardown(close)
    const weeks = await selectPlayedWeeks({ db, caller }, 2)
    const found = weeks.map(({ week: day, total_ms: played }) => [day, played])
    t.same(found, [[dateOf(monday), 1], [dateOf(monday - week), 6]], zone)
  }
})
