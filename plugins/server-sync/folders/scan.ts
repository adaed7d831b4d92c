import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import type { Config } from '../../../core/config/config.ts'
import type { Device } from '../../devices/entities.ts'
import { loadOwned } from '../load-device.ts'
import { matchSave } from '../list-files.ts'
import { syncFolder } from '../sync-folders.ts'
import { selectCandidates, selectFolderDevices } from '../rows.ts'
import { runSync } from '../run-sync.ts'
import type { DeviceSave } from '../transport.ts'
import { FOLDERS, createFolderTransport } from './transport.ts'

export interface FolderScan { status: 'no_devices' | 'completed', files_processed: number }

/** Returns the files that match a save of the owner. Other files stay in place and need no session. */
async function listKnown (app: FastifyInstance, saves: readonly DeviceSave[], caller: Caller): Promise<DeviceSave[]> {
  const platforms = [...new Set(saves.map((save) => save.platform))]
  const candidates = await selectCandidates({ db: app.db, caller }, platforms)
  return saves.filter((save) => matchSave(save, candidates) !== null)
}

/** Imports the saves that devices put into their folders. */
export function createFolderSync (app: FastifyInstance, config: Config) {
  const base = syncFolder(config)
  const { runs } = app.sync
  const folderOf = ({ device_id: uuid }: Pick<Device, 'device_id'>) => join(base, uuid)

  async function createFolders (device: Pick<Device, 'device_id'>): Promise<void> {
    for (const name of FOLDERS) await mkdir(join(folderOf(device), name), { recursive: true })
  }

  /** @returns the number of files that match saves */
  async function syncDevice (deviceId: number, signal: AbortSignal): Promise<number> {
    const db = app.db
    const { device, caller } = await loadOwned(app, db, deviceId)
    await createFolders(device)
    const transport = createFolderTransport(folderOf(device))
    const saves = await transport.list()
    const known = saves.length === 0 ? [] : await listKnown(app, saves, caller)
    if (known.length === 0) return 0
    const { id } = await runs.request(db, device)
    const session = await runs.begin(id, 'file_transfer')
    if (session === null) return 0
    try {
      const platforms = [...new Set(known.map((save) => save.platform))]
      const run = { session, device, caller, transport, signal }
      const { errors: [first], ...counts } = await runSync(app, run, known, platforms)
      if (first !== undefined) runs.warn(session, first)
      await runs.complete(session, counts)
    } catch (err) {
      await runs.fail(session, err instanceof Error ? err.message : String(err))
      throw err
    }
    return known.length
  }

  return {
    base,
    createFolders,

    /** Scans the folders of all devices in the mode file_transfer. A failure of one device does not stop the others. */
    async scan (signal: AbortSignal): Promise<FolderScan> {
      const devices = await selectFolderDevices(app.db)
      let processed = 0
      for (const id of devices) {
        signal.throwIfAborted()
        try {
          processed += await syncDevice(id, signal)
        } catch (err) {
          signal.throwIfAborted()
          app.log.warn({ err, device: id }, 'the folder of a device could not be synced')
        }
      }
      return { status: devices.length === 0 ? 'no_devices' : 'completed', files_processed: processed }
    }
  }
}
