import { isDeepStrictEqual } from 'node:util'
import { invalid } from '../../core/errors.ts'
import type { Secrets } from '../../core/access/secrets.ts'

export type SyncConfig = Record<string, unknown>

export const SECRET_MASK = '********'
export const SSH_PORT = 22
export const SSH_USER = 'root'
/** Purpose of the seal of a device's secrets. */
const SYNC_SEAL = 'device-sync'
const SECRET_KEYS = ['ssh_password', 'ssh_private_key', 'ssh_passphrase', 'ssh_key_path'] as const
/** The first key that a host presented; clients need not send it back. */
const HOST_KEY = 'ssh_host_key'
/** Far more than settings need; lists of devices include them. */
const BYTES_MAX = 16 * 1_024

const isSet = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** @throws ApiError INVALID for settings above the maximum size. */
export function checkSize (config: SyncConfig): void {
  if (Buffer.byteLength(JSON.stringify(config)) > BYTES_MAX) {
    throw invalid(['body', 'sync_config'], `Larger than ${BYTES_MAX} bytes as JSON; send fewer or shorter settings`)
  }
}

/** Replaces the secrets with a mask, for clients. */
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

/** True for settings by which the server connects to a device and finds saves there. */
const isConnectionKey = (key: string) => key.startsWith('ssh_') || key === 'save_directories'

/** True if new settings change how the server connects to a device. */
export function changesConnection (given: SyncConfig | null, stored: SyncConfig | null): boolean {
  const [before, after] = [maskSyncConfig(stored) ?? {}, given ?? {}]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)].filter(isConnectionKey))
  // A host key that was not sent stays, as long as the host stays.
  if (after[HOST_KEY] === undefined && isSameHost(before, after)) keys.delete(HOST_KEY)
  return [...keys].some((key) => !isDeepStrictEqual(before[key] ?? null, after[key] ?? null))
}

/** Returns the unsealed secrets of settings, and skips secrets that cannot be opened any more. */
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
 * Returns settings for storage, with sealed secrets. A mask keeps the stored secret only for the same host, port and
 * user, because a secret must not reach another host. The host key stays for the same host and port.
 */
export function sealSyncConfig (secrets: Secrets, given: SyncConfig, stored: SyncConfig | null): SyncConfig {
  const keepsHostKey = given[HOST_KEY] === undefined && isSet(stored?.[HOST_KEY]) && isSameHost(given, stored)
  const sealed: SyncConfig = keepsHostKey ? { ...given, [HOST_KEY]: stored[HOST_KEY] } : { ...given }
  const keptSecrets = stored !== null && isSameLogin(given, stored) ? stored : {}
  for (const key of SECRET_KEYS) {
    const value = given[key]
    if (isSet(value)) sealed[key] = value === SECRET_MASK ? keptSecrets[key] ?? null : secrets.seal(SYNC_SEAL, value)
  }
  return sealed
}
