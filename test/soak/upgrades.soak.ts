import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listExecuted } from '../../core/database/database.ts'
import { runSvc, settings } from '../e2e/server.ts'
import { createTestDatabase } from '../support.ts'
import { listLost, listReleases, liveUpTo, migrateTo, readContent, withConnection } from '../plugins/migrations/support.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 10)
const RELEASES = listReleases()
const NOW = RELEASES.at(-1) ?? ''
/** The databases that are upgraded: a new one, and one of each former release. */
const FORMER = [null, ...RELEASES.slice(0, -1)]
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

await t.test('kill -9 of an upgrade leaves one of the two schemas, and the next one completes', async (t) => {
  const seen = new Set<string>()
  let upgradeMs = 0
  for (let round = 0; round <= ROUNDS; round++) {
    const url = await createTestDatabase(t, 'template0')
    const release = FORMER[round % FORMER.length] ?? null
    if (release !== null) await liveUpTo(url, release)
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
    const { length: left } = await withConnection(url, listExecuted)
    const former = release === null ? 0 : RELEASES.indexOf(release) + 1
    t.ok(left === former || left === RELEASES.length, `round ${round}: ${left} migrations`)
    seen.add(left === RELEASES.length ? 'this one' : 'the former')
    t.match(await runSvc(t, ['migrate'], env).ended, { code: 0 }, `round ${round}`)
    t.same(listLost(before, await readContent(url)), [], `round ${round}, from ${release ?? 'nothing'}`)
  }
  t.comment(`an upgrade takes ${Math.round(upgradeMs)} ms; left by kills: ${[...seen].join(', ')}`)
})

const COMMANDS = [['start'], ['web'], ['worker'], ['migrate'], ['database', 'adopt'], ['backup', '--without-secret-key'], ['scan'], ['export', 'gamelist'],
  ['tasks'], ['tasks', 'run', 'cleanup_assets'], ['tasks', 'stop', '00000000-0000-4000-8000-000000000001'],
  ['user', 'deleted'], ['user', 'restore', '1', 'x']]

await t.test('every command refuses a schema without something it uses, in one line', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  await migrateTo(url, NOW)
  await withConnection(url, (client) =>
    client.query("insert into migrations (name, executed_at) values ('99991231000000-contract-99990101000000-shelves', now())"))
  const dataDir = join(folder, 'data')
  const env = settings(dataDir, { SVC_DATABASE_URL: url, SVC_LOG_LEVEL: 'error' })
  for (const args of COMMANDS) {
    const { code, output } = await runSvc(t, args, env).ended
    t.equal(code, 1, args.join(' '))
    t.match(output, /^svc: The database was made by a newer release, or a preview of the first \(migration 99991231000000-contract-99990101000000-shelves\)\. [^\n]+\n$/, args.join(' '))
  }
  t.same((await readdir(join(dataDir, 'backups')).catch(() => [])), [])
})
