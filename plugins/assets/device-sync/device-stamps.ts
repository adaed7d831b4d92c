import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest, conflict, forbidden } from '../../../core/errors.ts'
import type { Scope } from '../../../core/access/scopes.ts'
import type { Device } from '../../devices/entities.ts'
import { isBase, storeDownloadStart, trackAsset, untrackAsset } from './rows.ts'
import type { Asset } from '../entities.ts'
import { AssetVersion, DeviceSync } from '../entities.ts'
import type { AssetRow } from '../rows.ts'
import type { DownloadedInput } from '../schemas.ts'
import { baseKeysOf, nameKey, slotKey, stampBase } from '../base-rows.ts'

/** The device that sent a request, or that a request is about. */
export interface ActingDevice {
  device: Device
  /** True if the request names the device; otherwise the device comes from the token. */
  is_named: boolean
}

type DatedContent = Pick<Asset, 'sha1' | 'content_hash'> & { at: Date }

/** Returns the content that a device says it holds. @throws ApiError CONFLICT if the asset never had this content */
async function findDeviceContent (tx: Db, asset: Asset, input: DownloadedInput): Promise<DatedContent> {
  const contentHash = input.content_hash?.toLowerCase() ?? null
  const current = { sha1: asset.sha1, content_hash: contentHash ?? asset.content_hash, at: asset.updated_at }
  const sha1 = input.sha1?.toLowerCase() ?? null
  const isOther = sha1 === null ? current.content_hash !== asset.content_hash : sha1 !== asset.sha1
  if (!isOther) return current
  const version = await tx.em.findOne(AssetVersion,
    { asset, ...(sha1 === null ? { content_hash: contentHash } : { sha1 }) }, { orderBy: { id: 'desc' } })
  if (version !== null) {
    return { sha1: version.sha1, content_hash: version.content_hash ?? null, at: version.content_updated_at }
  }
  // Only an unknown SHA-1 is a conflict, because a device may compute its content hash in another way.
  if (sha1 === null) return current
  throw conflict(`'${asset.file_name}' never had the SHA-1 '${sha1}'; download it again`)
}

export function createDeviceStamps (app: FastifyInstance) {
  async function upsert (tx: Db, device: Device, asset: Asset, at: Date): Promise<void> {
    await tx.em.upsert(DeviceSync, { device: device.id, asset: asset.id, last_synced_at: at, is_untracked: false })
  }

  async function stamp (tx: Db, device: Device, asset: Asset, content: DatedContent): Promise<void> {
    await upsert(tx, device, asset, content.at)
    if (asset.rom === null || asset.rom === undefined) return
    for (const key of baseKeysOf(asset)) {
      await stampBase(tx, {
        device_id: device.id,
        rom_id: asset.rom.id,
        kind: asset.kind,
        key,
        sha1: content.sha1,
        content_hash: content.content_hash ?? null,
        updated_at: content.at
      })
    }
  }

  return {
    /**
     * Finds the device that a request names, or else the device of its token; null if there is none.
     *
     * @throws ApiError FORBIDDEN if the device is named without the scope for devices, NOT_FOUND if it is not the
     *   caller's
     */
    async find (
      { db, caller }: Context, reference: number | string | undefined, scope: Scope
    ): Promise<ActingDevice | null> {
      const isNamed = reference !== undefined && reference !== ''
      if (isNamed && !caller.scopes.has(scope)) {
        throw forbidden(`device_id needs the scope ${scope}; remove device_id, or use a token with this scope`)
      }
      const deviceReference = isNamed ? reference : caller.device_id
      if (deviceReference === null) return null
      return { device: await app.devices.find(db, caller.id, deviceReference), is_named: isNamed }
    },

    /** Finds the device that sends content. @throws ApiError as `find`, and BAD_REQUEST if its sync is off */
    async findSender (
      context: Context, reference: number | string | undefined
    ): Promise<ActingDevice | null> {
      const acting = await this.find(context, reference, 'devices.write')
      if (acting !== null) app.devices.requireSync(acting.device)
      return acting
    },

    /** Finds the device. @throws ApiError BAD_REQUEST if neither the request nor its token names one, NOT_FOUND */
    async require (context: Context, reference: number | string | undefined): Promise<Device> {
      const acting = await this.find(context, reference, 'devices.write')
      if (acting === null) throw badRequest('device_id is missing; send the id of one of your devices, or use a token that is bound to one')
      return acting.device
    },

    /** Locks the device, if there is one, until the transaction ends. @throws ApiError NOT_FOUND if it was deleted */
    async lock (tx: Db, acting: ActingDevice | null): Promise<void> {
      if (acting !== null) await app.devices.lock(tx, acting.device)
    },

    /** Stores the content that a device sent as its base. */
    async stampUpload (tx: Db, device: Device, asset: Asset, contentHash: string | undefined): Promise<void> {
      await stamp(tx, device, asset, {
        sha1: asset.sha1, content_hash: contentHash?.toLowerCase() ?? asset.content_hash, at: asset.updated_at
      })
    },

    /** Stores the content that a device confirms to hold as its base. @throws ApiError CONFLICT */
    async stampDownload (tx: Db, device: Device, asset: Asset, input: DownloadedInput): Promise<void> {
      await stamp(tx, device, asset, await findDeviceContent(tx, asset, input))
    },

    /** Stores that a device was sent the content; it may not have arrived. */
    async storeDownloadStart (db: Db, device: Device, row: Pick<AssetRow, 'id' | 'updated_at'>): Promise<void> {
      await storeDownloadStart(db, device.id, row.id, new Date(row.updated_at))
    },

    /** Sets whether a device syncs a save. Untracking is also stored for a save that the device never synced. */
    async track (db: Db, device: Device, assetId: number, isTracked: boolean): Promise<void> {
      await (isTracked ? trackAsset : untrackAsset)(db, device.id, assetId)
    },

    /** Updates the time when the device was last seen, and counts a transfer in its sync session. */
    async count (
      { db, caller }: Context, acting: ActingDevice | null, session: string | undefined, fileName: string
    ): Promise<void> {
      if (acting !== null) await app.devices.touch(db, acting.device.id)
      if (session === undefined || session === '') return
      await app.sync.countTransfer(db, caller.id, session, { file_name: fileName })
    },

    /** True if the content of a save is its base with a device, as in a negotiation. */
    async isBase (tx: Db, device: Device, asset: Asset): Promise<boolean> {
      const { rom, kind, slot, file_name: name, sha1, content_hash: hash } = asset
      const key = slot === null || slot === undefined ? nameKey(name) : slotKey(slot)
      return await isBase(tx, {
        device_id: device.id, rom_id: rom?.id ?? null, kind, key, sha1, content_hash: hash ?? null
      })
    },

    /** Returns the time when a device last synced a save; null for never. */
    async lastSync (tx: Db, device: Device, asset: Asset): Promise<Date | null> {
      const row = await tx.em.findOne(DeviceSync, { device: device.id, asset: asset.id }, { refresh: true })
      return row?.last_synced_at ?? null
    }
  }
}
export type DeviceStamps = ReturnType<typeof createDeviceStamps>
