import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { notFound } from '../../core/errors.ts'
import { createChangeLog } from '../library-versions/change-log.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { createFilterValueCache } from './lists/filter-value-cache.ts'
import { createListCache } from './lists/list-cache.ts'
import { createPageReader } from './lists/page-reader.ts'
import { createRomLists } from './lists/rom-lists.ts'
import { createRomPages } from './lists/rom-pages.ts'
import { createValueEstimates } from './lists/value-estimates.ts'
import { createSmartMembers } from './details/smart-members.ts'
import { type MarksChange, writeMarks } from './marks/mark-rows.ts'
import { storeLastPlayed, storePlays } from './marks/played-rows.ts'
import { createRomProviders } from './providers.ts'
import { RomBuilder, toSimple } from './items/rom-builder.ts'
import { romNotFound } from './rom-not-found.ts'
import { createRomDetails } from './details/rom-details.ts'
import { selectFile } from './rows.ts'
import {
  type BuiltSimpleRom, type RomFileView, type RomUserView, type SimpleRomView, createRomSchemas
} from './schemas.ts'
import type { UserFiles } from './extensions.ts'
import { toFileView } from './views.ts'
import { hasVisibleRom } from './visible-rows.ts'

/** @throws ApiError NOT_FOUND unless the caller sees the ROM */
async function checkVisible (context: Context<AnyCaller>, id: number): Promise<void> {
  if (!await hasVisibleRom(context, id)) throw romNotFound(id)
}

async function getFile (context: Context<AnyCaller>, fileId: number): Promise<RomFileView> {
  const row = await selectFile(context, fileId)
  if (row === null) throw notFound('File not found')
  return toFileView(row)
}

/** Creates the service of ROMs. */
export function createRoms (app: FastifyInstance, config: Config, userFiles: UserFiles) {
  const providers = createRomProviders(app.registry)
  const extensions = { providers, userFiles }
  const builder = new RomBuilder(providers, app.resources)
  const { longReads, shortReads } = app
  const smartMembers = createSmartMembers({ reads: longReads, changes: createChangeLog(() => app.db), extensions })
  const cache = createListCache({ longReads, shortReads, identifying: providers.identifying })
  const filterValues = createFilterValueCache({ reads: longReads, lists: cache })
  const reader = createPageReader({ config, extensions, cache, estimates: createValueEstimates(longReads) })

  return {
    providers,
    schemas: createRomSchemas(providers, userFiles.fields),
    storeLastPlayed,
    storePlays,
    checkVisible,
    getFile,
    prepareLists: reader.prepare,
    ...createRomPages({ extensions, builder, reader, filterValues, addresses: app.resources.marked }),
    ...createRomLists({ extensions, builder, cache, filterValues }),
    ...createRomDetails(app, { extensions, builder, smartMembers }),

    getSimple: async (context: Context<AnyCaller>, id: number): Promise<BuiltSimpleRom> =>
      toSimple(await builder.get(context, id)),

    async mark (context: Context, id: number, change: MarksChange): Promise<RomUserView> {
      const { more } = await builder.get(context, id)
      await writeMarks(context, { id, sibling_roms: more.sibling_roms }, change)
      return (await builder.get(context, id)).more.rom_user
    },

    /** Returns ROMs for the server's own events; see `RomBuilder.buildForEvents`. */
    views: (ids: readonly number[], userId: number | null): Promise<SimpleRomView[]> =>
      builder.buildForEvents(app.db, ids, userId)
  }
}
