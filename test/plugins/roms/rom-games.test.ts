import pg from 'pg'
import t, { type Test } from 'tap'
import { type TestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from './support.ts'

const fresh = shareTestApp(t)

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
