import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { conflict } from '../../../core/errors.ts'
import { syncConfig } from '../config.ts'
import type { Device } from '../../devices/entities.ts'
import { loadOwned } from '../load-device.ts'
import { knownHostsFile } from '../sync-folders.ts'
import { findSessionDevice } from '../rows.ts'
import { runSync } from '../run-sync.ts'
import { type SshConnection, connectSsh } from './connect.ts'
import { readKnownKeys } from './known-hosts.ts'
import { type SshSettings, readSshSettings } from './settings.ts'
import { createSshTransport } from './transport.ts'

const messageOf = (err: unknown) => err instanceof Error ? err.message : String(err)

/** Creates a function that syncs devices over SSH. */
export function createSshSync (app: FastifyInstance, config: Config) {
  const { runs } = app.sync

  /** Stores the first key that a host presents; the host must present the same key from then on. */
  async function pin (
    { id }: Device, { host, host_key: pinned }: SshSettings, { fingerprint }: SshConnection
  ): Promise<void> {
    if (pinned !== null) return
    const pinnedKey = await app.devices.pinHostKey(app.db, id, host, fingerprint)
    if (pinnedKey !== fingerprint) throw conflict(`The device was changed during the connection to '${host}'`)
  }

  async function connect (device: Device, isAdmin: boolean, signal: AbortSignal) {
    const settings = await readSshSettings(config, app.secrets, device, isAdmin)
    const knownKeys = await readKnownKeys(knownHostsFile(config), settings.host, settings.port)
    const rules = { is_admin: isAdmin, networks: syncConfig.of(config).ssh_networks, known_keys: knownKeys }
    const connection = await connectSsh(settings, rules, signal)
    try {
      if (knownKeys.length === 0) await pin(device, settings, connection)
    } catch (err) {
      connection.end()
      throw err
    }
    return { settings, transport: createSshTransport(connection, settings.directories) }
  }

  /** Runs a pending session; its result is only reported in the session. */
  return async function syncDevice (sessionId: number, signal: AbortSignal): Promise<void> {
    const deviceId = await findSessionDevice(app.db, sessionId)
    const session = deviceId === null ? null : await runs.begin(sessionId, 'push_pull')
    if (session === null) return
    try {
      const { device, caller } = await loadOwned(app, app.db, session.device.id)
      const { settings, transport } = await connect(device, caller.role === 'admin' && device.is_ssh_trusted, signal)
      try {
        const platforms = [...new Set(settings.directories.map((one) => one.platform))]
        const run = { session, device, caller, transport, signal }
        const result = await runSync(app, run, await transport.list(), platforms)
        const { errors: [first], ...counts } = result
        if (first !== undefined) runs.warn(session, first)
        await runs.complete(session, counts)
      } finally {
        await transport.close()
      }
    } catch (err) {
      app.log.warn({ err, device: session.device.device_id }, 'a device could not be synced over SSH')
      await runs.fail(session, messageOf(signal.aborted ? signal.reason : err))
    }
  }
}
