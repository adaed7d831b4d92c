import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { createLibraryCache } from '../library-versions/library-cache.ts'
import { selectVersions } from '../library-versions/version-rows.ts'
import { type AnyCaller, callerKey, canSeeEverything } from '../platforms/visibility.ts'
import type { Addresses } from '../resources/addresses.ts'
import {
  VIRTUAL_TYPES, type VirtualType, isVirtualType, readVirtualId, virtualId
} from '../roms/virtual-collections.ts'
import { CachedText } from '../../core/web/cached-text.ts'
import { unknownCollection } from './access.ts'
import { writeVirtual } from './views.ts'
import { type VirtualRow, selectVirtualCollections } from './virtual-rows.ts'

/**
 * Limit per worker: the collections of a million ROMs for one type and all types, or of many callers of usual
 * libraries.
 */
const CACHE_MAX_BYTES = 96 * 1024 ** 2
const RANGE_BYTES = 200
const ID_SHOWN_MAX = 200

/** Collections as JSON text, and the range of each in the text, by id. */
interface VirtualList { text: CachedText, ranges: ReadonlyMap<string, { start: number, end: number }> }

const sizeOf = ({ text, ranges }: VirtualList) => text.size + ranges.size * RANGE_BYTES

function toList (rows: readonly VirtualRow[], addresses: Addresses): VirtualList {
  const ranges = new Map<string, { start: number, end: number }>()
  let end = 0
  const texts = rows.map((row) => {
    const text = writeVirtual(row, addresses)
    // Skip the bracket or the comma.
    const start = end + 1
    end = start + Buffer.byteLength(text)
    ranges.set(virtualId(row), { start, end })
    return text
  })
  return { text: new CachedText(`[${texts.join(',')}]`), ranges }
}

const TYPES = Object.keys(VIRTUAL_TYPES).filter(isVirtualType)
const NONE: VirtualList = { text: new CachedText('[]'), ranges: new Map() }

/**
 * Creates the service of collections computed from shared metadata of ROMs. It caches their text by caller and type.
 */
export function createVirtualCollections (app: FastifyInstance) {
  const cache = createLibraryCache<VirtualList>({ maxBytes: CACHE_MAX_BYTES, sizeOf })

  async function select ({ db, caller }: Context<AnyCaller>, types: readonly VirtualType[]): Promise<VirtualList> {
    if (types.length === 0) return NONE
    const versions = await selectVersions(db, null)
    return await cache.get(versions, { caller: callerKey(canSeeEverything(caller) ? null : caller), of: types },
      async () => toList(await selectVirtualCollections(app.longReads, caller, types), app.resources.marked))
  }

  return {
    /** @param type one of the types, or `all`; any other type gives an empty list */
    async list (
      context: Context<AnyCaller>, type: string, limit: number | undefined
    ): Promise<CachedText | string> {
      const { text, ranges } = await select(context, type === 'all' ? TYPES : [type].filter(isVirtualType))
      if (limit === undefined || limit >= ranges.size) return text
      const last = [...ranges.values()][limit - 1]
      return `${text.bytes.toString('utf8', 0, last?.end ?? 1)}]`
    },

    async listIds (context: Context<AnyCaller>): Promise<string[]> {
      const { ranges } = await select(context, TYPES)
      return [...ranges.keys()]
    },

    async get (context: Context<AnyCaller>, id: string): Promise<string> {
      const key = readVirtualId(id)
      const { text, ranges } = await select(context, key === null ? [] : [key.type])
      const range = key === null ? undefined : ranges.get(virtualId(key))
      if (range === undefined) throw unknownCollection(id.slice(0, ID_SHOWN_MAX))
      return text.bytes.toString('utf8', range.start, range.end)
    }
  }
}
export type VirtualCollections = ReturnType<typeof createVirtualCollections>
