import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listChildren, tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { createRandom } from './random.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 3)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const STEPS = 20
const PLATFORMS = ['gb', 'gba', 'nes']
const CONTENTS = Array.from({ length: 9 }, (_none, index) => `content of game ${index}`)
const sha1Of = (content: string) => createHash('sha1').update(content).digest('hex')

const random = createRandom(SEED)
const pick = <T>(values: readonly T[]): T => {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('There is nothing to choose from')
  return value
}

const folder = await mkdtemp(join(tmpdir(), 'svc-edits-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const dataDir = join(folder, 'data')
const libraryDir = join(folder, 'library')
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${ROUNDS}`)

/** A ROM in a list. */
interface Listed {
  id: number
  name: string
  sha1_hash: string
  missing_from_fs: boolean
  platform: string
  fs_name: string
}

const LISTED = `select r.id, r.name, r.sha1_hash, r.missing_from_fs, p.fs_slug as platform, r.fs_name
  from roms r join platforms p on p.id = r.platform_id order by r.id`

/** Stands for the name of a ROM without a name of its own, which is that of its file. */
const OF_FILE = 'the name of its file'

/** Possible names of each content, because an unanswered edit may or may not be stored. */
const names = new Map<string, Set<string>>()
let edits = 0
let files = 0

let server: SoakServer
const list = () => until(() => server.query<Listed>(LISTED), 'the ROMs', { ...server.command, ms: WAIT_MS })

async function call (method: string, path: string, body?: object): Promise<{ status: number, json: unknown } | null> {
  const answer = await tryFetch(`${server.url}${path}`, {
    method, headers: { authorization: AUTHORIZATION, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(WAIT_MS), ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return answer === null ? null : { status: answer.status, json: await answer.json().catch<unknown>(() => null) }
}

async function waitForTask (id: string): Promise<void> {
  await until(async () => (await server.look(id))?.ended_at instanceof Date, 'the end of the task', { ...server.command, ms: WAIT_MS })
}
const scan = async () => { await waitForTask(await server.scan()) }

async function findFiles (): Promise<string[]> {
  const entries = await readdir(join(libraryDir, 'roms'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort()
}

async function edit (): Promise<void> {
  const rom = pick(await list())
  const name = `By hand ${edits++}`
  const before = names.get(rom.sha1_hash) ?? new Set([OF_FILE])
  names.set(rom.sha1_hash, new Set([...before, name]))
  const answer = await call('PUT', `/api/roms/${rom.id}`, { name })
  if (answer?.status === 200) names.set(rom.sha1_hash, new Set([name]))
}
async function renameOne (): Promise<void> {
  const rom = pick(await list())
  await call('PUT', `/api/roms/${rom.id}`, { fs_name: `Renamed ${files++}.bin` })
}
async function erase (withFiles: boolean): Promise<void> {
  const rom = pick(await list())
  await call('POST', '/api/roms/delete', { roms: [rom.id], ...(withFiles ? { delete_from_fs: [rom.id] } : {}) })
}
async function restore (): Promise<number> {
  const trash = (await call('GET', '/api/trash'))?.json as { items: { id: number }[] } | undefined
  const items = trash?.items.map(({ id }) => id) ?? []
  if (items.length > 0) await call('POST', '/api/trash/restore', { items })
  return items.length
}
async function move (): Promise<void> {
  const [path, platform] = [pick(await findFiles()), pick(PLATFORMS)]
  await rename(path, join(libraryDir, 'roms', platform, `Moved ${files++}.bin`)).catch(() => { /* another step took the file */ })
}
async function cleanUp (): Promise<void> {
  const answer = await call('POST', '/api/tasks/run/cleanup_missing_roms', {})
  if (answer?.status === 202) await waitForTask((answer.json as { task_id: string }).task_id)
}

const ACTIONS: Record<string, () => Promise<unknown>> = {
  edit,
  rename: renameOne,
  trash: () => erase(true),
  unlist: () => erase(false),
  restore,
  move,
  scan: () => server.scan(),
  'scan to its end': scan,
  cleanUp
}

async function kill (victim: 'supervisor' | 'web' | 'worker', t: Pick<Test, 'teardown'>): Promise<void> {
  if (victim === 'supervisor') {
    server.command.child.kill('SIGKILL')
    await server.command.ended
    server = await startServer(t, dataDir, libraryDir)
    return
  }
  const [pid] = await listChildren(server.command.pid, victim)
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

async function waitUntilReady (): Promise<void> {
  await until(async () => {
    const answer = await call('GET', '/api/trash').catch(() => null)
    return answer?.status === 200 && (await listChildren(server.command.pid, 'worker')).length > 0
  }, 'a server that answers', { ...server.command, ms: WAIT_MS })
}

async function putFiles (): Promise<void> {
  for (const [index, content] of CONTENTS.entries()) {
    const path = join(libraryDir, 'roms', PLATFORMS[index % PLATFORMS.length] ?? '', `Game ${index}.bin`)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
  // Refill the folders, because an empty one looks like a disk that is not mounted.
  for (const platform of PLATFORMS) await writeFile(join(libraryDir, 'roms', platform, `Stays ${platform}.bin`), `stays ${platform}`)
}

await putFiles()
for (let round = 1; round <= ROUNDS; round++) {
  await t.test(`round ${round}: names set by people survive kills`, async (t) => {
    server = await startServer(t, dataDir, libraryDir)
    await scan()
    const told: string[] = []
    for (let step = 0; step < STEPS; step++) {
      const name = pick(Object.keys(ACTIONS))
      const victim = random() < 0.5 ? pick(['worker', 'worker', 'supervisor', 'web'] as const) : null
      const delay = Math.floor(random() * 400)
      told.push(victim === null ? name : `${name} (${victim} killed after ${delay} ms)`)
      const action = (ACTIONS[name] ?? scan)().catch((err: unknown) => { t.comment(`${name}: ${String(err)}`) })
      if (victim !== null) {
        await sleep(delay)
        await kill(victim, t)
        await waitUntilReady()
      }
      await action
    }
    await waitUntilReady()
    await scan()
    for (let tries = 0; tries < 5 && await restore() > 0; tries++) await scan()
    await scan()
    const roms = (await list()).filter((rom) => !rom.missing_from_fs)
    for (const [sha1, allowed] of names) {
      const found = roms.filter((rom) => rom.sha1_hash === sha1)
      t.ok(allowed.has(OF_FILE) || found.some((rom) => allowed.has(rom.name)),
        `${[...allowed].join(' or ')}: ${found.map((rom) => `${rom.id} ${rom.platform}/${rom.fs_name} is called ${rom.name}`).join(', ')}`)
    }
    for (const content of CONTENTS) t.ok(roms.some((rom) => rom.sha1_hash === sha1Of(content)), `${content} is listed`)
    t.comment(told.join('; '))
    await server.stop()
  })
}
