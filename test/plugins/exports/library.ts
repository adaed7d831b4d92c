import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import type { Test } from 'tap'
import { Platform } from '../../../plugins/platforms/entities.ts'
import { Rom } from '../../../plugins/roms/entities.ts'
import { type FreshOptions, type TestApp, type TestAppOptions, buildTestApp, shareTestApp } from '../../support.ts'

/** The row of a ROM, whose file is created in the library. */
export type RomInput = { fs_name: string } & Partial<Omit<Rom, 'id' | 'platform' | 'fs_name'>>

export interface ExportTestApp extends TestApp {
  worker: NonNullable<TestApp['worker']>
  /** Returns the path of a file of the platform `snes`. */
  snes (...path: string[]): string
  addPlatform (fsSlug: string, fields?: Partial<Platform>): Promise<number>
  addRom (platformId: number, rom: RomInput): Promise<number>
  /** Writes a file into the resources folder; returns its path there. */
  addResource (path: string, bytes: Buffer | string): Promise<string>
  call (route: string, options?: { body?: object, query?: string, headers?: Record<string, string> }): Promise<{
    status: number
    body: ReturnType<typeof JSON.parse>
  }>
}

const LIBRARY = { roms: { snes: {} } }

/** Builds a server with a worker on a library of structure A. */
export async function buildExportApp (t: Test, options: TestAppOptions = {}): Promise<ExportTestApp> {
  return equip(await buildTestApp(t, { worker: true, library: LIBRARY, ...options }))
}

/** Builds one such server for all tests of a file; see `shareTestApp`. */
export function shareExportApp (owner: Test) {
  const fresh = shareTestApp(owner, { worker: true })
  return async (t: Test, options: FreshOptions = {}) => equip(await fresh(t, { library: LIBRARY, ...options }))
}

function equip (server: TestApp): ExportTestApp {
  const { app, worker, admin, config, libraryDir } = server
  if (worker === null) throw new Error('This test needs a worker')
  const db = app.db
  const folders = new Map<number, string>()

  return {
    ...server,
    worker,
    snes: (...path) => join(libraryDir, 'roms', 'snes', ...path),
    async addPlatform (fsSlug, fields = {}) {
      const platform = db.em.create(Platform, { slug: fsSlug, fs_slug: fsSlug, name: `The ${fsSlug}`, ...fields })
      await db.em.persist(platform).flush()
      folders.set(platform.id, `roms/${fsSlug}`)
      return platform.id
    },
    async addRom (platformId, { fs_name: name, ...fields }) {
      const rom = db.em.create(Rom, {
        platform: db.em.getReference(Platform, platformId),
        fs_name: name,
        fs_path: folders.get(platformId) ?? '',
        fs_name_no_tags: name.replace(/\.[^.]+$/, ''),
        fs_name_no_ext: name.replace(/\.[^.]+$/, ''),
        ...fields
      })
      await db.em.persist(rom).flush()
      return rom.id
    },
    async addResource (path, bytes) {
      const file = join(config.data_dir, 'resources', path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, bytes)
      return path
    },
    async call (route, { body, query = '', headers = admin } = {}) {
      const reply = await app.inject({
        method: 'POST', url: `/api/export/${route}${query}`, headers, ...(body === undefined ? {} : { payload: body })
      })
      return { status: reply.statusCode, body: reply.json() }
    }
  }
}

/** Creates a small picture of one colour. */
export function createPicture (format: 'png' | 'jpeg' | 'webp' | 'gif' | 'avif', red = 200, alpha = 1): Promise<Buffer> {
  const background = { r: red, g: 40, b: 40, alpha }
  return sharp({ create: { width: 8, height: 8, channels: 4, background } }).toFormat(format).toBuffer()
}
