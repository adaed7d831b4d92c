import type { PluginKind } from '@svc/plugin-sdk'
import { findBestTitle } from '@svc/plugin-sdk/titles'
import { type TSchema, Type } from '@sinclair/typebox'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { findUnknownKeys } from '../../config/config-file.ts'
import { getAt, listSettings } from '../../config/setting-values.ts'
import { StartError } from '../../errors.ts'

/** The settings of a plugin under `plugins.<key>`; the properties are unknown if the plugin failed to load. */
export interface PluginSection {
  key: string
  properties: Readonly<Record<string, TSchema>> | undefined
}

/** Settings that every section may contain: the switch, and the schedules of its index and of its users' progress. */
const COMMON_SETTINGS = ['enabled', 'refresh_cron', 'progress_cron', 'progress_sync']
/** Below this similarity, a name is more likely a different one than a typing error. */
const LIKENESS = 0.8

const nearest = (name: string, names: Iterable<string>) =>
  findBestTitle(name, [...names], { threshold: LIKENESS })?.title

/**
 * Returns the sections under `plugins` that no plugin has, such as those of removed plugins.
 *
 * @throws StartError for a key or a property that is most likely a typing error.
 */
function checkPluginKeys (config: Pick<Config, 'plugins' | 'data_dir'>, sections: readonly PluginSection[]): string[] {
  const file = join(config.data_dir, 'config.yml')
  const keys = new Set(sections.map(({ key }) => key))
  const unknown = Object.keys(config.plugins).filter((key) => !keys.has(key))
  for (const key of unknown) {
    const suggestion = nearest(key, keys)
    if (suggestion === undefined) continue
    throw new StartError(`plugins.${key} in ${file} belongs to no plugin. Did you mean plugins.${suggestion}?`)
  }
  for (const [key, values] of Object.entries(config.plugins)) {
    checkProperties(`plugins.${key}`, Object.keys(values), sections.filter((section) => section.key === key), file)
  }
  return unknown
}

/** Checks the properties of a section. Plugins of several kinds may share a key, and so a section. */
function checkProperties (
  sectionName: string, names: string[], sections: readonly PluginSection[], file: string
): void {
  if (sections.length === 0 || sections.some(({ properties }) => properties === undefined)) return
  const knownNames = new Set(
    [...COMMON_SETTINGS, ...sections.flatMap(({ properties }) => Object.keys(properties ?? {}))]
  )
  const unknownName = names.find((name) => !knownNames.has(name))
  if (unknownName === undefined) return
  const suggestion = nearest(unknownName, knownNames)
  throw new StartError(`${sectionName}.${unknownName} in ${file} is not a setting of this plugin. ` + (suggestion === undefined
    ? `Remove it; the settings are: ${[...knownNames].join(', ')}.`
    : `Did you mean ${sectionName}.${suggestion}?`))
}

/** Describes the settings of an exporter in `scan` that it does not have, such as `scan.gamelist.exprt`. */
function describeUnknownExporterKeys (
  { scan, file: { path: file } }: Pick<Config, 'scan' | 'file'>, { key, properties }: PluginSection
): string[] {
  if (properties === undefined) return []
  const schema = Type.Object({ export: Type.Any(), enabled: Type.Any(), ...properties })
  const names = listSettings(schema, ['scan', key]).map(({ path }) => path.join('.'))
  return findUnknownKeys(getAt(scan, [key]), schema, ['scan', key]).map((name) =>
    `${name} in ${file} is not a setting of this exporter and is ignored; correct or remove it. The settings are: ${names.join(', ')}`)
}

/** Describes a switch `scan.<key>.export` that is neither true nor false; null for any other. */
export function describeWrongSwitch ({ scan, file }: Pick<Config, 'scan' | 'file'>, key: string): string | null {
  const value = getAt(scan, [key, 'export'])
  return value === undefined || typeof value === 'boolean'
    ? null
    : `scan.${key}.export in ${file.path}: ${JSON.stringify(value)} is not true or false, so nothing is exported; correct or remove it`
}

/**
 * Describes what is wrong in the sections of plugins in `config.yml`, except values that the plugins refuse: keys that
 * no plugin has, and switches of exporters.
 *
 * @throws StartError for a key that is most likely a typing error
 */
export function describeWrongKeys (
  config: Pick<Config, 'plugins' | 'data_dir' | 'scan' | 'file'>, sections: readonly (PluginSection & { kind: PluginKind })[]
): string[] {
  const exporters = sections.filter(({ kind }) => kind === 'exporter')
  const unknown = checkPluginKeys(config, sections.filter(({ kind }) => kind !== 'exporter'))
  return [
    ...unknown.map((key) => `plugins.${key} in ${config.file.path} belongs to no plugin and is ignored; remove it, or ` +
      'install its plugin with svc plugins add'),
    ...exporters.flatMap((exporter) => describeUnknownExporterKeys(config, exporter)),
    ...exporters.flatMap(({ key }) => describeWrongSwitch(config, key) ?? [])
  ]
}
