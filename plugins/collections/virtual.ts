import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../core/database/clock.ts'
import type { Context } from '../../core/access/context.ts'
import { formatDate } from '../../core/typebox.ts'
import { CachedText } from '../../core/web/cached-text.ts'
import { createLibraryCache } from '../library-versions/library-cache.ts'
import { type VersionSnapshot, selectVersions } from '../library-versions/version-rows.ts'
import { type AnyCaller, callerKey, canSeeEverything } from '../platforms/visibility.ts'
import { seesAllAges } from '../roms/value-count-rows.ts'
import { isVirtualType, readVirtualId, virtualId } from '../roms/virtual-collections.ts'
import { unknownCollection } from './access.ts'
import { type VirtualRow, writeVirtual } from './views.ts'
import { type VirtualIndex, keyOf, loadCovers, readIndex, updateIndex } from './virtual-index.ts'
import {
  SEARCHED_MEMBERS_MAX, type VirtualCount, countMembers, countVirtual, selectCoverIds, selectHiddenRoms, selectMembers
} from './virtual-rows.ts'

/** Limits per worker: texts with all ids of a million ROMs, or those of many callers; and thousands of collections. */
const TEXTS_MAX_BYTES = 96 * 1024 ** 2
const INDEXES_MAX_BYTES = 32 * 1024 ** 2
const COLLECTION_BYTES = 300
const COVER_BYTES = 300
const ID_SHOWN_MAX = 200

const NONE = new CachedText('[]')

/** The virtual collections of one caller, by name. */
interface Listed extends Pick<VirtualIndex, 'counts' | 'coverIds' | 'covers'> {
  /** As in responses. */
  time: string
}

/** @property withIds undefined to contain ids unless they are many */
export interface VirtualOptions { limit?: number | undefined, withIds?: boolean | undefined }

/** Creates the service of collections computed from shared metadata of ROMs. It caches their text by caller. */
export function createVirtualCollections (app: FastifyInstance) {
  const { longReads, shortReads, resources: { marked: addresses } } = app
  const texts = createLibraryCache<CachedText>({ maxBytes: TEXTS_MAX_BYTES, sizeOf: ({ size }) => size })
  const lists = createLibraryCache<Listed>({
    maxBytes: INDEXES_MAX_BYTES, sizeOf: ({ counts }) => counts.length * COLLECTION_BYTES
  })
  const indexes = createLibraryCache<VirtualIndex>({
    maxBytes: INDEXES_MAX_BYTES,
    sizeOf: ({ counts, covers }) => counts.length * COLLECTION_BYTES + covers.size * COVER_BYTES
  })

  const getIndex = (versions: VersionSnapshot, caller: AnyCaller): Promise<VirtualIndex> =>
    indexes.get(versions, { caller: callerKey(caller), of: 'index' }, async (former) => {
      const viewer = { caller, addresses }
      const updated = former === null ? null : await updateIndex(shortReads, former, viewer)
      return updated ?? await readIndex(longReads, viewer)
    })

  /** Removes the ROMs that are hidden from a caller one by one. */
  async function withoutHidden (index: VirtualIndex, caller: AnyCaller): Promise<Omit<Listed, 'time'>> {
    const hidden = await selectHiddenRoms(shortReads, caller)
    if (hidden.size === 0) return index
    const counts = await countVirtual(shortReads, caller)
    const coverIds = new Map(counts.map((one) =>
      [keyOf(one), (index.coverIds.get(keyOf(one)) ?? []).filter((id) => !hidden.has(id))]))
    const emptied = counts.filter((one) =>
      coverIds.get(keyOf(one))?.length === 0 && index.coverIds.get(keyOf(one))?.length !== 0)
    const found = await selectCoverIds(shortReads, caller, emptied)
    for (const one of found) coverIds.set(keyOf(one), one.ids)
    const more = await loadCovers(shortReads, found.flatMap(({ ids }) => ids), addresses)
    return { counts, coverIds, covers: new Map([...index.covers, ...more]) }
  }

  /** Returns all virtual collections that a caller sees. Callers without an age limit share an index. */
  const listAll = (versions: VersionSnapshot, caller: AnyCaller): Promise<Listed> =>
    lists.get(versions, { caller: callerKey(caller), of: 'list' }, async () => {
      const isShared = await seesAllAges(shortReads, caller)
      const index = await getIndex(versions, isShared ? null : caller)
      return { ...isShared ? await withoutHidden(index, caller) : index, time: formatDate(databaseDate()) }
    })

  async function selectRows (
    caller: AnyCaller, { coverIds, covers, time }: Listed, counts: readonly VirtualCount[], withIds: boolean | undefined
  ): Promise<VirtualRow[]> {
    // Many ids are sent only on request, because the database reads each of these ROMs.
    const members = new Map((withIds ?? countMembers(counts) <= SEARCHED_MEMBERS_MAX)
      ? (await selectMembers(longReads, caller, counts)).map((one) => [keyOf(one), one.ids])
      : [])
    return counts.map((one) => ({
      ...one,
      rom_ids: members.get(keyOf(one)) ?? '',
      covers: (coverIds.get(keyOf(one)) ?? []).flatMap((id) => covers.get(id) ?? []),
      time
    }))
  }

  const viewerOf = (caller: AnyCaller) => canSeeEverything(caller) ? null : caller

  return {
    /** @param type one of the types, or `all`; any other type gives an empty list */
    async list (context: Context<AnyCaller>, type: string, { limit, withIds }: VirtualOptions): Promise<CachedText> {
      if (type !== 'all' && !isVirtualType(type)) return NONE
      const caller = viewerOf(context.caller)
      const versions = await selectVersions(context.db, null)
      return await texts.get(versions, { caller: callerKey(caller), of: [type, limit, withIds] }, async () => {
        const listed = await listAll(versions, caller)
        const counts = listed.counts.filter((one) => type === 'all' || type === one.type).slice(0, limit)
        const rows = await selectRows(caller, listed, counts, withIds)
        return new CachedText(`[${rows.map(writeVirtual).join(',')}]`)
      })
    },

    async listIds ({ db, caller }: Context<AnyCaller>): Promise<string[]> {
      const { counts } = await listAll(await selectVersions(db, null), viewerOf(caller))
      return counts.map(virtualId)
    },

    async get (context: Context<AnyCaller>, id: string, withIds: boolean | undefined): Promise<CachedText> {
      const caller = viewerOf(context.caller)
      const versions = await selectVersions(context.db, null)
      const key = readVirtualId(id)
      const listed = await listAll(versions, caller)
      const count = key === null ? undefined : listed.counts.find((one) => keyOf(one) === keyOf(key))
      if (count === undefined) throw unknownCollection(id.slice(0, ID_SHOWN_MAX))
      return await texts.get(versions, { caller: callerKey(caller), of: [virtualId(count), withIds] }, async () => {
        const rows = await selectRows(caller, listed, [count], withIds)
        return new CachedText(rows.map(writeVirtual).join(''))
      })
    },

    /** Reads the collections that every caller's list is made from, so that no caller waits for them. */
    async prepare (): Promise<void> {
      await listAll(await selectVersions(app.db, null), null)
    }
  }
}
export type VirtualCollections = ReturnType<typeof createVirtualCollections>
