import { isDeepStrictEqual } from 'node:util'
import { invalid } from '../../core/errors.ts'
import type { Secrets } from '../../core/access/secrets.ts'

export type SyncConfig = Record<string, unknown>

export const SECRET_MASK = '********'
export const SSH_PORT = 22
export const SSH_USER = 'root'
/** For what the secrets in a device's settings are sealed. */
export const SYNC_SEAL = 'device-sync'
const SECRET_KEYS = ['ssh_password', 'ssh_private_key', 'ssh_passphrase', 'ssh_key_path'] as const
/** The key that a host showed when the server first connected to it; nobody has to send it back. */
const HOST_KEY = 'ssh_host_key'
/** Far more than settings take; what one device keeps here is shown in every list. */
const BYTES_MAX = 16 * 1_024

const isSet = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** @throws ApiError INVALID for settings that are larger than settings are. */
export function checkSize (config: SyncConfig): void {
  if (Buffer.byteLength(JSON.stringify(config)) > BYTES_MAX) {
    throw invalid(['body', 'sync_config'], `Larger than ${BYTES_MAX} bytes as JSON; send fewer or shorter settings`)
  }
}

/** As a client sees it. */
export function maskSyncConfig (config: SyncConfig | null): SyncConfig | null {
  if (config === null) return null
  const masked = { ...config }
  for (const key of SECRET_KEYS) if (isSet(config[key])) masked[key] = SECRET_MASK
  return masked
}

const textOf = (value: unknown) => typeof value === 'string' ? value.trim() : ''
const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
const portOf = ({ ssh_port: port }: SyncConfig) => isEmpty(port) ? SSH_PORT : Number(port)
const isSameHost = (one: SyncConfig, other: SyncConfig) =>
  textOf(one.ssh_host) === textOf(other.ssh_host) && portOf(one) === portOf(other)
const isSameLogin = (one: SyncConfig, other: SyncConfig) => isSameHost(one, other) &&
  (textOf(one.ssh_username) || SSH_USER) === (textOf(other.ssh_username) || SSH_USER)

/** Settings by which the server itself opens a device and finds saves there. */
const isConnectionKey = (key: string) => key.startsWith('ssh_') || key === 'save_directories'

/** Whether new settings have the server connect to a device in another way. */
export function changesConnection (given: SyncConfig | null, stored: SyncConfig | null): boolean {
  const [before, after] = [maskSyncConfig(stored) ?? {}, given ?? {}]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)].filter(isConnectionKey))
  // A host key that is not sent stays, as long as the host does.
  if (after[HOST_KEY] === undefined && isSameHost(before, after)) keys.delete(HOST_KEY)
  return [...keys].some((key) => !isDeepStrictEqual(before[key] ?? null, after[key] ?? null))
}

/** The secrets among settings as they were given; those that cannot be read any more are left out. */
export function openSyncSecrets (
  secrets: Secrets, config: SyncConfig
): Partial<Record<typeof SECRET_KEYS[number], string>> {
  return Object.fromEntries(SECRET_KEYS.flatMap((key) => {
    const sealed = config[key]
    const value = isSet(sealed) ? secrets.open(SYNC_SEAL, sealed) : null
    return value === null ? [] : [[key, value]]
  }))
}

/**
 * Settings as they are stored, with secrets sealed. A mask keeps the stored secret for the same host, port and user: a
 * secret goes to no other place than the one it was entered for. The host key stays for the same host and port.
 */
export function sealSyncConfig (secrets: Secrets, given: SyncConfig, stored: SyncConfig | null): SyncConfig {
  const isKept = given[HOST_KEY] === undefined && isSet(stored?.[HOST_KEY]) && isSameHost(given, stored)
  const sealed: SyncConfig = isKept ? { ...given, [HOST_KEY]: stored[HOST_KEY] } : { ...given }
  const kept = stored !== null && isSameLogin(given, stored) ? stored : {}
  for (const key of SECRET_KEYS) {
    const value = given[key]
    if (isSet(value)) sealed[key] = value === SECRET_MASK ? kept[key] ?? null : secrets.seal(SYNC_SEAL, value)
  }
  return sealed
}
