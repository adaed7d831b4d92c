import type { components } from '../../api/schema.d.ts'
import { type Fields as Schemas, isFields } from '../../read-fields.ts'

export type Plugin = components['schemas']['Plugin']

/** Where people get an account or key; absent for providers without one. */
export const ACCOUNT_PAGES: Readonly<Record<string, string>> = {
  igdb: 'https://dev.twitch.tv/console/apps',
  moby: 'https://www.mobygames.com/info/api/',
  ra: 'https://retroachievements.org/settings',
  sgdb: 'https://www.steamgriddb.com/profile/preferences/api',
  ss: 'https://www.screenscraper.fr/membreinscription.php',
  tgdb: 'https://forums.thegamesdb.net/viewforum.php?f=10'
}

const configOf = ({ kind, key }: Pick<Plugin, 'kind' | 'key'>, schemas: Schemas): Schemas => {
  const schema = schemas[`${kind ?? ''}_${key}_config`]
  return isFields(schema) ? schema : {}
}

const propertiesOf = (schema: Schemas): readonly (readonly [string, unknown])[] =>
  isFields(schema.properties) ? Object.entries(schema.properties) : []

export const hasFields = (schema: Schemas): boolean => propertiesOf(schema).length > 0

/** True if a plugin has any settings. */
export const hasSettings = (plugin: Pick<Plugin, 'kind' | 'key'>, schemas: Schemas): boolean => hasFields(configOf(plugin, schemas))

/**
 * Returns the schema of a form for the settings that an administrator may change: switches first, then the settings
 * that the plugin needs.
 *
 * @param fixed the settings of the operator
 */
export function editableSchema (plugin: Pick<Plugin, 'kind' | 'key'>, schemas: Schemas, fixed: Readonly<Record<string, string>>): Schemas {
  const schema = configOf(plugin, schemas)
  const isFree = (name: unknown) => !Object.hasOwn(fixed, String(name))
  const required = Array.isArray(schema.required) ? schema.required.filter(isFree) : []
  const rankOf = ([name, value]: readonly [string, unknown]) => isFields(value) && value.type === 'boolean' ? 0 : isNeeded(required, name, value) ? 1 : 2
  const properties = propertiesOf(schema).filter(([name]) => isFree(name))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
  return { ...schema, properties: Object.fromEntries(properties), required }
}

const isNeeded = (required: readonly unknown[], name: string, value: unknown): boolean =>
  required.includes(name) && isFields(value) && !('default' in value)

/** True if a provider lacks a required setting without a default, such as the key of an account. */
function needsAccount (plugin: Plugin, schemas: Schemas): boolean {
  const schema = configOf(plugin, schemas)
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  return propertiesOf(schema).some(([name, value]) => isNeeded(required, name, value))
}

/** Returns the setting that switches a provider on; undefined for one that needs more. */
export const switchOf = (plugin: Plugin, schemas: Schemas): string | undefined => needsAccount(plugin, schemas)
  ? undefined
  : propertiesOf(configOf(plugin, schemas)).find(([, value]) => isFields(value) && value.type === 'boolean' && value.default === false)?.[0]

export type Group = 'ready' | 'account' | 'off' | 'failed'

/** Sorts providers into those that work, that need an account, and that only need to be switched on. */
export function groupOf (plugin: Plugin, schemas: Schemas): Group {
  if (plugin.status === 'active') return 'ready'
  if (plugin.status !== 'disabled') return 'failed'
  return needsAccount(plugin, schemas) ? 'account' : 'off'
}
