import { access, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unhashed } from '../../../plugins/hashing/hash-entry.ts'
import { toFileRows, toRomRow } from '../../../plugins/scans/entry-rows.ts'
import { until } from '../../until.ts'
import { makeZip } from '../hashing/fixtures.ts'
import { buildScanTest } from '../scans/support.ts'
import type { Test } from 'tap'

export const exists = (path: string) => access(path).then(() => true, () => false)

export interface Meta {
  conversion_stats: { processed: number, errors: number, total: number }
  converted: { rom_id: number, fs_name: string, to: string, bytes_before: number, bytes_after: number }[]
  left: { fs_name: string, left: string }[]
  problems: { fs_name: string, problem: string }[]
  [name: string]: unknown
}

export const GAME = Buffer.from('a cartridge with much of the same '.repeat(2_000))

export async function startConversion (t: Test) {
  const test = await buildScanTest(t, { providers: ['alpha'] })
  const { app, admin, put, scan, rom, roms, sql, finished, libraryDir } = test

  const at = (...parts: string[]) => join(libraryDir, 'roms', ...parts)
  const list = async (folder: string) => (await readdir(at(folder), { recursive: true })).sort()
  const run = (payload: object) => app.inject({ method: 'POST', url: '/api/tasks/run/convert_library', headers: admin, payload })

  async function start (payload: object): Promise<string> {
    const answer = await run(payload)
    if (answer.statusCode !== 200) throw new Error(answer.body)
    return answer.json<{ task_id: string }>().task_id
  }

  async function convert (payload: object): Promise<{ id: string, status: string, meta: Meta }> {
    const id = await start(payload)
    const { status, meta } = await finished(id)
    return { id, status, meta: meta as unknown as Meta }
  }

  /** Adds files to a platform's folder. @returns the id of the platform */
  async function addPlatform (folder: string, files: Record<string, string | Uint8Array>): Promise<number> {
    await put(Object.fromEntries(Object.entries(files).map(([name, content]) => [`roms/${folder}/${name}`, content])))
    await scan({ platform_fs_slugs: [folder] })
    const [platform] = await sql<{ id: number }>('select id from platforms where fs_slug = $1', [folder])
    return platform?.id ?? 0
  }

  /** Starts a scan that runs until the returned function is called, while a conversion waits ready to swap. */
  async function holdScan (): Promise<() => Promise<void>> {
    const id = crypto.randomUUID()
    await sql('insert into tasks (id, title, type, status, worker_id, started_at) values ($1, \'Held\', \'scan\', \'started\', $2, now())',
      [id, test.worker?.workers.id])
    return async () => { await sql("update tasks set status = 'finished', ended_at = now() where id = $1", [id]) }
  }

  const readBegun = async () => (await sql<{ rom_id: number, work_path: string }>('select rom_id, work_path from rom_conversions'))[0]

  /** Starts a conversion to a zip of this name, which waits ready to swap until `release` is called. */
  async function startHeld (t: Test, zip: string, selection: object) {
    const release = await holdScan()
    t.teardown(release)
    const id = await start({ to: 'zip', ...selection })
    const { work_path: work } = await until(readBegun, 'it began')
    await until(() => exists(join(libraryDir, work, '0', zip)), 'the new file is written')
    return { id, release }
  }

  /** Writes the state that a process leaves if it ends just before the swap. */
  async function leaveBegun (folder: string, name: string) {
    const platform = await addPlatform(folder, { [`${name}.v`]: GAME })
    const { id } = await rom(folder, `${name}.v`)
    const [work, path] = [`roms/${folder}/.svc-convert-${id}-00000000`, `roms/${folder}`]
    await put({ [`${work}/0/${name}.zip`]: await makeZip([{ name: `${name}.v`, bytes: GAME }]) })
    const facts = async (file: string) => {
      const { ino, size, mtimeMs } = await stat(join(libraryDir, file), { bigint: true })
      return { inode: String(ino), size: Number(size), mtime: Number(mtimeMs) }
    }
    const made = await facts(`${work}/0/${name}.zip`)
    const entry = {
      fs_name: `${name}.zip`, kind: 'file' as const, problems: [],
      files: [{
        file_name: `${name}.zip`, file_path: path, absolute_path: '', file_size_bytes: made.size, mtime: made.mtime, inode: made.inode,
        is_top_level: true, category: null
      }]
    }
    const swap = {
      placings: [{ from: `${work}/0/${name}.zip`, to: `${path}/${name}.zip`, inode: made.inode, replaces: false }],
      originals: [{ path: `${path}/${name}.v`, ...await facts(`${path}/${name}.v`) }],
      write: {
        row: toRomRow({ entry, hashes: unhashed(entry) }, path, { id, stored_name: `${name}.v`, writes_tags: false }),
        files: toFileRows({ entry, hashes: unhashed(entry) })
      }
    }
    await sql('insert into rom_conversions (rom_id, platform_id, work_path, swap) values ($1, $2, $3, $4)', [id, platform, work, JSON.stringify(swap)])
    return { id, work: join(libraryDir, work), from: join(libraryDir, work, '0', `${name}.zip`), to: at(folder, `${name}.zip`), old: at(folder, `${name}.v`) }
  }
  return {
    test, app, admin, put, scan, rom, roms, sql, finished, libraryDir, at, list, run, start, convert, addPlatform,
    startHeld, leaveBegun
  }
}
