import { PLATFORMS } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { systemConfig } from './config.ts'
import { Platform } from './entities.ts'
import { createPlatformFolders } from './folders.ts'
import { factsOf, resolvePlatform } from './find-platform.ts'
import { selectFirmware } from '../firmware/rows.ts'
import { createLibraryCache } from '../library/library-cache.ts'
import type { LongReads } from '../library/long-reads.ts'
import { selectVersions } from '../library/version-rows.ts'
import {
  type PlatformCondition, deletePlatform, hasPlatformId, selectHiddenFolders, selectPlatforms, upsertPlatform
} from './rows.ts'
import type { PlatformView, UpdatePlatform } from './schemas.ts'
import { type PlatformRow, type PlatformSize, providersOf, toPlatformView, toSyntheticView } from './views.ts'
import { type AnyCaller, isPlatformVisible, callerKey } from './visibility.ts'
import { isChangedAfter } from './changed-after.ts'

const SIZES_MAX_BYTES = 4 * 1024 ** 2
const BYTES_PER_SIZE = 100
const NO_SIZE: PlatformSize = { rom_count: 0, fs_size_bytes: 0 }

/** Counts the ROMs that a caller sees, by platform id. Skips platforms without a ROM. */
type SelectSizes = (reads: LongReads, caller: AnyCaller) => Promise<ReadonlyMap<number, PlatformSize>>

export function createPlatforms (app: FastifyInstance, config: Config) {
  const folders = createPlatformFolders(app)
  const providers = providersOf(app.registry)
  let selectSizes: SelectSizes = async () => new Map()

  const sizes = createLibraryCache<ReadonlyMap<number, PlatformSize>>({
    maxBytes: SIZES_MAX_BYTES, sizeOf: (key) => key.size * BYTES_PER_SIZE
  })

  /** Loads the platforms that a caller sees, with the counts that this caller sees. */
  async function select (context: Context<AnyCaller>, condition?: PlatformCondition): Promise<PlatformRow[]> {
    const { db, caller } = context
    const versions = await selectVersions(db, null)
    const [rows, known] = await Promise.all([
      selectPlatforms(context, condition),
      sizes.get(versions, { caller: callerKey(caller), of: 'sizes' }, () => selectSizes(app.longReads, caller))
    ])
    return rows.map((row) => ({ ...row, ...known.get(row.id) ?? NO_SIZE }))
  }

  async function toViews (db: Db, rows: readonly PlatformRow[]): Promise<PlatformView[]> {
    const firmware = await selectFirmware(db, rows.map((row) => row.id))
    const system = systemConfig.of(config)
    return rows.map((row) => toPlatformView(row, factsOf(row, system), firmware.get(row.id) ?? [], providers))
  }

  async function get (context: Context<AnyCaller>, id: number): Promise<PlatformView> {
    const { db } = context
    const [view] = await toViews(db, await select(context, hasPlatformId(id)))
    if (view === undefined) throw notFound(`Platform with ID '${id}' not found`)
    return view
  }

  /** Returns the row of a folder, inserted or updated with the folder's current platform. Texts of people stay. */
  async function ensure (
    db: Db, fsSlug: string, bindings = systemConfig.of(config)
  ): Promise<{ platform: Platform, isNew: boolean }> {
    const { slug, name } = resolvePlatform(fsSlug, bindings)
    const { id, isNew } = await upsertPlatform(db, { fs_slug: fsSlug, slug, name })
    return { platform: await db.em.findOneOrFail(Platform, { id }, { refresh: true }), isNew }
  }

  return {
    get,
    ensure,

    /** Registers the function that counts sizes, because this feature does not know ROMs. */
    measureBy (select: SelectSizes): void { selectSizes = select },

    /** The condition for a caller to see a row of `platforms`, aliased `p`, for statements of other features. */
    isVisible: isPlatformVisible,

    /** Returns the platform of a folder. */
    resolve: (fsSlug: string) => resolvePlatform(fsSlug, systemConfig.of(config)),

    /** Returns the facts of a stored platform; null for an unknown one. */
    facts: (platform: { slug: string, fs_slug: string }, bindings = systemConfig.of(config)) =>
      factsOf(platform, bindings),

    async list (context: Context<AnyCaller>, updatedAfter: string | undefined): Promise<PlatformView[]> {
      const { db } = context
      const condition = updatedAfter === undefined ? undefined : isChangedAfter('p.updated_at', updatedAfter)
      return await toViews(db, await select(context, condition))
    },

    async listIds (context: Context<AnyCaller>): Promise<number[]> {
      return (await selectPlatforms(context)).map((row) => row.id)
    },

    /** Lists every known platform, stored or not. */
    async listSupported (context: Context<AnyCaller>): Promise<PlatformView[]> {
      const { db } = context
      const stored = Map.groupBy(await toViews(db, await select(context)), (view) => view.slug)
      const now = new Date()
      return PLATFORMS.map((facts) => {
        const views = stored.get(facts.slug) ?? []
        return views.find((view) => view.fs_slug === facts.slug) ?? views[0] ??
          toSyntheticView({ slug: facts.slug, fs_slug: facts.slug, name: facts.name }, facts, now, providers)
      })
    },

    /** Lists folders that no scan has read yet. */
    async listUnscanned (db: Db): Promise<PlatformView[]> {
      const known = new Set((await db.em.find(Platform, {}, { fields: ['fs_slug'] })).map((platform) => platform.fs_slug))
      const [now, system] = [new Date(), systemConfig.of(config)]
      return (await folders.list()).filter((folder) => !known.has(folder)).map((folder) => {
        const { facts, ...names } = resolvePlatform(folder, system)
        return toSyntheticView({ ...names, fs_slug: folder }, facts, now, providers)
      })
    },

    /** Lists the folders of platforms that are hidden from a caller. */
    listHiddenFolders: (context: Context<AnyCaller>): Promise<Set<string>> => selectHiddenFolders(context),

    /** Creates the folder and the row of a platform; either may exist already. */
    async create (context: Context<AnyCaller>, fsSlug: string): Promise<PlatformView> {
      const { db } = context
      if ((await selectHiddenFolders(context)).has(fsSlug)) {
        throw badRequest(`Folder '${fsSlug}' cannot be used; choose another name`)
      }
      await folders.create(fsSlug)
      const { platform } = await ensure(db, fsSlug)
      return await get(context, platform.id)
    },

    async update (context: Context<AnyCaller>, id: number, input: UpdatePlatform): Promise<PlatformView> {
      const { db } = context
      await get(context, id)
      const platform = await db.em.findOneOrFail(Platform, { id })
      const { custom_name: name, description } = input
      if (name !== undefined && name !== null) platform.custom_name = name || null
      if (description !== undefined && description !== null) platform.description = description || null
      await db.em.flush()
      return await get(context, id)
    },

    /** Deletes a platform and its ROMs from the database; its folder stays. A scan restores them with their ids. */
    async delete (context: Context<AnyCaller>, id: number): Promise<void> {
      const { db } = context
      await get(context, id)
      await inTransaction(db, (tx) => deletePlatform(tx, id))
    }
  }
}
