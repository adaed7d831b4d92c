import { invalid } from '../../core/errors.ts'
import type { Secrets } from '../../core/access/secrets.ts'

export type SyncConfig = Record<string, unknown>

export const SECRET_MASK = '********'
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

const isSameHost = (one: SyncConfig, other: SyncConfig) =>
  one.ssh_host === other.ssh_host && (one.ssh_port ?? null) === (other.ssh_port ?? null)

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

/** As it is kept: secrets sealed, those that came back as their mask as they were, and the key of the same host. */
export function sealSyncConfig (secrets: Secrets, given: SyncConfig, stored: SyncConfig | null): SyncConfig {
  const isKept = given[HOST_KEY] === undefined && isSet(stored?.[HOST_KEY]) && isSameHost(given, stored)
  const sealed: SyncConfig = isKept ? { ...given, [HOST_KEY]: stored[HOST_KEY] } : { ...given }
  for (const key of SECRET_KEYS) {
    const value = given[key]
    if (isSet(value)) sealed[key] = value === SECRET_MASK ? stored?.[key] ?? null : secrets.seal(SYNC_SEAL, value)
  }
  return sealed
}
