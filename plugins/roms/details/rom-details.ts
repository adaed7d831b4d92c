import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Condition } from '../../../core/database/conditions.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { toVersionSnapshot } from '../../library-versions/version-rows.ts'
import { selectNotes } from '../../notes/rows.ts'
import { toNoteView } from '../../notes/views.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { RomExtensions } from '../extensions.ts'
import { selectMemberships } from '../filters/collection-rows.ts'
import { hasProviderId } from '../filters/list-conditions.ts'
import { type HashQuery, hasHash } from '../filters/search-conditions.ts'
import { readFilter } from '../lists/query-conditions.ts'
import type { SmartMembers } from './smart-members.ts'
import type { LoadedRom, RomBuilder } from '../items/rom-builder.ts'
import type { CallerRomRow } from '../rows.ts'
import type { BuiltDetailedRom, UserCollectionView } from '../schemas.ts'
import { romNotFound } from '../rom-not-found.ts'

interface RomDetailParts { extensions: RomExtensions, builder: RomBuilder, smartMembers: SmartMembers }

/** Creates the part of the ROMs service that finds one ROM, with its assets, collections and notes. */
export function createRomDetails (app: FastifyInstance, { extensions, builder, smartMembers }: RomDetailParts) {
  const { userFiles } = extensions

  /** Returns those whose smart collections are asked, by id. The caller is known without a statement. */
  async function listOwners (caller: AnyCaller, userIds: readonly number[]): Promise<Map<number, AnyCaller>> {
    const others = await app.permissions.listCallers(userIds.filter((id) => id !== caller?.id))
    return new Map<number, AnyCaller>(caller === null ? others : [...others, [caller.id, caller]])
  }

  /**
   * Returns the collections that contain a ROM. A smart collection contains the ROMs that its filter finds for its
   * owner.
   *
   * @param at a time before the row was read
   */
  async function findCollections (
    { db, caller }: Context<AnyCaller>, { id: romId, collections, versions }: CallerRomRow, at: number
  ): Promise<UserCollectionView[]> {
    const smart = collections.flatMap(({ filter_criteria: criteria, ...row }) =>
      criteria === null ? [] : [{ ...row, criteria }])
    const snapshot = toVersionSnapshot(versions, at)
    const known = new Map(await Promise.all(smart.map(async (row) =>
      [row.id, row.user_id === caller?.id ? await smartMembers.find(caller, snapshot, row, romId) : null] as const)))
    const unknown = smart.filter(({ id }) => known.get(id) === null)
    const owners = await listOwners(caller, unknown.map((row) => row.user_id))
    const memberships = await selectMemberships(db, romId, unknown.map(({ id, user_id: userId, criteria }) => {
      const { condition } = readFilter(extensions, criteria)
      return { key: id, userId, condition: condition(owners.get(userId) ?? null, true) }
    }))
    return collections
      .filter(({ id, filter_criteria: criteria }) => criteria === null || known.get(id) === true || memberships.has(id))
      .map(({ id, name, filter_criteria: criteria }) => ({ id, name, is_smart: criteria !== null }))
  }

  /**
   * Adds assets, collections and notes to a ROM.
   *
   * @param at a time before the ROM's row was read
   */
  async function addDetails (
    context: Context<AnyCaller>, { row, rom: { shared, more } }: LoadedRom, at: number
  ): Promise<BuiltDetailedRom> {
    const [assets, collections, notes] = await Promise.all([
      row.has_assets ? userFiles.select(context, row.id) : userFiles.emptyDetails,
      findCollections(context, row, at),
      row.has_notes ? selectNotes(context, row.id) : []
    ])
    const own = { user_collections: collections, all_user_notes: notes.map(toNoteView) }
    return { shared, more: { ...more, ...assets, ...own } }
  }

  /** Returns the first ROM that meets a condition, with all details; null if there is none. */
  async function find (context: Context<AnyCaller>, condition: Condition): Promise<BuiltDetailedRom | null> {
    const at = performance.now()
    const found = await builder.buildFirst(context, condition)
    return found === null ? null : addDetails(context, found, at)
  }

  return {
    async getDetailed (context: Context<AnyCaller>, id: number): Promise<BuiltDetailedRom> {
      const at = performance.now()
      const found = await builder.buildById(context, id, { collections: true })
      if (found === null) throw romNotFound(id)
      return addDetails(context, found, at)
    },

    /** @param ids by provider key */
    async findByProviderId (
      context: Context<AnyCaller>, ids: Readonly<Record<string, number | string>>
    ): Promise<BuiltDetailedRom> {
      if (Object.keys(ids).length === 0) throw badRequest('The request has no id; send at least one, such as igdb_id')
      const rom = await find(context, hasProviderId(ids))
      if (rom === null) throw notFound('No ROM has any of these ids')
      return rom
    },

    async findByHash (context: Context<AnyCaller>, hashes: HashQuery): Promise<BuiltDetailedRom> {
      if (Object.values(hashes).every((hash) => hash === '')) {
        throw badRequest('The request has no hash; send at least one of crc_hash, md5_hash, sha1_hash, ra_hash')
      }
      const rom = await find(context, hasHash(hashes))
      if (rom === null) throw notFound('No ROM has any of these hashes')
      return rom
    }
  }
}
