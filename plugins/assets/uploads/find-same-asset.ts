import { escapeLike } from '../../../core/database/columns.ts'
import { ApiError } from '../../../core/errors.ts'
import { stemOf } from '../../../core/files/stem-of.ts'
import { formatDate } from '../../../core/typebox.ts'
import { withoutDateTag } from '../base-rows.ts'
import { findLastSync, isBaseOf } from '../device-sync/device-stamps.ts'
import { Asset } from '../entities.ts'
import type { Upload } from './read-upload.ts'
import type { WriteContext } from './write-transaction.ts'

/** Newest first, with the devices of origin. */
export const NEWEST = { orderBy: { updated_at: 'desc', id: 'desc' }, populate: ['origin_device'] } as const

/**
 * Returns the newest asset that is not missing from the disk. To devices a missing file does not exist, but an upload
 * may bring it back.
 */
export const findPresent = (newestFirst: readonly Asset[]) => newestFirst.find((asset) => !asset.missing_from_fs)

const changedError = (name: string, current: Asset | undefined) => new ApiError('CONFLICT',
  `'${name}' has changed on the server since the device read it; negotiate again`,
  { fields: { error: 'changed', sha1: current?.sha1 ?? null } })

const outdatedError = (current: Asset, lastSync: Date | null) => new ApiError('CONFLICT',
  `'${current.file_name}' is newer on the server than on this device; download it, or send overwrite=true`, {
    fields: {
      error: 'conflict',
      save_id: current.id,
      current_save_time: formatDate(current.updated_at),
      device_sync_time: formatDate(lastSync)
    }
  })

/** Finds the live assets of the slot, or those without a slot and with a similar name; newest first. */
export async function findPeers ({ tx }: WriteContext, { lineage, slot, name }: Upload): Promise<Asset[]> {
  const stem = stemOf(withoutDateTag(name))
  return await tx.em.find(Asset, {
    user: lineage.user_id,
    rom: lineage.rom_id,
    kind: lineage.kind,
    slot,
    deleted_at: null,
    ...(slot === null ? { file_name: { $like: `${escapeLike(stem)}%` } } : {})
  }, NEWEST)
}

/**
 * Checks an upload that names no expected content.
 *
 * @throws ApiError CONFLICT if the device does not know the content that it is about to replace
 */
export async function requireKnownContent (
  { tx }: WriteContext, upload: Upload, peers: readonly Asset[]
): Promise<void> {
  const { acting, slot, name, lineage, input } = upload
  if (input.expected_sha1 !== undefined) return
  if (acting?.is_named !== true || input.overwrite === true || lineage.kind !== 'save') return
  const current = findPresent(slot === null ? peers.filter((peer) => peer.file_name === name) : peers)
  if (current === undefined) return
  const lastSync = await findLastSync(tx, acting.device, current)
  const isKnown = lastSync === null ? slot === null : lastSync >= current.updated_at
  // The device may know the content from before the owner went back to it.
  if (!isKnown && !await isBaseOf(tx, acting.device, current)) throw outdatedError(current, lastSync)
}

/** Lists the assets that an upload with `expected_sha1` may replace, newest first. */
const listReplaceable = ({ slot, name }: Upload, peers: readonly Asset[]): readonly Asset[] => slot === null
  ? peers.filter((peer) => withoutDateTag(peer.file_name) === withoutDateTag(name))
  : peers

/** Finds the save of a slot that already has the uploaded content. */
async function findSameInSlot (
  { tx }: WriteContext, { input, slot, file, acting }: Upload, peers: readonly Asset[]
): Promise<Asset | null> {
  if (slot === null || input.overwrite === true || file.content_hash === null) return null
  const same = peers.find((peer) => peer.content_hash === file.content_hash)
  const current = findPresent(peers)
  if (same === undefined || current === undefined || acting === null) return same ?? null
  const isFormer = peers.indexOf(same) > peers.indexOf(current)
  // A device that had the current content goes back to former content, which becomes the newest save of the slot.
  return isFormer && await isBaseOf(tx, acting.device, current) ? null : same
}

/** Returns the asset that already has the uploaded content; null for new content. */
export async function findSame (
  writing: WriteContext, upload: Upload, peers: readonly Asset[]
): Promise<Asset | null> {
  const { input, file } = upload
  if (input.expected_sha1 === undefined) return await findSameInSlot(writing, upload, peers)
  const replaceable = listReplaceable(upload, peers)
  // A client repeats an upload whose response was lost.
  return [replaceable[0], findPresent(replaceable)].find((one) => one?.sha1 === file.sha1) ?? null
}

/** Checks an upload with `expected_sha1`. @throws ApiError CONFLICT if the current content is not the expected one */
export function requireExpectedContent (upload: Upload, peers: readonly Asset[]): void {
  const { input, name } = upload
  if (input.expected_sha1 === undefined) return
  const replaceable = listReplaceable(upload, peers)
  const current = findPresent(replaceable)
  const expected = input.expected_sha1 === 'none' ? undefined : input.expected_sha1.toLowerCase()
  if (current?.sha1 !== expected && replaceable[0]?.sha1 !== expected) throw changedError(name, current)
}
