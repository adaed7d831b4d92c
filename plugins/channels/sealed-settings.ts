import type { Secrets } from '../../core/access/secrets.ts'

export type Settings = Readonly<Record<string, unknown>>

/** The part of settings that may be shown; the plugin provides it once, when they are stored. */
export interface SettingsView {
  /** The destination without secrets. */
  target: string
  /** For a channel with a service and its fields: the service, its public fields and the names of its secret fields. */
  service: string | null
  service_name: string | null
  fields: Record<string, unknown> | null
  stored_secrets: string[] | null
  /** True if a setting that its schema marks as secret has a value. */
  has_secret: boolean
}

/** The result of checking settings with a plugin. */
export interface CheckedSettings {
  view: SettingsView
  /** Identifies the destination for comparison: stored secrets stay valid while it is the same. Never shown. */
  destination: string
}

/** The sealed content: all settings, because an address is often a secret too. */
export interface StoredSettings extends CheckedSettings {
  settings: Settings
  /** True if an administrator entered the settings. Missing in older rows, where only the role of the owner counts. */
  is_trusted?: boolean
}

/** True if settings may reach the server's own network: an administrator entered them and owns the channel. */
export const isTrusted = (stored: StoredSettings, isAdmin: boolean): boolean => isAdmin && stored.is_trusted !== false

const PURPOSE = 'channel'
export const UNREADABLE: SettingsView = {
  target: '', service: null, service_name: null, fields: null, stored_secrets: null, has_secret: false
}
/** Error of a delivery whose settings cannot be unsealed any more. */
export const UNREADABLE_ERROR = 'The settings cannot be decrypted, because the key of the server changed; enter them again'

export const sealSettings = (secrets: Secrets, stored: StoredSettings) => secrets.seal(PURPOSE, JSON.stringify(stored))

/** Returns null if the server's key changed. */
export function openSettings (secrets: Secrets, sealed: string): StoredSettings | null {
  const text = secrets.open(PURPOSE, sealed)
  return text === null ? null : JSON.parse(text) as StoredSettings
}
