import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { type IncomingMessage, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listChildren } from '../e2e/server.ts'
import { until } from '../until.ts'
import { AUTHORIZATION, WAIT_MS, startServer } from './server.ts'

const GIB = 2 ** 30
const SIZES = { small: GIB, large: 4 * GIB }
/** Garbage of a download. The collector runs at about 64 MiB of it. */
const GARBAGE_MIB = 128
const SLOW_CLIENTS = 20
const SLOW_BYTES = 16 * 1024 * 1024
const SLOW_PAUSE_MS = 20
const SAMPLE_MS = 50

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

function readMemory (pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** Returns the additional peak memory of a process while `work` runs, in MiB. */
async function measure (pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = readMemory(pid)
  let most = before
  const timer = setInterval(() => { most = Math.max(most, readMemory(pid)) }, SAMPLE_MS)
  await work()
  clearInterval(timer)
  return Math.round(most - before)
}

t.test("a download's memory depends on neither the file's size nor the client's speed", {
  skip: process.platform !== 'linux' && 'memory is read from /proc'
}, async (t) => {
  const platform = join(folder, 'library', 'roms', 'snes')
  await mkdir(platform, { recursive: true })
  for (const [name, size] of Object.entries(SIZES)) {
    await writeFile(join(platform, `${name}.sfc`), name)
    await truncate(join(platform, `${name}.sfc`), size)
  }
  const server = await startServer(t, join(folder, 'data'), join(folder, 'library'))
  await server.scan()
  const roms = await until(async () => {
    const rows = await server.query<{ id: number, fs_name: string }>('select id, fs_name from roms order by fs_name desc')
    return rows?.length === 2 && rows
  }, 'the scan', { ...server.command, ms: WAIT_MS })
  const [pid = 0] = await listChildren(server.command.pid, 'web')

  const headers = { authorization: AUTHORIZATION }
  const open = ({ id, fs_name: name }: { id: number, fs_name: string }) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(`${server.url}/api/roms/${id}/content/${name}`, { headers }, resolve).on('error', reject)
    })
  async function download (rom: { id: number, fs_name: string }, isSlow: boolean): Promise<number> {
    let bytes = 0
    for await (const chunk of await open(rom)) {
      bytes += (chunk as Buffer).length
      if (isSlow && bytes >= SLOW_BYTES) break
      if (isSlow) await sleep(SLOW_PAUSE_MS)
    }
    return bytes
  }

  const [small, large] = roms
  if (small === undefined || large === undefined) throw new Error('a ROM is missing')
  const taken: Record<string, number> = {
    '1 GiB': await measure(pid, () => download(small, false)),
    '4 GiB': await measure(pid, async () => { t.equal(await download(large, false), SIZES.large) }),
    [`${SLOW_CLIENTS} slow clients`]: await measure(pid, () => Promise.all(
      Array.from({ length: SLOW_CLIENTS }, () => download(large, true))))
  }
  t.comment(`MiB more than at rest: ${JSON.stringify(taken)}`)
  for (const [name, mib] of Object.entries(taken)) t.ok(mib <= GARBAGE_MIB, `${name}: ${mib} MiB`)
  await server.stop()
})
