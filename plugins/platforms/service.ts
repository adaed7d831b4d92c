import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { badRequest } from '../../core/errors.ts'
import { systemConfig } from './config.ts'
import { Platform } from './entities.ts'
import { factsOf, resolvePlatform } from './find-platform.ts'
import { createPlatformFolder } from './folders.ts'
import { createPlatformLists } from './platform-lists.ts'
import { deletePlatform, selectHiddenFolders, upsertPlatform } from './rows.ts'
import type { PlatformView, UpdatePlatform } from './schemas.ts'
import { type AnyCaller, isPlatformVisible } from './visibility.ts'

/** Creates the service of platforms. */
export function createPlatforms (app: FastifyInstance, config: Config) {
  const lists = createPlatformLists(app, config)
  const { get } = lists

  /** Returns the row of a folder, inserted or updated with the folder's current platform. Texts of people stay. */
  async function ensure (
    db: Db, fsSlug: string, bindings = systemConfig.of(config)
  ): Promise<{ platform: Platform, isNew: boolean }> {
    const { slug, name } = resolvePlatform(fsSlug, bindings)
    const { id, isNew } = await upsertPlatform(db, { fs_slug: fsSlug, slug, name })
    return { platform: await db.em.findOneOrFail(Platform, { id }, { refresh: true }), isNew }
  }

  return {
    ...lists,
    ensure,

    /** The condition for a caller to see a row of `platforms`, aliased `p`, for statements of other features. */
    isVisible: isPlatformVisible,

    /** Returns the facts of a stored platform; null for an unknown one. */
    facts: (platform: { slug: string, fs_slug: string }, bindings = systemConfig.of(config)) =>
      factsOf(platform, bindings),

    /** Creates the folder and the row of a platform; either may exist already. */
    async create (context: Context<AnyCaller>, fsSlug: string): Promise<PlatformView> {
      const { db } = context
      if ((await selectHiddenFolders(context)).has(fsSlug)) {
        throw badRequest(`Folder '${fsSlug}' cannot be used; choose another name`)
      }
      await createPlatformFolder(app.library, fsSlug)
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
