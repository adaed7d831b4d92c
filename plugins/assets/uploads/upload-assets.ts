import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { ApiError, badRequest, notFound } from '../../../core/errors.ts'
import { escapeLike } from '../../../core/database/columns.ts'
import { requireTime } from '../../../core/database/times.ts'
import { formatDate } from '../../../core/typebox.ts'
import { assetsConfig } from '../config.ts'
import type { ActingDevice, DeviceStamps } from '../device-sync/device-stamps.ts'
import { Asset, type AssetKind } from '../entities.ts'
import type { StagedFile } from '../asset-files.ts'
import { cleanFileName, cleanFolder, conflictName, withDateTag } from '../asset-names.ts'
import { assetNotFound } from '../read-assets.ts'
import type { UploadInput } from '../schemas.ts'
import { withoutDateTag } from '../base-rows.ts'
import { type ThumbnailStore, readThumbnail } from './thumbnail-store.ts'
import { type RomNames, selectRomPlace } from './write-rows.ts'
import { type WriteKey, type Writes, type WriteContext, folderOf } from './write-assets.ts'

/** Maximum number of conflict copies of one file. */
const CONFLICT_COPIES_MAX = 10
const NEWEST = { orderBy: { updated_at: 'desc', id: 'desc' }, populate: ['origin_device'] } as const

/** The validated input of an upload, before any asset rows are read. */
interface Upload {
  input: UploadInput
  lineage: WriteKey & { rom_id: number }
  rom: RomNames
  /** The cleaned file name, without the date tag of a slot. */
  name: string
  slot: string | null
  emulator: string | null
  file: StagedFile
  acting: ActingDevice | null
  clientMtime: Date | null
}

const orNull = (text: string | undefined) => text === undefined || text === '' ? null : text

/** Parses the time when a device changed a file. @throws ApiError INVALID if the text is not a valid time */
export const readMtime = (text: string | undefined): Date | null =>
  text === undefined ? null : requireTime(text, ['query', 'mtime'])

/** Finds a ROM that is visible to the caller. @throws ApiError NOT_FOUND */
export async function findRom (context: Context, id: number): Promise<RomNames> {
  const rom = await selectRomPlace(context, id)
  if (rom === undefined) throw notFound(`ROM with ID '${id}' not found`)
  return rom
}

/**
 * Returns the newest asset that is not missing from the disk. To devices a missing file does not exist, but an upload
 * may bring it back.
 */
const findPresent = (newestFirst: readonly Asset[]) => newestFirst.find((asset) => !asset.missing_from_fs)

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

export function createUploads (
  app: FastifyInstance, config: Config, { writes, stamps, thumbnails }: {
    writes: Writes, stamps: DeviceStamps, thumbnails: ThumbnailStore
  }
) {
  async function read (
    context: Context, kind: AssetKind, input: UploadInput, file: StagedFile
  ): Promise<Upload> {
    const { caller } = context
    const acting = await stamps.findSender(context, input.device_id)
    const rom = await findRom(context, input.rom_id)
    const emulator = orNull(input.emulator)
    return {
      input,
      rom,
      lineage: { user_id: caller.id, rom_id: rom.id, kind },
      name: cleanFileName(file.given_name),
      // States have no slot, and the slot of a state is not validated.
      slot: kind === 'save' ? orNull(input.slot) : null,
      emulator: emulator === null ? null : cleanFolder(emulator),
      file,
      acting,
      clientMtime: readMtime(input.mtime)
    }
  }

  /** Finds the live assets of the slot, or those without a slot and with a similar name; newest first. */
  async function findPeers ({ tx }: WriteContext, { lineage, slot, name }: Upload): Promise<Asset[]> {
    const plain = withoutDateTag(name)
    const stem = plain.slice(0, plain.length - extname(plain).length)
    return await tx.em.find(Asset, {
      user: lineage.user_id,
      rom: lineage.rom_id,
      kind: lineage.kind,
      slot,
      deleted_at: null,
      ...(slot === null ? { file_name: { $like: `${escapeLike(stem)}%` } } : {})
    }, NEWEST)
  }

  /** @throws ApiError CONFLICT if the device does not know the content that it is about to replace. */
  async function checkKnown ({ tx }: WriteContext, upload: Upload, peers: readonly Asset[]): Promise<void> {
    const { acting, slot, name, lineage, input } = upload
    if (acting?.is_named !== true || input.overwrite === true || lineage.kind !== 'save') return
    const current = findPresent(slot === null ? peers.filter((peer) => peer.file_name === name) : peers)
    if (current === undefined) return
    const lastSync = await stamps.lastSync(tx, acting.device, current)
    const isKnown = lastSync === null ? slot === null : lastSync >= current.updated_at
    // The device may know the content from before the owner went back to it.
    if (!isKnown && !await stamps.isBase(tx, acting.device, current)) throw outdatedError(current, lastSync)
  }

  /**
   * Returns the asset that already has the uploaded content; null for new content.
   *
   * @throws ApiError CONFLICT if the current content is not the expected one
   */
  async function findSame (writing: WriteContext, upload: Upload, peers: readonly Asset[]): Promise<Asset | null> {
    const { input, slot, name, file } = upload
    if (input.expected_sha1 === undefined) {
      await checkKnown(writing, upload, peers)
      if (slot === null || input.overwrite === true || file.content_hash === null) return null
      return peers.find((peer) => peer.content_hash === file.content_hash) ?? null
    }
    const sameNamed = slot === null
      ? peers.filter((peer) => withoutDateTag(peer.file_name) === withoutDateTag(name))
      : peers
    const [newest] = sameNamed
    const current = findPresent(sameNamed)
    // A client repeats an upload whose response was lost.
    const same = [newest, current].find((one) => one?.sha1 === file.sha1)
    if (same !== undefined) return same
    const expected = input.expected_sha1 === 'none' ? undefined : input.expected_sha1.toLowerCase()
    if (current?.sha1 !== expected && newest?.sha1 !== expected) throw changedError(name, current)
    return null
  }

  /** Writes the content again if the file is missing from the disk. */
  async function rewriteMissing (writing: WriteContext, asset: Asset, upload: Upload): Promise<void> {
    if (!asset.missing_from_fs) return
    const { lineage, rom, file, clientMtime } = upload
    await writes.replace(writing, asset, file, folderOf(lineage, rom, asset.emulator ?? null), clientMtime)
  }

  async function writeAsset (
    writing: WriteContext, upload: Upload, peers: readonly Asset[], fileName: string, conflictOf: number | null
  ): Promise<Asset> {
    const { lineage, rom, emulator, slot, file, acting, clientMtime } = upload
    const existing = peers.find((peer) => peer.file_name === fileName)
    if (existing !== undefined) {
      existing.emulator = emulator
      await writes.replace(writing, existing, file, folderOf(lineage, rom, emulator), clientMtime)
      return existing
    }
    return await writes.create(writing, {
      lineage,
      rom,
      file_name: fileName,
      emulator,
      slot,
      is_public: false,
      is_gallery: false,
      origin_device_id: acting?.device.id ?? null,
      conflict_of: conflictOf,
      client_mtime: clientMtime
    }, file, slot === null ? null : peers[0]?.updated_at ?? null)
  }

  async function cleanUp (writing: WriteContext, deletedAssets: readonly Asset[]): Promise<void> {
    for (const asset of deletedAssets) writing.tx.em.assign(asset, { deleted_at: writing.now, deleted_by: 'cleanup' })
    await writing.tx.em.flush()
    if (deletedAssets.length > 0) await thumbnails.delete(writing, deletedAssets)
  }

  /** Stores the other side of a conflict as a copy beside the original. */
  async function writeConflictCopy (writing: WriteContext, upload: Upload, originalId: number): Promise<Asset> {
    const { lineage: { user_id: user, rom_id: rom, kind }, acting, file } = upload
    const original = await writing.tx.em.findOne(Asset, { id: originalId, user, rom, kind, deleted_at: null })
    if (original === null) throw assetNotFound(kind, originalId)
    if (typeof original.conflict_of === 'number') {
      throw badRequest(`'${original.file_name}' is itself a conflict copy; replace it, or keep the content of the server`)
    }
    if (original.sha1 === file.sha1) return original
    const copies = await writing.tx.em.find(Asset, { user, kind, conflict_of: original.id, deleted_at: null }, NEWEST)
    const same = copies.find((copy) => copy.sha1 === file.sha1)
    if (same !== undefined) return same
    const device = acting?.device
    const label = device === undefined ? 'unknown' : orNull(device.name?.trim()) ?? device.device_id.slice(0, 8)
    const copyUpload = { ...upload, slot: null, emulator: original.emulator ?? null }
    const copy = await writeAsset(
      writing, copyUpload, copies, conflictName(original.file_name, writing.now, label), original.id
    )
    await cleanUp(writing, copies.filter((other) => other !== copy).slice(CONFLICT_COPIES_MAX - 1))
    return copy
  }

  /** @returns the asset that stores the upload, and whether it is now the base of the device */
  async function store (writing: WriteContext, upload: Upload): Promise<{ asset: Asset, isCurrent: boolean }> {
    const { input, slot, name } = upload
    if (input.conflict_of !== undefined) {
      return { asset: await writeConflictCopy(writing, upload, input.conflict_of), isCurrent: false }
    }
    const peers = await findPeers(writing, upload)
    const same = await findSame(writing, upload, peers)
    if (same !== null) {
      await rewriteMissing(writing, same, upload)
      return { asset: same, isCurrent: slot === null || same === findPresent(peers) }
    }
    const fileName = slot === null ? name : withDateTag(name, writing.now)
    return { asset: await writeAsset(writing, upload, peers, fileName, null), isCurrent: true }
  }

  async function autoClean (writing: WriteContext, upload: Upload, asset: Asset): Promise<void> {
    const { input: { autocleanup: isWanted, autocleanup_limit: limit = 10 }, slot } = upload
    if (isWanted !== true || slot === null) return
    const limitInSlot = Math.min(Math.max(limit, 1), assetsConfig.of(config).max_autocleanup_limit)
    const peers = await findPeers(writing, upload)
    await cleanUp(writing, peers.slice(limitInSlot).filter((peer) => peer !== asset))
  }

  return {
    /**
     * Stores an upload. Clients rely on the order of these steps.
     *
     * @returns the id of the asset that stores the upload
     */
    async upload (
      context: Context, kind: 'save' | 'state', input: UploadInput,
      main: StagedFile, screenshot: StagedFile | null
    ): Promise<number> {
      const { db, caller } = context
      const upload = await read(context, kind, input, main)
      const picture = await readThumbnail(screenshot)
      const { acting, lineage, rom } = upload
      const asset = await writes.run(db, [lineage], async (writing) => {
        await stamps.lock(writing.tx, acting)
        const { asset, isCurrent } = await store(writing, upload)
        if (acting !== null && isCurrent) await stamps.stampUpload(writing.tx, acting.device, asset, input.content_hash)
        await autoClean(writing, upload, asset)
        if (picture !== null) await thumbnails.store(writing, asset, rom, picture)
        return asset
      })
      await app.roms.storeLastPlayed(db, caller.id, rom.id, new Date())
      await stamps.count(context, acting, input.session_id, asset.file_name)
      return asset.id
    }
  }
}
export type Uploads = ReturnType<typeof createUploads>
