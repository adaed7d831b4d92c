import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { tryFetch } from '../e2e/server.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { Ledger } from './ledger.ts'
import { createRelease } from './release.ts'
import { AUTHORIZATION, WAIT_MS } from './server.ts'
import { startVisitors } from './visitors.ts'

// Two web hosts and a scan worker behind HAProxy, upgraded one after the other while people upload and read saves.

const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const VISITORS = 6
const FILES = 50
const OUTAGE_MS = 30_000
const PAUSE_MS = 100
/** Adds what the next release writes. The former release inserts rows without it. */
const EXPAND = {
  name: '99990101000000-later',
  sql: "alter table assets add column later_origin text not null default 'unknown'; " +
    'create table later_shelves (id serial primary key, rom_id int not null references roms on delete cascade); ' +
    'insert into later_shelves (rom_id) select id from roms'
}
/** Drops what only releases before the expanding migration use. */
const CONTRACT = { name: '99990201000000-contract-99990101000000-later', sql: 'drop table later_shelves' }

const folder = await mkdtemp(join(tmpdir(), 'svc-upgrade-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const library = join(folder, 'library')
t.comment(`SOAK_SEED=${SEED}`)

async function addFiles (): Promise<void> {
  await mkdir(join(library, 'roms', 'snes'), { recursive: true })
  for (let file = 0; file < FILES; file++) await writeFile(join(library, 'roms', 'snes', `Game ${file}.sfc`), `game ${file}`)
}

/** Upgrades all hosts one after the other while visitors write and read. */
async function upgrade (t: Test, cluster: Cluster, release: string, roms: readonly number[]): Promise<void> {
  const { url, hosts, output } = cluster
  const visitors = startVisitors({ url, seed: SEED, visitors: VISITORS, roms })
  const writeMore = (count: number) => {
    const before = visitors.written()
    return until(() => visitors.written() > before + count, 'saves', { output, ms: WAIT_MS })
  }
  await writeMore(VISITORS * 3)
  for (const host of hosts) {
    await host.replace(release)
    await writeMore(VISITORS)
  }
  await visitors.finish()
  t.same(visitors.ledger.findings, [])
  t.ok(visitors.longestMs() < OUTAGE_MS, `requests failed for ${visitors.longestMs()} ms`)
  t.comment(`${visitors.written()} saves were acknowledged; answers ${JSON.stringify(visitors.ledger.answers)}; ` +
    `the longest wait took ${visitors.longestMs()} ms`)
}

/** Sends requests to a host that is too old for the contracted schema, until it ends. */
async function watchForgotten (t: Test, { command, url }: Awaited<ReturnType<Cluster['startLone']>>): Promise<void> {
  const ledger = new Ledger()
  const readiness = new Set<number>()
  while (command.child.exitCode === null) {
    for (const path of ['/api/roms?limit=5', '/api/health/ready']) {
      const answer = await tryFetch(`${url}${path}`, { headers: { authorization: AUTHORIZATION } })
      const body = await answer?.text().catch(() => '') ?? ''
      if (path.startsWith('/api/roms')) ledger.count(path, answer, body)
      else if (answer !== null) readiness.add(answer.status)
    }
    await sleep(PAUSE_MS)
  }
  t.same(ledger.findings, [])
  t.match(command.output(), /A newer release migrated the database \(\d+-contract-[^)]+\).*upgrade this host/)
  t.same([...readiness], [200, 503], 'it is not ready before it ends')
  t.comment(`the forgotten host answered ${JSON.stringify(ledger.answers)} and ended with ${command.child.exitCode}`)
}

t.test('hosts are upgraded one after the other without failing requests', async (t) => {
  const databaseUrl = await createTestDatabase(t)
  await addFiles()
  const [next, last] = [
    await createRelease(t, join(folder, 'next'), [EXPAND]), await createRelease(t, join(folder, 'last'), [EXPAND, CONTRACT])
  ]
  const cluster = await startCluster(t, { folder, library, databaseUrl })
  await cluster.waitForScan(t, await cluster.startScan())
  const roms = await withConnection(databaseUrl, async (client) =>
    (await client.query<{ id: number }>('select id from roms order by id limit $1', [VISITORS])).rows.map(({ id }) => id))
  const listLater = () => withConnection(databaseUrl, async (client) =>
    (await client.query<{ name: string }>("select name from migrations where name like '9999%' order by 1")).rows.map(({ name }) => name))

  await t.test('to a release that expands the schema', async (t) => {
    await upgrade(t, cluster, next, roms)
    t.same(await listLater(), [EXPAND.name])
  })
  const forgotten = await cluster.startLone()
  await t.test('to a release that contracts the schema', async (t) => {
    const retired = watchForgotten(t, forgotten)
    await upgrade(t, cluster, last, roms)
    await retired
    t.same(await listLater(), [EXPAND.name, CONTRACT.name])
  })
  for (const host of cluster.hosts) await host.stop()
})
