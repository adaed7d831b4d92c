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
import { untagged } from '../base-rows.ts'
import { type ThumbnailStore, readThumbnail } from './thumbnail-store.ts'
import { type RomPlace, selectRomPlace } from './write-rows.ts'
import { type Lineage, type Writes, type Writing, folderOf } from './write-assets.ts'

/** Maximum number of conflict copies of one file. */
const CONFLICT_COPIES_MAX = 10
const NEWEST = { orderBy: { updated_at: 'desc', id: 'desc' }, populate: ['origin_device'] } as const

/** The validated input of an upload, before any asset rows are read. */
interface Upload {
  input: UploadInput
  lineage: Lineage & { rom_id: number }
  rom: RomPlace
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
export async function findRom (context: Context, id: number): Promise<RomPlace> {
  const rom = await selectRomPlace(context, id)
  if (rom === undefined) throw notFound(`ROM with ID '${id}' not found`)
  return rom
}

/**
 * Returns the newest asset that is not missing from the disk. To devices a missing file does not exist, but an upload
 * may bring it back.
 */
const findPresent = (newestFirst: readonly Asset[]) => newestFirst.find((asset) => !asset.missing_from_fs)

const changed = (name: string, current: Asset | undefined) => new ApiError('CONFLICT',
  `'${name}' has changed on the server since the device read it; negotiate again`,
  { fields: { error: 'changed', sha1: current?.sha1 ?? null } })

const outdated = (current: Asset, lastSync: Date | null) => new ApiError('CONFLICT',
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
  async function findPeers ({ tx }: Writing, { lineage, slot, name }: Upload): Promise<Asset[]> {
    const plain = untagged(name)
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
  async function checkKnown ({ tx }: Writing, upload: Upload, peers: readonly Asset[]): Promise<void> {
    const { acting, slot, name, lineage, input } = upload
    if (acting?.is_named !== true || input.overwrite === true || lineage.kind !== 'save') return
    const current = findPresent(slot === null ? peers.filter((peer) => peer.file_name === name) : peers)
    if (current === undefined) return
    const lastSync = await stamps.lastSync(tx, acting.device, current)
    const isKnown = lastSync === null ? slot === null : lastSync >= current.updated_at
    // The device may know the content from before the owner went back to it.
    if (!isKnown && !await stamps.isAgreed(tx, acting.device, current)) throw outdated(current, lastSync)
  }

  /**
   * Returns the asset that already has the uploaded content; null for new content.
   *
   * @throws ApiError CONFLICT if the current content is not the expected one
   */
  async function findSame (writing: Writing, upload: Upload, peers: readonly Asset[]): Promise<Asset | null> {
    const { input, slot, name, file } = upload
    if (input.expected_sha1 === undefined) {
      await checkKnown(writing, upload, peers)
      if (slot === null || input.overwrite === true || file.content_hash === null) return null
      return peers.find((peer) => peer.content_hash === file.content_hash) ?? null
    }
    const alike = slot === null ? peers.filter((peer) => untagged(peer.file_name) === untagged(name)) : peers
    const [newest] = alike
    const current = findPresent(alike)
    // A client repeats an upload whose response was lost.
    const same = [newest, current].find((one) => one?.sha1 === file.sha1)
    if (same !== undefined) return same
    const expected = input.expected_sha1 === 'none' ? undefined : input.expected_sha1.toLowerCase()
    if (current?.sha1 !== expected && newest?.sha1 !== expected) throw changed(name, current)
    return null
  }

  /** Writes the content again if the file is missing from the disk. */
  async function heal (writing: Writing, asset: Asset, upload: Upload): Promise<void> {
    if (!asset.missing_from_fs) return
    const { lineage, rom, file, clientMtime } = upload
    await writes.replace(writing, asset, file, folderOf(lineage, rom, asset.emulator ?? null), clientMtime)
  }

  async function put (
    writing: Writing, upload: Upload, peers: readonly Asset[], fileName: string, conflictOf: number | null
  ): Promise<Asset> {
    const { lineage, rom, emulator, slot, file, acting, clientMtime } = upload
    const known = peers.find((peer) => peer.file_name === fileName)
    if (known !== undefined) {
      known.emulator = emulator
      await writes.replace(writing, known, file, folderOf(lineage, rom, emulator), clientMtime)
      return known
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

  async function cleanUp (writing: Writing, gone: readonly Asset[]): Promise<void> {
    for (const asset of gone) writing.tx.em.assign(asset, { deleted_at: writing.now, deleted_by: 'cleanup' })
    await writing.tx.em.flush()
    if (gone.length > 0) await thumbnails.delete(writing, gone)
  }

  /** Stores the other side of a conflict as a copy beside the original. */
  async function putConflictCopy (writing: Writing, upload: Upload, originalId: number): Promise<Asset> {
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
    const beside = { ...upload, slot: null, emulator: original.emulator ?? null }
    const copy = await put(writing, beside, copies, conflictName(original.file_name, writing.now, label), original.id)
    await cleanUp(writing, copies.filter((other) => other !== copy).slice(CONFLICT_COPIES_MAX - 1))
    return copy
  }

  /** @returns the asset that stores the upload, and whether it is now the base of the device */
  async function store (writing: Writing, upload: Upload): Promise<{ asset: Asset, isCurrent: boolean }> {
    const { input, slot, name } = upload
    if (input.conflict_of !== undefined) {
      return { asset: await putConflictCopy(writing, upload, input.conflict_of), isCurrent: false }
    }
    const peers = await findPeers(writing, upload)
    const same = await findSame(writing, upload, peers)
    if (same !== null) {
      await heal(writing, same, upload)
      return { asset: same, isCurrent: slot === null || same === findPresent(peers) }
    }
    const fileName = slot === null ? name : withDateTag(name, writing.now)
    return { asset: await put(writing, upload, peers, fileName, null), isCurrent: true }
  }

  async function autoClean (writing: Writing, upload: Upload, asset: Asset): Promise<void> {
    const { input: { autocleanup: isWanted, autocleanup_limit: limit = 10 }, slot } = upload
    if (isWanted !== true || slot === null) return
    const kept = Math.min(Math.max(limit, 1), assetsConfig.of(config).max_autocleanup_limit)
    const peers = await findPeers(writing, upload)
    await cleanUp(writing, peers.slice(kept).filter((peer) => peer !== asset))
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
        await stamps.hold(writing.tx, acting)
        const { asset, isCurrent } = await store(writing, upload)
        if (acting !== null && isCurrent) await stamps.sent(writing.tx, acting.device, asset, input.content_hash)
        await autoClean(writing, upload, asset)
        if (picture !== null) await thumbnails.put(writing, asset, rom, picture)
        return asset
      })
      await app.roms.noteLastPlayed(db, caller.id, rom.id, new Date())
      await stamps.count(context, acting, input.session_id, asset.file_name)
      return asset.id
    }
  }
}
export type Uploads = ReturnType<typeof createUploads>
