import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { runSvc, settings } from '../e2e/server.ts'
import { createTestDatabase } from '../support.ts'
import { listLost, liveUpTo, migrateTo, readContent, releases, withConnection } from '../plugins/migrations/support.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 10)
const NOW = releases.at(-1) ?? ''
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

/** Skips tags of files that are not tracks, because a later release stores none for them. */
const lostIn = async (before: Awaited<ReturnType<typeof readContent>>, url: string) =>
  listLost(before, await readContent(url)).filter((line) => !line.includes('"track_meta":null'))

await t.test('the database of every release upgrades to this one without loss', async (t) => {
  for (const release of releases) {
    const url = await createTestDatabase(t, 'template0')
    await liveUpTo(url, release)
    const before = await readContent(url)
    await migrateTo(url, NOW)
    t.same(await lostIn(before, url), [], release)
  }
})

await t.test('kill -9 of an upgrade leaves one of the two schemas, and the next one completes', async (t) => {
  const seen = new Set<string>()
  let upgradeMs = 0
  for (let round = 0; round <= ROUNDS; round++) {
    const url = await createTestDatabase(t, 'template0')
    const release = releases[round * 7 % (releases.length - 1)] ?? ''
    await liveUpTo(url, release)
    const before = await readContent(url)
    const env = settings(join(folder, `data-${round}`), { SVC_DATABASE_URL: url })
    const since = performance.now()
    const upgrade = runSvc(t, ['migrate'], env)
    // The first round measures the duration.
    if (round > 0) {
      await Promise.race([sleep(upgradeMs * round / ROUNDS), upgrade.ended])
      upgrade.child.kill('SIGKILL')
    }
    await upgrade.ended
    if (round === 0) upgradeMs = performance.now() - since
    const { rowCount: left } = await withConnection(url, (client) => client.query('select from migrations'))
    t.ok(left === releases.indexOf(release) + 1 || left === releases.length, `round ${round}: ${left ?? 0} migrations`)
    seen.add(left === releases.length ? 'this one' : 'the former')
    t.match(await runSvc(t, ['migrate'], env).ended, { code: 0 }, `round ${round}`)
    t.same(await lostIn(before, url), [], `round ${round}, from ${release}`)
  }
  t.comment(`an upgrade takes ${Math.round(upgradeMs)} ms; left by kills: ${[...seen].join(', ')}`)
})

const COMMANDS = [['start'], ['web'], ['worker'], ['migrate'], ['database', 'adopt'], ['backup', '--without-secret-key'], ['scan'], ['export', 'gamelist'],
  ['tasks'], ['tasks', 'run', 'cleanup_assets'], ['tasks', 'stop', '00000000-0000-4000-8000-000000000001'],
  ['user', 'deleted'], ['user', 'restore', '1', 'x']]

await t.test('every command refuses the database of a newer release, in one line', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  await migrateTo(url, NOW)
  await withConnection(url, (client) =>
    client.query("insert into migrations (name, executed_at) values ('99991231000000-from-the-future', now())"))
  const dataDir = join(folder, 'data')
  const env = settings(dataDir, { SVC_DATABASE_URL: url, SVC_LOG_LEVEL: 'error' })
  for (const args of COMMANDS) {
    const { code, output } = await runSvc(t, args, env).ended
    t.equal(code, 1, args.join(' '))
    t.match(output, /^svc: The database was made by a newer release \(migration 99991231000000-from-the-future\)\. [^\n]+\n$/, args.join(' '))
  }
  t.same((await readdir(join(dataDir, 'backups')).catch(() => [])), [])
})
