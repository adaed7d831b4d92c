import type { components } from '../../api/schema.d.ts'

export type Plugin = components['schemas']['Plugin']
type Schemas = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Schemas => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A setting that a provider still needs. */
export interface NeededSetting { readonly variable: string, readonly description: string, readonly example: string }

/** Where people get an account or key; absent for providers without one. */
export const ACCOUNT_PAGES: Readonly<Record<string, string>> = {
  igdb: 'https://dev.twitch.tv/console/apps',
  moby: 'https://www.mobygames.com/info/api/',
  ra: 'https://retroachievements.org/settings',
  sgdb: 'https://www.steamgriddb.com/profile/preferences/api',
  ss: 'https://www.screenscraper.fr/membreinscription.php',
  tgdb: 'https://forums.thegamesdb.net/viewforum.php?f=10'
}

function readSetting (value: unknown, isSwitch: boolean): NeededSetting[] {
  if (!isRecord(value) || typeof value['x-env'] !== 'string') return []
  const description = typeof value.description === 'string' ? value.description : ''
  return [{ variable: value['x-env'], description, example: isSwitch ? 'true' : '…' }]
}

/** Returns the settings without which a provider is off: its required ones without a default, else its switch. */
export function listNeeded ({ key }: Pick<Plugin, 'key'>, schemas: Schemas): NeededSetting[] {
  const schema = schemas[`provider_${key}_config`]
  if (!isRecord(schema) || !isRecord(schema.properties)) return []
  const { properties } = schema
  const required = Array.isArray(schema.required) ? schema.required : []
  const keys = Object.entries(properties).filter(([name, value]) => required.includes(name) && isRecord(value) && !('default' in value))
  if (keys.length > 0) return keys.flatMap(([, value]) => readSetting(value, false))
  const switches = Object.values(properties).filter((value) => isRecord(value) && value.type === 'boolean' && value.default === false)
  return switches.flatMap((value) => readSetting(value, true))
}

/** The lines for the environment of the server. */
export const writeLines = (needed: readonly NeededSetting[]): string =>
  needed.map(({ variable, example }) => `${variable}=${example}`).join('\n')

export type Group = 'ready' | 'account' | 'off' | 'failed'

/** Sorts providers into those that work, that need an account, and that only need to be switched on. */
export function groupOf (plugin: Plugin, schemas: Schemas): Group {
  if (plugin.status === 'active') return 'ready'
  if (plugin.status !== 'disabled') return 'failed'
  return listNeeded(plugin, schemas).some(({ example }) => example !== 'true') ? 'account' : 'off'
}
