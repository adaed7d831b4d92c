import type { FastifyInstance } from 'fastify'
import type { Readable } from 'node:stream'
import { ApiError } from '../../../core/errors.ts'
import { cleanFileName } from '../../assets/asset-names.ts'
import { withoutDateTag } from '../../assets/base-rows.ts'
import type { StagedFile } from '../../assets/asset-files.ts'
import { readPicture } from '../../assets/check-picture.ts'
import { readResolution } from '../../sync/by-file.ts'
import { type DeviceContext, requireSender } from '../acting-device.ts'
import {
  type CurrentAsset, type FileRow, type UnclaimedAsset, hasSlot, lockPath, selectByPath, selectListings, selectUnclaimed, storeContent,
  storeHeld
} from '../rows.ts'
import { emulatorOf } from './core-folders.ts'
import { decidePut } from './decide-put.ts'
import { findRoms } from './find-rom.ts'
import { readFolders } from './match-rom.ts'
import type { OwnFiles } from './own-files.ts'
import { type GameFile, type Key, isBatterySave, readGameFile } from './read-key.ts'

/** Far more files than an emulator has, and few enough to list them all at once. */
const PATHS_MAX = 100_000
/** The slot in which apps for handhelds look for the newest save. */
export const DEFAULT_SLOT = 'autosave'
const TRIES_MAX = 5

/** A file of a game that a device sends. */
interface GameUpload { key: Key, game: GameFile, file: StagedFile }

/** The place of a new asset among those of its game. */
export interface AssetPlace { rom_id: number | null, emulator: string | null, slot: string | null }

function storedName ({ file }: Key): string {
  try {
    return cleanFileName(file)
  } catch (err) {
    if (err instanceof ApiError) return 'unnamed'
    throw err
  }
}

/** Returns the emulator of a path; null for a path without the folder of a core. */
export function emulatorOfPath ({ folders }: Pick<Key, 'folders'>, platforms: Parameters<typeof readFolders>[1]): string | null {
  const { core } = readFolders(folders, platforms)
  return core === null ? null : emulatorOf(core).slice(0, 50)
}

/** True if an asset of another app is the file of a path: it has the same emulator, or none, and the same name or slot. */
export function isTwin (key: Key, { kind }: GameFile, emulator: string | null, asset: UnclaimedAsset): boolean {
  if (asset.kind !== kind || (asset.emulator !== null && asset.emulator !== emulator)) return false
  return withoutDateTag(asset.file_name) === storedName(key) || (isBatterySave(key) && asset.slot !== null)
}

/** Returns the slot for a new save: battery saves share one with other apps, unless another emulator has it. */
export async function chooseSlot (context: DeviceContext, key: Key, romId: number | null): Promise<string | null> {
  if (romId === null || !isBatterySave(key) || await hasSlot(context, romId, DEFAULT_SLOT)) return null
  return DEFAULT_SLOT
}

const tooMany = () => new ApiError('NO_FREE_SPACE', `You store ${PATHS_MAX} files already; delete some before you send others`)

/** Creates the function that stores the files that devices send. */
export function createPuts (app: FastifyInstance, ownFiles: OwnFiles) {
  const { changes, filed } = app.assets

  /** Finds an asset of another app that is the file of a path. */
  async function findTwin (
    context: DeviceContext, romId: number, { key, game }: Omit<GameUpload, 'file'>, emulator: string | null
  ): Promise<UnclaimedAsset | null> {
    return (await selectUnclaimed(context, romId)).find((asset) => isTwin(key, game, emulator, asset)) ?? null
  }

  /** Returns the asset of another app that a new path belongs to, or the place of a new one. */
  async function findPlace (context: DeviceContext, row: FileRow, { key, game }: GameUpload): Promise<AssetPlace & { twin: UnclaimedAsset | null }> {
    const matches = (await findRoms(context, [{ key, game }])).get(key.folded) ?? []
    const chosen = matches.find(({ rom_id: id }) => id === row.rom_id) ?? (matches.length === 1 ? matches[0] : undefined)
    const romId = chosen?.rom_id ?? null
    const emulator = emulatorOfPath(key, matches)
    if (romId === null) return { rom_id: null, emulator, slot: null, twin: null }
    const twin = await findTwin(context, romId, { key, game }, emulator)
    return { rom_id: romId, emulator, slot: await chooseSlot(context, key, romId), twin }
  }

  /** Stores which content the path has, after an upload. */
  async function storeAsset (
    { db: tx }: DeviceContext, row: FileRow, asset: { id: number, rom_id: number | null }, content: Pick<StagedFile, 'sha1' | 'md5' | 'file_size_bytes'>
  ): Promise<void> {
    await storeContent(tx, row.id, {
      sha1: content.sha1, md5: content.md5, file_size_bytes: content.file_size_bytes, asset_id: asset.id, rom_id: asset.rom_id, disk_path: null
    })
    if (row.disk_path !== null) await ownFiles.remove([row.disk_path])
  }

  async function addAsset (context: DeviceContext, row: FileRow, upload: GameUpload, place: AssetPlace): Promise<void> {
    const { key, game: { kind }, file } = upload
    const id = await filed.add(context, { kind, file_name: storedName(key), ...place }, file)
    await storeAsset(context, row, { id, rom_id: place.rom_id }, file)
  }

  /** Stores content that the server's content was not the base of. The server's content stays, unless the owner chose otherwise. */
  async function storeConflict (context: DeviceContext, row: FileRow, asset: CurrentAsset, { file }: GameUpload): Promise<void> {
    const { kind, id, rom_id: romId } = asset
    const resolution = readResolution(context.device)
    if (kind === 'screenshot' || resolution === 'device_wins') {
      await replaceAsset(context, row, asset, file)
    } else if (resolution === 'server_wins' || romId === null) {
      await changes.addVersion(context, { kind, id }, file, null)
    } else {
      await app.assets.upload(context, kind, { rom_id: romId, conflict_of: id }, { main: file, screenshot: null })
    }
  }

  async function replaceAsset (context: DeviceContext, row: FileRow, asset: CurrentAsset, file: StagedFile): Promise<void> {
    const ref = { kind: asset.kind, id: asset.id }
    if (!await filed.replace(context, ref, asset.sha1, file)) throw new ContentMoved()
    await storeAsset(context, row, asset, file)
  }

  /** Makes an asset of another app the content of a path, and stores the upload as one for that asset. */
  async function putBound (context: DeviceContext, row: FileRow, twin: UnclaimedAsset, upload: GameUpload): Promise<void> {
    await storeAsset(context, row, twin, { sha1: twin.sha1, md5: '', file_size_bytes: 0 })
    const bound = await selectByPath(context, upload.key.folded)
    if (bound?.asset) await putKnown(context, bound, bound.asset, upload)
  }

  /** Stores content for a path whose asset was deleted. */
  async function putDeleted (context: DeviceContext, row: FileRow, { rom_id: romId, emulator }: CurrentAsset, upload: GameUpload): Promise<void> {
    const twin = romId === null ? null : await findTwin(context, romId, upload, emulator)
    if (twin !== null) await putBound(context, row, twin, upload)
    else await addAsset(context, row, upload, { rom_id: romId, emulator, slot: await chooseSlot(context, upload.key, romId) })
  }

  /** Stores content for a path that has or had an asset. */
  async function putKnown (context: DeviceContext, row: FileRow, asset: CurrentAsset, upload: GameUpload): Promise<void> {
    const { db: tx, device } = context
    const { file } = upload
    const listing = (await selectListings(tx, device.id, row.id)).get(row.id) ?? null
    const { action } = await decidePut(tx, asset, file.sha1, listing)
    if (action === 'conflict') await storeConflict(context, row, asset, upload)
    if (action !== 'upload') return
    if (asset.deleted_by === null) await replaceAsset(context, row, asset, file)
    else await putDeleted(context, row, asset, upload)
  }

  async function putNew (context: DeviceContext, row: FileRow, upload: GameUpload): Promise<void> {
    const { twin, ...place } = await findPlace(context, row, upload)
    if (twin === null) await addAsset(context, row, upload, place)
    else await putBound(context, row, twin, upload)
  }

  /** True for a picture of a state that is one by its content. Other bytes are stored, but never shown. */
  async function isGameFile ({ kind }: GameFile, file: StagedFile, name: string): Promise<boolean> {
    if (kind !== 'screenshot') return true
    return await readPicture({ path: file.path, head: file.head, name }).then(() => true, (err: unknown) => {
      if (err instanceof ApiError) return false
      throw err
    })
  }

  async function store (context: DeviceContext, key: Key, file: StagedFile): Promise<void> {
    const game = readGameFile(key)
    const isGame = game !== null && await isGameFile(game, file, key.file)
    await context.db.transact(async (tx) => {
      const within = { ...context, db: tx }
      const id = await lockPath(tx, context.caller.id, key, PATHS_MAX)
      const row = id === null ? null : await selectByPath(within, key.folded)
      if (row === null) throw tooMany()
      if (row.asset !== null && !row.asset.is_reachable) {
        throw new ApiError('FORBIDDEN', `The game of '${key.path}' is hidden from you; ask an administrator to show it`)
      }
      if (!isGame || game === null) await ownFiles.store(within, row, file)
      else if (row.asset === null) await putNew(within, row, { key, game, file })
      else await putKnown(within, row, row.asset, { key, game, file })
      await storeHeld(tx, context.device.id, row.id, file.sha1)
    })
  }

  /** Repeats the work while other writers change the content between the decision and the write. */
  async function storeAgain (context: DeviceContext, key: Key, file: StagedFile): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await store(context, key, file)
        return
      } catch (err) {
        if (!(err instanceof ContentMoved) || tries === TRIES_MAX) throw err
      }
    }
  }

  /**
   * Stores a file that a device sends; no content of a save is lost. An empty file is accepted and not stored, because
   * no client fetches one and an emulator that crashed leaves one.
   *
   * @throws ApiError FORBIDDEN, TOO_LARGE, NO_FREE_SPACE
   */
  return async function put (context: DeviceContext, key: Key, content: Readable): Promise<void> {
    requireSender(context)
    const file = await app.assets.stage(context.db, context.caller.id, storedName(key), content)
    try {
      if (file.file_size_bytes > 0) await storeAgain(context, key, file)
    } finally {
      await file.discard()
    }
  }
}

/** Another writer changed the content after the decision about it. */
class ContentMoved extends ApiError {
  constructor () { super('CONFLICT', 'The file changed on the server while it was received; send it again') }
}
