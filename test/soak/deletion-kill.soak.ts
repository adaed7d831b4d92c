import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { isAlive, listAllChildren, tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { createRandom } from './random.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 3)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const GAMES = 1_500
/** The wait for the recovery, which begins with the scan worker. */
const AGREEMENT_MS = 30_000
const PLATFORMS = ['gb', 'nes']

const random = createRandom(SEED)
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const [dataDir, libraryDir] = [join(folder, 'data'), join(folder, 'library')]
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${ROUNDS}`)

for (const platform of PLATFORMS) {
  await mkdir(join(libraryDir, 'roms', platform), { recursive: true })
  await writeFile(join(libraryDir, 'roms', platform, 'Stays.bin'), `stays in ${platform}`)
}
const platformOf = (game: number) => PLATFORMS[game % PLATFORMS.length] ?? ''
for (let game = 0; game < GAMES; game++) {
  await writeFile(join(libraryDir, 'roms', platformOf(game), `Game ${game}.bin`), `content of game ${game}`)
}

async function listFiles (dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return files.map((file) => file.slice(dir.length + 1)).sort()
}
/** Returns the paths in the library of all files in its trash. */
const listTrashed = async () =>
  (await listFiles(join(libraryDir, '.svc-trash'))).map((path) => path.split('/').slice(1).join('/')).sort()

async function post (server: SoakServer, path: string, body: object): Promise<unknown> {
  const answer = await tryFetch(`${server.url}${path}`, {
    method: 'POST', headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' }, body: JSON.stringify(body)
  })
  return await answer?.json().catch(() => null)
}

const selectAll = async <Row extends object>(server: SoakServer, text: string) =>
  await until(() => server.query<Row>(text), 'rows', { ...server.command, ms: WAIT_MS })
interface Located { id: number, path: string }
const listRoms = async (server: SoakServer) =>
  await selectAll<Located>(server, "select id, fs_path || '/' || fs_name as path from roms order by 2")
const listItems = async (server: SoakServer) =>
  await selectAll<Located>(server, "select id, file_path || '/' || file_name as path from trash_items order by 2")

/** Compares rows and disk. @returns the differences */
async function audit (server: SoakServer): Promise<string[]> {
  const listed = (await listRoms(server)).map(({ path }) => path)
  const items = (await listItems(server)).map(({ path }) => path)
  const [files, trashed] = [(await listFiles(join(libraryDir, 'roms'))).map((path) => `roms/${path}`), await listTrashed()]
  const differ = (what: string, some: readonly string[], others: readonly string[]) => {
    const known = new Set(others)
    const lacking = some.filter((path) => !known.has(path))
    return lacking.length === 0 ? [] : [`${lacking.length} ${what}, such as ${lacking[0]}`]
  }
  return [
    ...differ('listed ROMs without their file', listed, files), ...differ('files without their ROM', files, listed),
    ...differ('items of the trash without their file', items, trashed), ...differ('files in the trash without their item', trashed, items)
  ]
}

async function scan (server: SoakServer): Promise<void> {
  const task = await server.scan()
  await until(async () => (await server.look(task))?.ended_at instanceof Date, 'the end of the scan', { ...server.command, ms: WAIT_MS })
}

/** Ends processes at once. */
function killAll (pids: readonly number[]): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
}

async function restoreAll (server: SoakServer): Promise<void> {
  const items = (await listItems(server)).map(({ id }) => id)
  for (let start = 0; start < items.length; start += 500) await post(server, '/api/trash/restore', { items: items.slice(start, start + 500) })
}

async function deleteAll (server: SoakServer, more: { permanently?: boolean } = {}): Promise<unknown> {
  const ids = (await listRoms(server)).filter(({ path }) => !path.endsWith('Stays.bin')).map(({ id }) => id)
  return await post(server, '/api/roms/delete', { roms: ids, delete_from_fs: ids, ...more })
}

await t.test('an undisturbed deletion moves all files to the trash', async (t) => {
  const server = await startServer(t, dataDir, libraryDir)
  await scan(server)
  t.match(await deleteAll(server), { successful_items: GAMES })
  t.equal((await listTrashed()).length, GAMES)
  t.same(await audit(server), [])
  await restoreAll(server)
  t.same(await audit(server), [])
  await server.stop()
})

/** The work that is killed. */
const WORK: Record<string, (server: SoakServer) => Promise<unknown>> = {
  deletion: deleteAll,
  'permanent deletion': (server) => deleteAll(server, { permanently: true }),
  restore: restoreAll
}

async function waitForAgreement (server: SoakServer): Promise<string[]> {
  let wrong: string[] = []
  const agrees = async () => (wrong = await audit(server)).length === 0
  await until(agrees, 'agreement', { ...server.command, ms: AGREEMENT_MS }).catch(() => { /* the caller reports the differences */ })
  return wrong
}

for (const [name, run] of Object.entries(WORK)) {
  await t.test(`each ROM is in the library or in the trash after a killed ${name}`, async (t) => {
    for (let round = 1; round <= ROUNDS; round++) {
      const first = await startServer(t, dataDir, libraryDir)
      if (name === 'restore') await deleteAll(first)
      const before = (await listTrashed()).length
      const moved = Math.round(GAMES * (0.05 + random() * 0.85))
      // The database is among them. They are listed before the work, because a batch takes less time than their list.
      const pids = [first.command.pid, ...await listAllChildren(first.command.pid)]
      const work = run(first).catch((err: unknown) => { t.comment(String(err)) })
      const isReached = async () => Math.abs((await listTrashed()).length - before) >= moved
      await until(isReached, `${moved} moved files`, { ...first.command, ms: WAIT_MS })
      killAll(pids)
      await first.command.ended
      await work
      const what = `round ${round}, killed after ${moved} moves with ${(await listTrashed()).length} files in the trash`
      const server = await startServer(t, dataDir, libraryDir)
      t.same(await waitForAgreement(server), [], what)
      await restoreAll(server)
      await scan(server)
      t.same(await audit(server), [], `${what}, after a restore`)
      t.equal((await listRoms(server)).length, GAMES + PLATFORMS.length, what)
      await server.stop()
    }
  })
}
