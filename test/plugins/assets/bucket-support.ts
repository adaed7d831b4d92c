import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, folderOf } from './support.ts'
import { CREDENTIALS, startS3Server } from '../../core/store/s3-server.ts'
import { addRom } from '../roms/support.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import type { Test } from 'tap'

export const MIB = 1024 ** 2
export const folder = await mkdtemp(join(tmpdir(), 'svc-second-host-'))
export let count = 0

export interface Cartridge {
  id: number
  platform_id: number
  path_cover_large: string
  path_cover_small: string
  path_manual: string | null
}

export async function startBucket (t: Test) {
  const server = await startS3Server(t)
  const env = {
    SVC_STORE_URL: server.url, AWS_ACCESS_KEY_ID: CREDENTIALS.id, AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret
  }
  const test = await buildTestApp(t, { worker: true, env })
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  /** A second host: another data directory, the same database and the same bucket. */
  const second = await buildTestApp({ testdir: () => folder, teardown: t.teardown.bind(t) }, {
    databaseUrl: test.databaseUrl, withoutAdmin: true, env: { ...env, SVC_LIBRARY_DIR: test.libraryDir }
  })

  async function newUser () {
    const name = `user${++count}`
    const headers = await test.createUser(name)
    const rom = await addRom(test, { fs_name: `Game ${count}.sfc` })
    const userFolder = await folderOf(test, name)
    const keys = () => [...server.objects.keys()].filter((key) => key.includes(userFolder)).sort()
    const clients = { here: createClient(test, headers), there: createClient(second, headers) }
    return { name, headers, rom, keys, folder: userFolder, ...clients }
  }

  async function waitForTask (id: string): Promise<Record<string, Record<string, number>>> {
    return await until(async () => {
      const { status, meta } = (await test.app.inject({ url: `/api/tasks/${id}`, headers: test.admin }))
        .json<{ status: string, meta: Record<string, Record<string, number>> }>()
      return status === 'finished' ? meta : null
    }, 'the end of the task')
  }

  async function runTask (name: string, payload: object = {}): Promise<Record<string, Record<string, number>>> {
    const { task_id: id } = (await test.app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers: test.admin, payload }))
      .json<{ task_id: string }>()
    return await waitForTask(id)
  }
  const artworkKeys = () => [...server.objects.keys()].filter((key) => key.startsWith('data/resources/')).sort()

  async function scan (type = 'quick'): Promise<void> {
    const payload = { type, apis: [] }
    const reply = await test.app.inject({ method: 'POST', url: '/api/tasks/scan', headers: test.admin, payload })
    await waitForTask(reply.json<{ task_id: string }>().task_id)
  }

  /** Scans a cartridge that is its own cover. */
  async function addCartridge (): Promise<Cartridge & { name: string, reload (): Promise<Cartridge> }> {
    const name = `Cart ${++count}.p8.png`
    const { default: sharp } = await import('sharp')
    const create = { width: 30, height: 40, channels: 3, background: { r: count, g: 20, b: 20 } } as const
    const picture = await sharp({ create }).png().toBuffer()
    await mkdir(join(test.libraryDir, 'roms', 'pico-8'), { recursive: true })
    await writeFile(join(test.libraryDir, 'roms', 'pico-8', name), picture)
    await scan()
    const select = async (column: string, value: string | number) => (await test.app.pg.query<Cartridge>(
      `select id, platform_id, path_cover_large, path_cover_small, path_manual from roms where ${column} = $1`, [value])).rows[0]
    const rom = await select('fs_name', name)
    if (rom === undefined) throw new Error('The scan stores the cartridge')
    return {
      ...rom,
      name,
      async reload () {
        const stored = await select('id', rom.id)
        if (stored === undefined) throw new Error('The ROM is gone')
        return stored
      }
    }
  }

  const readFrom = async (host: typeof test, path: string, headers: Record<string, string> = {}) =>
    await host.app.inject({ url: `/assets/svc/resources/${path}`, headers: { ...test.admin, ...headers } })

  async function listLocal (): Promise<string[]> {
    const entries = await readdir(join(test.config.data_dir, 'resources'), { recursive: true, withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  return { server, env, test, second, newUser, runTask, artworkKeys, scan, addCartridge, readFrom, listLocal }
}
