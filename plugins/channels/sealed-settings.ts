import type { Secrets } from '../../core/access/secrets.ts'

export type Settings = Readonly<Record<string, unknown>>

/** What may be shown of settings; the plugin says it once, when they are kept. */
export interface SettingsView {
  /** The destination without secrets. */
  target: string
  /** Of a channel whose settings are a service and its fields: which one, the open fields, the names of the others. */
  service: string | null
  service_name: string | null
  fields: Record<string, unknown> | null
  stored_secrets: string[] | null
  /** Whether a setting is set that its schema calls a secret. */
  has_secret: boolean
}

/** What a plugin says of settings. */
export interface Inspected {
  view: SettingsView
  /** Where they lead, for a comparison: secrets stay as long as it does. Not to be shown. */
  destination: string
}

/** What is sealed: an address is often a secret too, so all settings are. */
export interface StoredSettings extends Inspected {
  settings: Settings
  /** Whether an administrator entered them; older ones do not say so, and the role of the owner decides alone. */
  is_trusted?: boolean
}

/** Whether settings may lead into the server's own network: an administrator entered them, and owns the channel. */
export const isTrusted = (kept: StoredSettings, isAdmin: boolean): boolean => isAdmin && kept.is_trusted !== false

const PURPOSE = 'channel'
export const UNREADABLE: SettingsView = {
  target: '', service: null, service_name: null, fields: null, stored_secrets: null, has_secret: false
}
/** What a delivery says whose settings nobody can read any more. */
export const UNREADABLE_ERROR = 'The settings cannot be read since the server has another key; enter them again'

export const sealSettings = (secrets: Secrets, kept: StoredSettings) => secrets.seal(PURPOSE, JSON.stringify(kept))

/** Null when the server's key is another one than it was. */
export function openSettings (secrets: Secrets, sealed: string): StoredSettings | null {
  const text = secrets.open(PURPOSE, sealed)
  return text === null ? null : JSON.parse(text) as StoredSettings
}
