import type { Context } from '../../core/access/context.ts'
import { allOf } from '../../core/database/conditions.ts'
import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import type { Device } from '../devices/entities.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { Asset, type AssetKind, type AssetRef } from './entities.ts'
import {
  type AssetCondition, type AssetRow, isAt, isDeleted, isId, isInSlot, isKind, isLive, isOfPlatform, isOfRom,
  isOfVisibleRom, isOneOf, isOrphaned, isOwn, isReachable, isShared, selectAssets, selectScreenshotsOf, selectSyncs
} from './rows.ts'
import type { ListInput, SaveSummary, SaveView, StateView } from './schemas.ts'
import { createThumbnails } from './uploads/thumbnails.ts'
import { toSaveView, toStateView, toSyncViews } from './views.ts'

const NAMES: Record<AssetKind, string> = { save: 'Save', state: 'State', screenshot: 'Screenshot' }
export const assetNotFound = ({ kind, id }: AssetRef) => notFound(`${NAMES[kind]} with ID '${id}' not found`)

async function createThumbnailsOf (db: Db, rows: readonly AssetRow[]) {
  return createThumbnails(await selectScreenshotsOf(db, rows))
}

/** @param device device whose sync state is part of each view */
export async function toSaveViews (
  db: Db, rows: readonly AssetRow[], device: Device | null
): Promise<SaveView[]> {
  const thumbnailOf = await createThumbnailsOf(db, rows)
  if (device === null) return rows.map((row) => toSaveView(row, thumbnailOf(row), []))
  const syncs = Map.groupBy(await selectSyncs(db, rows), (sync) => sync.asset_id)
  return rows.map((row) => toSaveView(row, thumbnailOf(row), toSyncViews(row, syncs.get(row.id) ?? [], device)))
}

export async function toStateViews (db: Db, rows: readonly AssetRow[]): Promise<StateView[]> {
  const thumbnailOf = await createThumbnailsOf(db, rows)
  return rows.map((row) => toStateView(row, thumbnailOf(row)))
}

async function getOne (db: Db, ref: AssetRef, conditions: readonly AssetCondition[]): Promise<AssetRow> {
  const [row] = await selectAssets(db, allOf([isId(ref.id), isKind(ref.kind), ...conditions]))
  if (row === undefined) throw assetNotFound(ref)
  return row
}

/** Returns an asset of the caller, also a deleted one. @throws ApiError NOT_FOUND */
export const getOwnOrDeleted = ({ db, caller }: Context<AnyCaller>, ref: AssetRef): Promise<AssetRow> =>
  getOne(db, ref, [isOwn(caller), isReachable(caller)])

/** Returns a deleted asset of the caller. @throws ApiError NOT_FOUND */
export const getDeleted = ({ db, caller }: Context<AnyCaller>, ref: AssetRef): Promise<AssetRow> =>
  getOne(db, ref, [isOwn(caller), isDeleted, isReachable(caller)])

/** Returns an asset of the caller. @throws ApiError NOT_FOUND */
export const getOwn = ({ db, caller }: Context<AnyCaller>, ref: AssetRef): Promise<AssetRow> =>
  getOne(db, ref, [isOwn(caller), isLive, isReachable(caller)])

/** Returns all of these assets of the caller. @throws ApiError NOT_FOUND for the first that is missing */
export async function getAllOwn (
  { db, caller }: Context<AnyCaller>, kind: AssetKind, ids: readonly number[]
): Promise<AssetRow[]> {
  const rows = await selectAssets(db, allOf([isOneOf(ids), isKind(kind), isOwn(caller), isLive, isReachable(caller)]))
  const missing = ids.find((id) => !rows.some((row) => row.id === id))
  if (missing !== undefined) throw assetNotFound({ kind, id: missing })
  return rows
}

/** Returns an asset of the caller, or a public one of another user. @throws ApiError NOT_FOUND */
export const getReadable = ({ db, caller }: Context<AnyCaller>, ref: AssetRef): Promise<AssetRow> =>
  getOne(db, ref, [isShared(caller), isLive, isReachable(caller)])

/** Returns a readable asset by the path that clients know. @throws ApiError NOT_FOUND */
export async function getReadableAt ({ db, caller }: Context<AnyCaller>, path: string): Promise<AssetRow> {
  const [newest] = await selectAssets(db, allOf([isAt(path), isShared(caller), isLive, isReachable(caller)]))
  if (newest === undefined) throw notFound('Asset not found')
  return newest
}

function listConditions (input: ListInput): AssetCondition[] {
  const { rom_id: rom, platform_id: platform, slot } = input
  return [
    ...(rom === undefined ? [] : [isOfRom(rom)]),
    ...(platform === undefined ? [] : [isOfPlatform(platform)]),
    ...(slot === undefined ? [] : [isInSlot(slot)])
  ]
}

/** Lists the assets of the caller whose ROM is visible, or those whose ROM is gone. */
export async function listOwn (
  { db, caller }: Context<AnyCaller>, kind: AssetKind, input: ListInput
): Promise<AssetRow[]> {
  const ofRoms = input.orphaned ? isOrphaned : isOfVisibleRom(caller)
  return await selectAssets(db, allOf([isOwn(caller), isKind(kind), isLive, ofRoms, ...listConditions(input)]))
}

/** Lists deleted assets that can be restored. */
export async function listDeleted ({ db, caller }: Context<AnyCaller>, kind: AssetKind): Promise<AssetRow[]> {
  return await selectAssets(db, allOf([isOwn(caller), isKind(kind), isDeleted, isReachable(caller)]))
}

/** Finds a live screenshot by name: one of the gallery, or the picture of a save or state. */
export const findScreenshot = (
  db: Db, of: { user_id: number, rom_id: number }, named: Pick<Asset, 'file_name' | 'is_gallery'>
): Promise<Asset | null> => db.em.findOne(Asset,
  { user: of.user_id, rom: of.rom_id, kind: 'screenshot', ...named, deleted_at: null })

/** Counts the saves of a ROM by slot, newest first. */
export async function summarize (context: Context<AnyCaller>, romId: number): Promise<SaveSummary> {
  const { db } = context
  const rows = await listOwn(context, 'save', { rom_id: romId, orphaned: false })
  const slots = [...Map.groupBy(rows, (row) => row.slot)]
  const latest = slots.flatMap(([, [first]]) => first ?? [])
  const views = new Map((await toSaveViews(db, latest, null)).map((view) => [view.id, view]))
  return {
    total_count: rows.length,
    slots: slots.flatMap(([slot, saves]) => {
      const view = views.get(saves[0]?.id ?? 0)
      return view === undefined ? [] : [{ slot, count: saves.length, latest: view }]
    })
  }
}
