import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { runSvc, settings } from '../e2e/server.ts'
import { until } from '../until.ts'
import { type RommLibrary, makeRommLibrary } from './romm-library.ts'
import { type SoakServer, WAIT_MS, startServer } from './server.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 5)
const ROMS = Number(process.env.SOAK_ROMS ?? 20_000)
const SAVES = ROMS / 10
/** An import of 20,000 ROMs with 2,000 saves takes no longer on two cores. */
const IMPORT_MS = 120_000
const SCAN_MS = 1_200_000
/** Few enough for many rounds, and more than one batch of each kind. */
const KILLED_ROMS = 2_000

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

/** A server whose library was scanned. */
async function startScanned (t: Pick<Test, 'teardown'>, dataDir: string, libraryDir: string): Promise<SoakServer> {
  const server = await startServer(t, dataDir, libraryDir)
  const id = await server.scan()
  await until(async () => (await server.look(id))?.status === 'finished', 'the scan', { ...server.command, ms: SCAN_MS })
  return server
}

/** Runs the command as a person would. */
function runImport (t: Pick<Test, 'teardown'>, dataDir: string, { dump, basePath, libraryDir }: RommLibrary, ...more: string[]) {
  const args = ['import', 'romm', '--dump', dump, '--base-path', basePath, '--json', ...more]
  return runSvc(t, args, settings(dataDir, { SVC_LIBRARY_DIR: libraryDir }))
}

const CONTENT = `select jsonb_build_object(
  'users', (select jsonb_agg(username order by username) from users where username like 'user%'),
  'marks', (select jsonb_agg(jsonb_build_array(r.fs_name, u.username, m.rating, m.completion) order by r.fs_name, u.username)
    from rom_users m join roms r on r.id = m.rom_id join users u on u.id = m.user_id),
  'matches', (select jsonb_agg(jsonb_build_array(r.fs_name, m.provider, m.provider_id) order by r.fs_name, m.provider)
    from rom_matches m join roms r on r.id = m.rom_id),
  'notes', (select jsonb_agg(jsonb_build_array(n.title, r.fs_name) order by n.title) from notes n join roms r on r.id = n.rom_id),
  'assets', (select jsonb_agg(jsonb_build_array(a.file_name, a.sha1, r.fs_name, u.username) order by a.file_name)
    from assets a join roms r on r.id = a.rom_id join users u on u.id = a.user_id),
  'members', (select jsonb_agg(jsonb_build_array(u.username, r.fs_name) order by u.username, r.fs_name)
    from collection_roms l join collections c on c.id = l.collection_id join users u on u.id = c.user_id join roms r on r.id = l.rom_id)
) as content`

const readContent = async (server: SoakServer) =>
  (await until(() => server.query<{ content: unknown }>(CONTENT), 'the content', { ...server.command, ms: WAIT_MS }))[0]?.content

t.test(`an import of ${ROMS} ROMs with ${SAVES} saves takes less than two minutes`, async (t) => {
  const source = await makeRommLibrary(join(folder, 'large'), ROMS, SAVES)
  const dataDir = join(folder, 'large-data')
  await startScanned(t, dataDir, source.libraryDir)
  const startedAt = performance.now()
  const { code, output } = await runImport(t, dataDir, source).ended
  const ms = performance.now() - startedAt
  t.equal(code, 0, output.slice(-2_000))
  t.comment(`${Math.round(ms / 100) / 10} s`)
  t.ok(ms < IMPORT_MS, `${Math.round(ms)} ms`)
})

t.test('an import whose worker is killed completes when it runs again', async (t) => {
  const source = await makeRommLibrary(join(folder, 'small'), KILLED_ROMS, KILLED_ROMS / 10)
  const [whole, killed] = [join(folder, 'whole'), join(folder, 'killed')]
  const expected = await startScanned(t, whole, source.libraryDir)
  t.equal((await runImport(t, whole, source).ended).code, 0)
  const server = await startScanned(t, killed, source.libraryDir)
  for (let round = 0; round < ROUNDS; round++) {
    const command = runImport(t, killed, source)
    await sleep(1_500 + round * 700)
    process.kill(await server.workerPid(), 'SIGKILL')
    await command.ended
  }
  const last = await runImport(t, killed, source).ended
  t.equal(last.code, 0, last.output.slice(-2_000))
  t.same(await readContent(server), await readContent(expected))
})
