import { readFile } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import type { Config } from '../../../core/config/config.ts'
import { badRequest } from '../../../core/errors.ts'
import { isNothingThere, resolveInside } from '../../../core/files/safe-path.ts'
import type { Secrets } from '../../../core/access/secrets.ts'
import type { Device } from '../../devices/entities.ts'
import { SSH_PORT, SSH_USER, type SyncConfig, openSyncSecrets } from '../../devices/sync-config.ts'
import { keysFolder } from '../sync-folders.ts'

/** A folder on a device with the saves of one platform. */
export interface SaveDirectory {
  platform: string
  path: string
  /** Suffix of save names, with its dot; empty for all names. */
  extension: string
}

export interface SshSettings {
  host: string
  port: number
  username: string
  /** Fingerprint of the key that the host must present; null before the first connection. */
  host_key: string | null
  password?: string
  privateKey?: string
  passphrase?: string
  directories: readonly SaveDirectory[]
}

const textOf = (value: unknown) => typeof value === 'string' ? value.trim() : ''

/** Returns the SSH host of a device. @throws ApiError BAD_REQUEST if there is none */
export function requireHost ({ sync_config: config }: Pick<Device, 'sync_config'>): string {
  const host = textOf(config?.ssh_host)
  if (host === '') throw badRequest("The device has no 'ssh_host' in its sync_config; set it to sync over SSH")
  return host
}

function readPort ({ ssh_port: given }: SyncConfig): number {
  const port = given === undefined || given === null || given === '' ? SSH_PORT : Number(given)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw badRequest(`The device's 'ssh_port' is ${JSON.stringify(given)}; set it to a number from 1 to 65535`)
}

function readDirectories ({ save_directories: given }: SyncConfig): SaveDirectory[] {
  return (Array.isArray(given) ? given as unknown[] : []).flatMap((one) => {
    if (typeof one !== 'object' || one === null) return []
    const { platform_slug: slug, path, extension } = one as Record<string, unknown>
    const ending = textOf(extension)
    if (textOf(slug) === '' || textOf(path) === '') return []
    return [{
      platform: textOf(slug),
      path: textOf(path).replace(/(?<=.)\/+$/, ''),
      extension: ending === '' || ending.startsWith('.') ? ending : `.${ending}`
    }]
  })
}

/**
 * Reads a private key from the server's folder of keys. Only administrators may name a file. Other keys belong to the
 * device in their name, because a user must not log in with another user's key.
 */
async function readKey (
  config: Config, device: Device, isAdmin: boolean, named: string | undefined
): Promise<string | null> {
  const folder = keysFolder(config)
  const ownName = `${device.device_id}.pem`
  const keyNames = named === undefined ? [] : [isAbsolute(named) ? relative(folder, named) : named]
  for (const name of [...keyNames, ownName]) {
    if (name !== ownName && !isAdmin) continue
    try {
      return await readFile(await resolveInside(folder, name), 'utf8')
    } catch (err) {
      if (!isNothingThere(err)) throw err
    }
  }
  return null
}

/**
 * Reads the connection settings of a device, with its password and the first available key: a pasted one, a named file,
 * or the file of the device.
 */
export async function readSshSettings (
  config: Config, secrets: Secrets, device: Device, isAdmin: boolean
): Promise<SshSettings> {
  const given = device.sync_config ?? {}
  const { ssh_password: password, ssh_private_key: pasted, ssh_passphrase: passphrase, ssh_key_path: named } =
    openSyncSecrets(secrets, given)
  const privateKey = pasted ?? await readKey(config, device, isAdmin, named)
  const hostKey = textOf(given.ssh_host_key)
  return {
    host: requireHost(device),
    port: readPort(given),
    username: textOf(given.ssh_username) || SSH_USER,
    host_key: hostKey === '' ? null : hostKey,
    ...(privateKey === null ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(password === undefined ? {} : { password }),
    directories: readDirectories(given)
  }
}
