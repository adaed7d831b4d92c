import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { createKept } from '../library/kept.ts'
import { selectMoment } from '../library/version-rows.ts'
import { type Viewer, viewerKey } from '../platforms/visibility.ts'
import { readVirtualId, virtualId } from '../roms/filters/virtual-collections.ts'
import { unknownCollection } from './access.ts'
import { selectCovers } from './rows.ts'
import type { VirtualCollectionView } from './schemas.ts'
import { toVirtualView } from './views.ts'
import { type VirtualRow, selectVirtualCollections } from './virtual-rows.ts'

/** In each worker: those of a million ROMs, or of many viewers of usual libraries. */
const KEPT_MAX_BYTES = 64 * 1024 ** 2
const ROW_BYTES = 200
const ID_SHOWN_MAX = 200

const sizeOf = (rows: readonly VirtualRow[]) => rows.reduce((bytes, row) => bytes + row.rom_ids.length + ROW_BYTES, 0)

/** The collections that follow from what the metadata of ROMs have in common. */
export function createVirtualCollections (app: FastifyInstance) {
  const kept = createKept<VirtualRow[]>({ maxBytes: KEPT_MAX_BYTES, sizeOf })

  async function select (em: EntityManager, viewer: Viewer): Promise<VirtualRow[]> {
    const moment = await selectMoment(em, null)
    return await kept.get(moment, { viewer: viewerKey(viewer), of: 'virtual' }, () => selectVirtualCollections(app.longReads, viewer))
  }

  async function toViews (
    em: EntityManager, viewer: Viewer, rows: readonly VirtualRow[]
  ): Promise<VirtualCollectionView[]> {
    const covers = await selectCovers(em, viewer, [...new Set(rows.flatMap((row) => row.cover_ids))])
    return rows.map((row) =>
      toVirtualView(row, row.cover_ids.flatMap((id) => covers.get(id) ?? []), app.resources.marked))
  }

  return {
    /** @param type one of the types, or `all`; another one has none */
    async list (
      em: EntityManager, viewer: Viewer, type: string, limit: number | undefined
    ): Promise<VirtualCollectionView[]> {
      const rows = await select(em, viewer)
      return await toViews(em, viewer, rows.filter((row) => type === 'all' || row.type === type).slice(0, limit))
    },

    listIds: async (em: EntityManager, viewer: Viewer): Promise<string[]> => (await select(em, viewer)).map(virtualId),

    async get (em: EntityManager, viewer: Viewer, id: string): Promise<VirtualCollectionView> {
      const wanted = readVirtualId(id)
      const row = wanted === null
        ? undefined
        : (await select(em, viewer)).find(({ type, name }) => type === wanted.type && name === wanted.name)
      const [view] = row === undefined ? [] : await toViews(em, viewer, [row])
      if (view === undefined) throw unknownCollection(id.slice(0, ID_SHOWN_MAX))
      return view
    }
  }
}
export type VirtualCollections = ReturnType<typeof createVirtualCollections>
