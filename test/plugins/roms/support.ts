import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequiredEntityData } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import { Platform } from '../../../plugins/platforms/entities.ts'
import { Rom, RomFile, RomMatch } from '../../../plugins/roms/entities.ts'
import { nameSortKey, parseName } from '../../../plugins/library/names.ts'
import type { TestApp } from '../../support.ts'

export interface RomSeed {
  fs_name: string
  platform?: string
  /** Provider → id, or id and raw record. */
  matches?: Record<string, string | number | { id: string | number, metadata: Record<string, unknown> }>
  /** Paths below the platform's folder; without them the ROM is one file of its own name. */
  files?: string[]
  fields?: Partial<RequiredEntityData<Rom>>
  file?: Partial<RequiredEntityData<RomFile>>
}

/** Stores a ROM as a scan of `roms/<platform>/<fs_name>` would. */
export async function addRom ({ app }: TestApp, seed: RomSeed): Promise<number> {
  const db = app.db
  const { platform } = await app.platforms.ensure(db, seed.platform ?? 'snes')
  const folder = `roms/${platform.fs_slug}`
  const isFolder = seed.files !== undefined
  const { fs_name_no_ext: stem, fs_name_no_tags: name, fs_extension: extension, regions, languages, tags } =
    parseName(seed.fs_name, { isFolder })
  const rom = db.em.create(Rom, {
    platform: db.em.getReference(Platform, platform.id),
    fs_name: seed.fs_name,
    fs_path: folder,
    fs_name_no_ext: stem,
    fs_name_no_tags: name,
    fs_extension: extension,
    regions,
    languages,
    tags,
    is_folder: isFolder,
    has_multiple_files: isFolder,
    name,
    name_sort_key: nameSortKey(name),
    is_identified: seed.matches !== undefined,
    ...seed.fields
  })
  for (const path of seed.files?.map((file) => `${seed.fs_name}/${file}`) ?? [seed.fs_name]) {
    const slash = path.lastIndexOf('/')
    db.em.create(RomFile, {
      rom,
      file_name: path.slice(slash + 1),
      file_path: slash === -1 ? folder : `${folder}/${path.slice(0, slash)}`,
      last_modified: new Date('2024-01-02T03:04:05Z'),
      is_top_level: path.split('/').length <= 2,
      ...seed.file
    })
  }
  await db.em.flush()
  for (const [provider, match] of Object.entries(seed.matches ?? {})) {
    const { id, metadata } = typeof match === 'object' ? match : { id: match, metadata: {} }
    db.em.create(RomMatch, { rom, provider, provider_id: String(id), match: { id, metadata } })
  }
  await db.em.flush()
  return rom.id
}

const counted = new AsyncLocalStorage<{ queries: number }>()
const watched = new WeakSet<FastifyInstance['pg']>()

/** Makes a pool count the connections that counted work takes. */
function watch (pool: FastifyInstance['pg']): void {
  if (watched.has(pool)) return
  watched.add(pool)
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown
  Reflect.set(pool, 'connect', (...args: unknown[]) => {
    const count = counted.getStore()
    if (count !== undefined) count.queries++
    return connect(...args)
  })
}

/** Counts the statements and transactions of some work, without those of other work at the same time. */
export async function countQueries ({ app }: TestApp, work: () => Promise<unknown>): Promise<number> {
  watch(app.pg)
  const count = { queries: 0 }
  await counted.run(count, work)
  return count.queries
}
