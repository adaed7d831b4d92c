import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { listChildren, tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

const KILLS = Number(process.env.SOAK_ROUNDS ?? 5) * 4
const UPLOADERS = 3
const CHUNK_BYTES = 256 * 1024
const CHUNKS = 9
const OLD_GAMES = 400
const DELETED_AT_ONCE = 7
const RESTORED_AT_ONCE = 5
const KILLS_OF_RESTORES = 6

/** The victims in order. A server gives up if its database ends six times in a row within a minute of its start. */
const KINDS = ['web worker', 'scan worker', 'web worker', 'database'] as const
const DATABASE_KILLS_MAX = 5

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const libraryDir = join(folder, 'library')
const roms = join(libraryDir, 'roms', 'snes')
const headers = { authorization: AUTHORIZATION }
const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex')

/** Creates content that no other file has. */
function makeContent (name: string): Buffer {
  const seed = createHash('sha256').update(name).digest()
  const bytes = Buffer.alloc(CHUNK_BYTES * CHUNKS - 17)
  for (let at = 0; at < bytes.length; at++) bytes[at] = (seed[at & 31] ?? 0) ^ (at >> 8 & 255)
  return bytes
}

async function killOne (server: SoakServer, turn: number, isSpared: boolean): Promise<void> {
  const kind = KINDS[turn % KINDS.length]
  const workers = await listChildren(server.command.pid, kind === 'scan worker' ? 'worker' : 'web')
  const pid = kind === 'database' && !isSpared ? await server.databasePid() : workers[turn % Math.max(1, workers.length)]
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

t.test('whatever is killed during ROM uploads, deletions and restores, no file is lost', async (t) => {
  await mkdir(roms, { recursive: true })
  const olds = new Map(Array.from({ length: OLD_GAMES }, (_none, index) => [`Old ${index}.sfc`, Buffer.from(`old ${index}`)]))
  for (const [name, bytes] of olds) await writeFile(join(roms, name), bytes)
  const server = await startServer(t, join(folder, 'data'), libraryDir, { WEB_SERVER_CONCURRENCY: '2' })
  const { url, query, command } = server
  const first = await server.scan()
  await until(async () => (await server.look(first))?.status === 'finished', 'the first scan', { ...command, ms: WAIT_MS })
  const platform = (await until(() => query<{ id: number }>("select id from platforms where fs_slug = 'snes'"), 'the platform'))[0]?.id
  const over = new AbortController()

  /** Repeats a request until a server answers without 5xx. */
  const ask = (path: string, init: RequestInit) => until(async () => {
    const answer = await tryFetch(`${url}${path}`, init)
    if (answer === null || answer.status >= 500) return null
    return { status: answer.status, text: await answer.text().catch(() => '') }
  }, `an answer to ${path}`, { ...command, ms: WAIT_MS })

  async function start (name: string, size: number): Promise<string | null> {
    const { status, text } = await ask('/api/roms/upload/start', {
      method: 'POST',
      headers: {
        ...headers,
        'x-upload-platform': String(platform),
        'x-upload-filename': name,
        'x-upload-total-size': String(size),
        'x-upload-total-chunks': String(CHUNKS)
      }
    })
    // An earlier request completed the upload, but its response was lost.
    if (status === 400 && text.includes('already exists')) return null
    if (status !== 201) throw new Error(`${status} ${text}`)
    return (JSON.parse(text) as { upload_id: string }).upload_id
  }

  /** Sends missing parts until the upload is complete. */
  async function upload (name: string, bytes: Buffer): Promise<void> {
    const id = await start(name, bytes.length)
    if (id === null) return
    for (;;) {
      const { status, text } = await ask(`/api/roms/upload/${id}`, { headers })
      if (status === 404) return await upload(name, bytes)
      const there = new Set((JSON.parse(text) as { received_chunks: number[] }).received_chunks)
      for (let index = CHUNKS - 1; index >= 0; index--) {
        if (there.has(index)) continue
        const body = new Uint8Array(bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES))
        await ask(`/api/roms/upload/${id}`, { method: 'PUT', headers: { ...headers, 'x-chunk-index': String(index) }, body })
      }
      const done = await ask(`/api/roms/upload/${id}/complete`, { method: 'POST', headers })
      if (done.status === 201) return
    }
  }

  const uploaded = new Map<string, string>()
  async function uploader (number: number): Promise<void> {
    for (let count = 0; !over.signal.aborted; count++) {
      const name = `New ${number}-${count}.sfc`
      const bytes = makeContent(name)
      await upload(name, bytes)
      uploaded.set(name, sha1(bytes))
    }
  }

  const deleted = new Map<string, number>()
  async function deleter (): Promise<void> {
    const names = [...olds.keys()]
    while (!over.signal.aborted && names.length > DELETED_AT_ONCE) {
      const some = names.splice(0, DELETED_AT_ONCE)
      const rows = await until(() => query<{ id: number, fs_name: string }>(
        'select id, fs_name from roms where fs_name = any($1)', [some]), 'their ids', command)
      const ids = rows.map(({ id }) => id)
      const { status, text } = await ask('/api/roms/delete', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ roms: ids, delete_from_fs: ids })
      })
      if (status !== 200) throw new Error(`${status} ${text}`)
      for (const { id, fs_name: name } of rows) deleted.set(name, id)
    }
  }

  const working = [deleter(), ...Array.from({ length: UPLOADERS }, (_none, number) => uploader(number))]
  let databaseKills = 0
  for (let turn = 0; turn < KILLS; turn++) {
    const before = uploaded.size
    await killOne(server, turn, KINDS[turn % KINDS.length] === 'database' && ++databaseKills > DATABASE_KILLS_MAX)
    await until(() => uploaded.size > before, 'an upload after the kill', { ...command, ms: WAIT_MS })
  }
  over.abort()
  await Promise.all(working)
  t.comment(`${KILLS} kills, ${uploaded.size} uploads, ${deleted.size} deletions`)

  for (const [name, sum] of uploaded) t.equal(sha1(await readFile(join(roms, name))), sum, name)
  const entries = await readdir(join(libraryDir, '.svc-trash'), { recursive: true, withFileTypes: true })
  const trash = new Map(entries.filter((entry) => entry.isFile())
    .map((entry) => [entry.name, join(entry.parentPath, entry.name)]))
  const there = new Set(await readdir(roms))
  for (const [name, bytes] of olds) {
    t.not(there.has(name), trash.has(name), `${name} is in the library or in the trash`)
    t.equal(trash.has(name), deleted.has(name), `${name} is deleted as was asked for`)
    const path = trash.get(name) ?? join(roms, name)
    t.ok(bytes.equals(await readFile(path)), `${name} is whole`)
  }

  async function restoreAll (): Promise<void> {
    for (;;) {
      const { text } = await ask('/api/trash?limit=10000', { headers })
      const items = (JSON.parse(text) as { items: { id: number, problem: string | null }[] }).items
        .filter(({ problem }) => problem === null).map(({ id }) => id)
      if (items.length === 0) return
      await ask('/api/trash/restore', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ items: items.slice(0, RESTORED_AT_ONCE) })
      })
    }
  }

  const count = async () => (await readdir(roms)).length
  const restoring = restoreAll()
  const whole = uploaded.size + OLD_GAMES
  for (let turn = 0; turn < KILLS_OF_RESTORES && await count() < whole; turn++) {
    const before = await count()
    await killOne(server, turn, true)
    await until(async () => { const now = await count(); return now > before || now === whole }, 'a ROM that is back', { ...command, ms: WAIT_MS })
  }
  await restoring
  for (const [name, bytes] of olds) t.ok(bytes.equals(await readFile(join(roms, name))), `${name} is back`)

  // Scan the files that were not scanned when they arrived.
  const last = await server.scan()
  await until(async () => (await server.look(last))?.status === 'finished', 'the last scan', { ...command, ms: WAIT_MS })
  const rows = await until(() => query<{ id: number, fs_name: string, sha1_hash: string }>(
    'select id, fs_name, sha1_hash from roms where not missing_from_fs'), 'the ROMs', command)
  const known = new Map(rows.map((row) => [row.fs_name, row.sha1_hash]))
  for (const [name, sum] of uploaded) t.equal(known.get(name), sum, `${name} is a ROM`)
  t.equal(known.size, whole)
  const ids = new Map(rows.map((row) => [row.fs_name, row.id]))
  for (const [name, id] of deleted) t.equal(ids.get(name), id, `${name} has its id again`)

  await server.stop()
})

/** The lock for which the commit of a restore waits. */
const GATE = 424_242

t.test('the next restore completes one that was killed between file move and commit', async (t) => {
  const place = join(folder, 'gate')
  const roms = join(place, 'library', 'roms', 'snes')
  await mkdir(join(roms, 'Folder'), { recursive: true })
  for (const name of ['File.sfc', 'Folder/disc.bin', 'Stays.sfc']) await writeFile(join(roms, name), name)
  const server = await startServer(t, join(place, 'data'), join(place, 'library'))
  const { url, query, command } = server
  const ask = async <Answer>(path: string, method = 'GET', body?: object) => await until(async () => {
    const answer = await tryFetch(`${url}${path}`, {
      method, headers: { ...headers, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return answer !== null && answer.status < 500 && await answer.json() as Answer
  }, `an answer to ${path}`, { ...command, ms: WAIT_MS })
  const scan = async () => {
    const task = await server.scan()
    await until(async () => (await server.look(task))?.status === 'finished', 'the scan', { ...command, ms: WAIT_MS })
  }
  const list = async () => (await ask<{ items: { id: number, fs_name: string, name: string }[] }>('/api/roms')).items
  await scan()
  const before = (await list()).filter(({ fs_name: name }) => name !== 'Stays.sfc')
  const ids = before.map(({ id }) => id)
  await until(() => query("update roms set name = 'By hand ' || id"), 'names', command)
  await ask('/api/roms/delete', 'POST', { roms: ids, delete_from_fs: ids })

  const gate = new pg.Client({ connectionString: server.databaseUrl() })
  await gate.connect()
  await gate.query('select pg_advisory_lock($1)', [GATE])
  await gate.query(`create function wait_at_gate () returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(${GATE}); return null; end $$`)
  await gate.query(`create constraint trigger wait_at_gate after delete on trash_items deferrable initially deferred
    for each row execute function wait_at_gate()`)
  const items = async () => (await ask<{ items: { id: number, problem: string | null }[] }>('/api/trash')).items
  const waiting = async () => (await gate.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`)).rows[0]?.pid
  for (const { id } of await items()) {
    await ask('/api/heartbeat')
    const asked = tryFetch(`${url}/api/trash/restore`, {
      method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ items: [id] })
    })
    const backend = await until(waiting, 'a restore at its commit', { ...command, ms: WAIT_MS })
    const [web] = await listChildren(command.pid, 'web')
    if (web !== undefined) process.kill(web, 'SIGKILL')
    await gate.query('select pg_terminate_backend($1)', [backend])
    t.equal(await asked, null)
    await until(async () => await waiting() === undefined, 'its end', { ...command, ms: WAIT_MS })
  }
  await gate.query('drop function wait_at_gate cascade')
  await gate.end()
  t.same((await readdir(roms)).sort(), ['File.sfc', 'Folder', 'Stays.sfc'], 'the files are back')
  const left = await items()
  t.match(left, [{ problem: null }, { problem: null }], 'and the trash has both still')
  t.match(await ask('/api/trash/restore', 'POST', { items: left.map(({ id }) => id) }), { successful_items: 2 })
  await scan()
  t.same((await list()).filter(({ id }) => ids.includes(id)).map(({ id, name }) => [id, name]).sort(),
    ids.map((id) => [id, `By hand ${id}`]).sort())
  t.equal((await list()).length, 3)
  await server.stop()
})
