import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { getAt } from '../../core/config/setting-values.ts'
import { conflict, invalid } from '../../core/errors.ts'
import type { Registry } from '../../core/loader/registry.ts'
import { listProviderKeys } from '../plugins/providers.ts'
import { createBindings } from './bindings.ts'
import { createConfigFile } from './change-file.ts'
import type { Change } from './content.ts'
import { createExclusions } from './change-exclusions.ts'
import { checkFile } from './file.ts'
import type { ConfigView, ScanSettings } from './schemas.ts'
import { NO_PRIVATE_SETTINGS, listOwnSettings, toConfigView } from './views.ts'

const withoutRepeats = (values: readonly string[]) => [...new Set(values)]
/** Normalizes codes, which are compared in lower case. */
const toCodes = (values: readonly string[]) =>
  withoutRepeats(values.map((value) => value.trim().toLowerCase()).filter(Boolean))

const PROVIDER_LISTS = ['metadata_priority', 'artwork_priority', 'cover_priority', 'screenshot_priority', 'manual_priority'] as const

/** Returns the changes of the scan section. Its other keys stay. */
function toChanges (input: ScanSettings): Change[] {
  const { cover_priority: cover, screenshot_priority: screenshot, manual_priority: manual } = input
  const override = (values: readonly string[] | null | undefined) => values ? withoutRepeats(values) : undefined
  return [
    { path: ['scan', 'priority', 'metadata'], value: withoutRepeats(input.metadata_priority) },
    { path: ['scan', 'priority', 'artwork'], value: withoutRepeats(input.artwork_priority) },
    { path: ['scan', 'priority', 'cover'], value: override(cover) },
    { path: ['scan', 'priority', 'screenshot'], value: override(screenshot) },
    { path: ['scan', 'priority', 'manual'], value: override(manual) },
    { path: ['scan', 'priority', 'region'], value: toCodes(input.region_priority) },
    { path: ['scan', 'priority', 'language'], value: toCodes(input.language_priority) },
    { path: ['scan', 'media'], value: input.media },
    { path: ['scan', 'gamelist', 'export'], value: input.gamelist_export },
    { path: ['scan', 'gamelist', 'media', 'thumbnail'], value: input.gamelist_thumbnail },
    { path: ['scan', 'gamelist', 'media', 'image'], value: input.gamelist_image },
    { path: ['scan', 'pegasus', 'export'], value: input.pegasus_export }
  ]
}

/** @throws ApiError CONFLICT for a value that a variable overrides */
function withoutFixed (config: Config, changes: readonly Change[]): Change[] {
  return changes.filter(({ path, value }) => {
    const variable = config.file.fixed.get(path.join('.'))
    if (variable === undefined) return true
    if (isDeepStrictEqual(getAt(config, [...path]), value)) return false
    throw conflict(`${path.join('.')} is set by the variable ${variable} and cannot be changed here; unset the variable, ` +
      'or change it there')
  })
}

/** @throws ApiError INVALID for a provider that does not exist */
function checkProviders (registry: Registry, input: ScanSettings): void {
  const known = listProviderKeys(registry)
  for (const list of PROVIDER_LISTS) {
    const at = (input[list] ?? []).findIndex((key) => !known.includes(key))
    const key = input[list]?.[at]
    if (key !== undefined) throw invalid(['body', list, at], `'${key}' is not a provider; use some of ${known.join(', ')}`, key)
  }
}

/** True if scans would write files of a frontend that they do not write now. */
const enablesExport = (config: Config, { gamelist_export: gamelist, pegasus_export: pegasus }: ScanSettings): boolean =>
  (gamelist && getAt(config.scan, ['gamelist', 'export']) !== true) ||
  (pegasus && getAt(config.scan, ['pegasus', 'export']) !== true)

/** Creates the service that reads config.yml and changes it. */
export function createSettings (app: FastifyInstance, config: Config) {
  const { change, findProblem } = createConfigFile(app, config)

  return {
    change,
    ...createBindings(config, change),
    ...createExclusions(config, change),

    /** Without a credential that may read platforms, the result contains nothing that describes this library. */
    async read (context: Context<Caller | null>): Promise<ConfigView> {
      const { caller } = context
      const state = await checkFile(config.file.path)
      const isGuest = caller === null || caller.credential === 'kiosk'
      if (isGuest || !caller.scopes.has('platforms.read')) return toConfigView(config, state, NO_PRIVATE_SETTINGS)
      const hidden = await app.platforms.listHiddenFolders(context)
      return toConfigView(config, state, listOwnSettings(config, findProblem(), hidden))
    },

    enablesExport: (input: ScanSettings): boolean => enablesExport(config, input),

    async changeScan (input: ScanSettings): Promise<void> {
      checkProviders(app.registry, input)
      await change(() => withoutFixed(config, toChanges(input)))
    }
  }
}
