import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import { badRequest, conflict, forbidden } from '../../../core/errors.ts'
import type { Scope } from '../../../core/access/scopes.ts'
import type { Device } from '../../devices/entities.ts'
import { isBase, noteServed, trackAsset, untrackAsset } from './rows.ts'
import type { Asset } from '../entities.ts'
import { AssetVersion, DeviceSync } from '../entities.ts'
import type { AssetRow } from '../rows.ts'
import type { DownloadedInput } from '../schemas.ts'
import { baseKeysOf, nameKey, slotKey, stampBase } from '../base-rows.ts'

/** The device a call is about. */
export interface ActingDevice {
  device: Device
  /** Whether the call named it itself; else it is that of the token. */
  is_named: boolean
}

type Content = Pick<Asset, 'sha1' | 'content_hash'> & { at: Date }

/** @throws ApiError CONFLICT when a device holds bytes that this never was. */
async function findHeld (tx: EntityManager, asset: Asset, input: DownloadedInput): Promise<Content> {
  const contentHash = input.content_hash?.toLowerCase() ?? null
  const current = { sha1: asset.sha1, content_hash: contentHash ?? asset.content_hash, at: asset.updated_at }
  const sha1 = input.sha1?.toLowerCase() ?? null
  const isOther = sha1 === null ? current.content_hash !== asset.content_hash : sha1 !== asset.sha1
  if (!isOther) return current
  const version = await tx.findOne(AssetVersion,
    { asset, ...(sha1 === null ? { content_hash: contentHash } : { sha1 }) }, { orderBy: { id: 'desc' } })
  if (version !== null) {
    return { sha1: version.sha1, content_hash: version.content_hash ?? null, at: version.content_updated_at }
  }
  // A device may hash in a way of its own; bytes are bytes.
  if (sha1 === null) return current
  throw conflict(`'${asset.file_name}' never had the SHA-1 '${sha1}'; download it again`)
}

export function createDeviceStamps (app: FastifyInstance) {
  async function upsert (tx: EntityManager, device: Device, asset: Asset, at: Date): Promise<void> {
    await tx.upsert(DeviceSync, { device: device.id, asset: asset.id, last_synced_at: at, is_untracked: false })
  }

  async function stamp (tx: EntityManager, device: Device, asset: Asset, content: Content): Promise<void> {
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
     * The device that a call names, or else that of its token; null for none.
     *
     * @throws ApiError FORBIDDEN when it is named without the scope for devices, NOT_FOUND when it is not the caller's
     */
    async find (
      em: EntityManager, caller: Caller, reference: number | string | undefined, scope: Scope
    ): Promise<ActingDevice | null> {
      const isNamed = reference !== undefined && reference !== ''
      if (isNamed && !caller.scopes.has(scope)) {
        throw forbidden(`device_id needs the scope ${scope}; leave it out, or use a token with it`)
      }
      const wanted = isNamed ? reference : caller.device_id
      if (wanted === null) return null
      return { device: await app.devices.find(em, caller.id, wanted), is_named: isNamed }
    },

    /** The same for content that it sends. @throws ApiError also BAD_REQUEST when its sync is off */
    async findSender (
      em: EntityManager, caller: Caller, reference: number | string | undefined
    ): Promise<ActingDevice | null> {
      const acting = await this.find(em, caller, reference, 'devices.write')
      if (acting !== null) app.devices.requireSync(acting.device)
      return acting
    },

    /** @throws ApiError BAD_REQUEST when neither the call nor its token names one, NOT_FOUND */
    async require (em: EntityManager, caller: Caller, reference: number | string | undefined): Promise<Device> {
      const acting = await this.find(em, caller, reference, 'devices.write')
      if (acting === null) throw badRequest('device_id is missing; name one of your devices, or use the token of one')
      return acting.device
    },

    /** Keeps the device, if there is one, until the transaction ends. @throws ApiError NOT_FOUND when it is gone */
    async hold (tx: EntityManager, acting: ActingDevice | null): Promise<void> {
      if (acting !== null) await app.devices.hold(tx, acting.device)
    },

    /** What a device sent, it holds. */
    async sent (tx: EntityManager, device: Device, asset: Asset, contentHash: string | undefined): Promise<void> {
      await stamp(tx, device, asset, {
        sha1: asset.sha1, content_hash: contentHash?.toLowerCase() ?? asset.content_hash, at: asset.updated_at
      })
    },

    /** A device says that it holds what it downloaded. @throws ApiError CONFLICT */
    async downloaded (tx: EntityManager, device: Device, asset: Asset, input: DownloadedInput): Promise<void> {
      await stamp(tx, device, asset, await findHeld(tx, asset, input))
    },

    /** A device is being sent the content; whether it arrives is not known. */
    async served (em: EntityManager, device: Device, row: Pick<AssetRow, 'id' | 'updated_at'>): Promise<void> {
      await noteServed(em, device.id, row.id, new Date(row.updated_at))
    },

    /** Whether a device is to be left alone with a save; leaving alone what it never synced is remembered too. */
    async track (em: EntityManager, device: Device, assetId: number, isTracked: boolean): Promise<void> {
      await (isTracked ? trackAsset : untrackAsset)(em, device.id, assetId)
    },

    /** Notes that a device was here, and a transfer in its sync session. */
    async count (
      em: EntityManager, caller: Caller, acting: ActingDevice | null, session: string | undefined, fileName: string
    ): Promise<void> {
      if (acting !== null) await app.devices.touch(em, acting.device.id)
      if (session === undefined || session === '') return
      await app.sync.countTransfer(em, caller.id, session, { file_name: fileName })
    },

    /** Whether the content of a save is what it and a device last agreed on, which a negotiation goes by. */
    async isAgreed (tx: EntityManager, device: Device, asset: Asset): Promise<boolean> {
      const { rom, kind, slot, file_name: name, sha1, content_hash: hash } = asset
      const key = slot === null || slot === undefined ? nameKey(name) : slotKey(slot)
      return await isBase(tx, {
        device_id: device.id, rom_id: rom?.id ?? null, kind, key, sha1, content_hash: hash ?? null
      })
    },

    /** When a device last synced a save; null for never. */
    async lastSync (tx: EntityManager, device: Device, asset: Asset): Promise<Date | null> {
      const row = await tx.findOne(DeviceSync, { device: device.id, asset: asset.id }, { refresh: true })
      return row?.last_synced_at ?? null
    }
  }
}
export type DeviceStamps = ReturnType<typeof createDeviceStamps>
