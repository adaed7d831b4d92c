import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ApiError, forbidden } from '../../../core/errors.ts'
import type { StagedFile } from '../../assets/asset-files.ts'
import { readPicture } from '../../assets/check-picture.ts'
import { type DeviceContext, requireSender } from '../acting-device.ts'
import {
  type CurrentAsset, type FileRow, type UnclaimedAsset, currentSha1, lockPath, selectByPath, selectListings,
  storeHeld, storeSeen
} from '../rows.ts'
import { type AssetPlace, chooseSlot, findPlace, findTwin, storedName } from './asset-place.ts'
import { ContentMoved, type GameUpload, createAssetWrites } from './asset-writes.ts'
import { decidePut } from './decide-put.ts'
import type { OwnFiles } from './own-files.ts'
import type { Precondition } from './precondition.ts'
import { type GameFile, type Key, readGameFile } from './read-key.ts'

/** Far more files than an emulator has, and few enough to list them all at once. */
const PATHS_MAX = 100_000
const TRIES_MAX = 5

/** The checks before a file is stored. */
interface PutChecks { check: Precondition, confirm: () => Promise<void> }

const tooMany = () => new ApiError('NO_FREE_SPACE',
  `You store ${PATHS_MAX} files already; delete some before you send others`)
const hiddenGame = ({ path }: Key) => forbidden(`The game of '${path}' is hidden from you; ask an administrator to show it`)

/** True for a picture of a state that is one by its content. Other bytes are stored, but never shown. */
async function isGameFile ({ kind }: GameFile, { path, head }: StagedFile, name: string): Promise<boolean> {
  if (kind !== 'screenshot') return true
  return await readPicture({ path, head, name }).then(() => true, (err: unknown) => {
    if (err instanceof ApiError) return false
    throw err
  })
}

/** Finds the place of the asset after a deleted one: that of the deleted one, unless its game was unknown. */
async function findNextPlace (
  context: DeviceContext, upload: GameUpload, { rom_id: romId, emulator }: CurrentAsset
): Promise<AssetPlace> {
  if (romId === null) return await findPlace(context, upload.row, upload)
  return { rom_id: romId, emulator, slot: await chooseSlot(context, upload, romId) }
}

/** Stores that a device has the content that it sent. Programs that share a password do not know of each other's. */
async function storeSent (context: DeviceContext, row: FileRow, { sha1 }: StagedFile): Promise<void> {
  const { db: tx, caller, device } = context
  if (currentSha1(row) === sha1 && caller.token_id !== null) {
    await storeSeen(tx, { deviceId: device.id, fileId: row.id, sha1, isSent: true })
  } else await storeHeld(tx, device.id, row.id, sha1)
}

/** Creates the function that stores the files that devices send. */
export function createPuts (app: FastifyInstance, ownFiles: OwnFiles) {
  const { storeAsset, addAsset, replaceAsset, storeConflict } = createAssetWrites(app, ownFiles)

  /** Makes an asset of another app the content of a path, and stores the upload as one for that asset. */
  async function putBound (context: DeviceContext, upload: GameUpload, twin: UnclaimedAsset): Promise<void> {
    await storeAsset(context, upload.row, twin, { sha1: twin.sha1, md5: null, file_size_bytes: 0 })
    const row = await selectByPath(context, upload.key.folded)
    if (row?.asset) await putKnown(context, { ...upload, row }, row.asset)
  }

  /** Stores content for a path without a live asset. */
  async function putNew (context: DeviceContext, upload: GameUpload, place: AssetPlace): Promise<void> {
    const twin = await findTwin(context, upload, place)
    if (twin !== null) {
      await putBound(context, upload, twin)
      return
    }
    requireSender(context)
    await addAsset(context, upload, place)
  }

  /** Stores content for a path that has or had an asset. */
  async function putKnown (context: DeviceContext, upload: GameUpload, asset: CurrentAsset): Promise<void> {
    const { db: tx, device } = context
    const { row, file } = upload
    const listing = (await selectListings(tx, device.id, row.id)).get(row.id) ?? null
    const { action } = await decidePut(context, asset, file.sha1, listing)
    if (action === 'conflict') await storeConflict(context, upload, asset)
    if (action !== 'upload') return
    requireSender(context)
    if (asset.deleted_by === null) {
      await replaceAsset(context, upload, asset)
      return
    }
    await putNew(context, upload, await findNextPlace(context, upload, asset))
  }

  async function storeGameFile (context: DeviceContext, upload: GameUpload): Promise<void> {
    const { row } = upload
    if (row.asset === null) await putNew(context, upload, await findPlace(context, row, upload))
    else await putKnown(context, upload, row.asset)
  }

  /** Stores a file in one transaction, which holds the lock of the user's files. */
  async function store (context: DeviceContext, key: Key, file: StagedFile, check: Precondition): Promise<void> {
    const game = readGameFile(key)
    const isGame = game !== null && await isGameFile(game, file, key.file)
    await context.db.transact(async (tx) => {
      const within = { ...context, db: tx }
      const id = await lockPath(tx, context.caller.id, key, PATHS_MAX)
      const row = id === null ? null : await selectByPath(within, key.folded)
      if (row === null) throw tooMany()
      check(row)
      if (row.asset !== null && !row.asset.is_reachable) throw hiddenGame(key)
      if (isGame) await storeGameFile(within, { row, key, game, file })
      else {
        requireSender(context)
        await ownFiles.store(within, row, file)
      }
      const current = await selectByPath(within, key.folded)
      if (current !== null) await storeSent(within, current, file)
    })
  }

  /** Repeats the work while other writers change the content between the decision and the write. */
  async function storeAgain (context: DeviceContext, key: Key, file: StagedFile, check: Precondition): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await store(context, key, file, check)
        return
      } catch (err) {
        if (!(err instanceof ContentMoved) || tries === TRIES_MAX) throw err
      }
    }
  }

  /**
   * Stores a file that a device sends; no content of a save is lost. A device that only receives may send its side of a
   * conflict, which becomes a version, because it fetches the server's file only afterwards.
   *
   * An empty file is accepted and not stored, because no client fetches one and an emulator that crashed leaves one.
   *
   * @param checks the file is not stored if one of them throws; `confirm` runs when all content has arrived
   * @throws ApiError FORBIDDEN, TOO_LARGE, NO_FREE_SPACE, and those of `checks`
   */
  return async function put (
    context: DeviceContext, key: Key, content: Readable, { check, confirm }: PutChecks
  ): Promise<void> {
    const file = await app.assets.stage(context.db, context.caller.id, storedName(key), content)
    try {
      await confirm()
      if (file.file_size_bytes > 0) await storeAgain(context, key, file, check)
    } finally {
      await file.discard()
    }
  }
}
