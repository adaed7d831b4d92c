import { PLATFORMS } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import { selectFirmware } from '../firmware/rows.ts'
import { isChangedAfter } from './changed-after.ts'
import { systemConfig } from './config.ts'
import { Platform } from './entities.ts'
import { factsOf, resolvePlatform } from './find-platform.ts'
import { listFolderNames } from './folders.ts'
import { createPlatformSizes } from './platform-sizes.ts'
import { type PlatformCondition, hasPlatformId, selectHiddenFolders, selectPlatforms } from './rows.ts'
import type { PlatformView } from './schemas.ts'
import { type PlatformRow, type PlatformSize, providersOf, toPlatformView, toSyntheticView } from './views.ts'
import type { AnyCaller } from './visibility.ts'

const NO_SIZE: PlatformSize = { rom_count: 0, fs_size_bytes: 0 }

/** Creates the part of the platforms service that reads them: stored ones, known ones, and unscanned folders. */
export function createPlatformLists (app: FastifyInstance, config: Config) {
  const providers = providersOf(app.registry)
  const sizes = createPlatformSizes(app.longReads)

  /** Loads the platforms that a caller sees, with the counts that this caller sees. */
  async function select (context: Context<AnyCaller>, condition?: PlatformCondition): Promise<PlatformRow[]> {
    const [rows, known] = await Promise.all([selectPlatforms(context, condition), sizes.load(context)])
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

  return {
    get,
    measureBy: sizes.measureBy,

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
      const now = databaseDate()
      return PLATFORMS.map((facts) => {
        const views = stored.get(facts.slug) ?? []
        return views.find((view) => view.fs_slug === facts.slug) ?? views[0] ??
          toSyntheticView({ slug: facts.slug, fs_slug: facts.slug, name: facts.name }, facts, now, providers)
      })
    },

    /** Lists folders that no scan has read yet. */
    async listUnscanned (db: Db): Promise<PlatformView[]> {
      const known = new Set((await db.em.find(Platform, {}, { fields: ['fs_slug'] })).map((platform) => platform.fs_slug))
      const [now, system] = [databaseDate(), systemConfig.of(config)]
      return (await listFolderNames(app.library)).filter((folder) => !known.has(folder)).map((folder) => {
        const { facts, ...names } = resolvePlatform(folder, system)
        return toSyntheticView({ ...names, fs_slug: folder }, facts, now, providers)
      })
    },

    /** Lists the folders of platforms that are hidden from a caller. */
    listHiddenFolders: (context: Context<AnyCaller>): Promise<Set<string>> => selectHiddenFolders(context)
  }
}
