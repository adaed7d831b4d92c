import { type Static, type TProperties, Type } from '@sinclair/typebox'
import type { ProviderDefinition } from '@svc/plugin-sdk'
import { listProviderKeys, listProviders } from '../plugins/providers.ts'
import type { Registry } from '../../core/loader/registry.ts'
import { StringEnum } from '../../core/typebox.ts'
import { SCAN_TYPES } from '../matching/scan-types.ts'

const Ids = (description: string) =>
  Type.Array(Type.Integer({ minimum: 1 }), { default: [], maxItems: 100_000, description })

/** Options that clients send, as long as no provider declares one of the same name. */
const KNOWN_OPTIONS = {
  launchbox_remote_enabled: Type.Boolean({ default: true, description: 'false: only the local LaunchBox store is used' })
}

/** Returns the scan options that providers declare. An option without a default is optional. */
function listOptions (providers: readonly ProviderDefinition[]): TProperties {
  const declared = providers.flatMap(({ scanOptions }) => Object.entries(scanOptions?.properties ?? {}))
  return Object.fromEntries(declared.map(([name, schema]) => [name, 'default' in schema ? schema : Type.Optional(schema)]))
}

const SharedFields = Type.Object({
  type: StringEnum(SCAN_TYPES, { default: 'quick' }),
  platforms: Ids('Ids of platforms to scan, in addition to platform_fs_slugs; all if both are empty'),
  platform_fs_slugs: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    default: [], maxItems: 10_000, description: 'Names of platform folders to scan'
  }),
  roms_ids: Ids('Scan only these ROMs'),
  library_ids: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), {
    maxItems: 1_000, description: 'Ids of libraries; if absent or empty, all are scanned'
  })),
  playmatch_enabled: Type.Optional(Type.Boolean({ description: 'Without effect; older clients send it', deprecated: true }))
})

/**
 * Creates the schema of a scan's payload. Its `apis` may name the providers that clients know and every provider there
 * is, also those that are switched off. The providers' own options are added.
 */
export function createScanPayloadSchema (registry: Pick<Registry, 'definitions'>) {
  const apis = Type.Array(StringEnum(listProviderKeys(registry)), { description: 'Metadata providers; if absent, every enabled one' })
  return Type.Object({
    ...KNOWN_OPTIONS, ...listOptions(listProviders(registry)), ...SharedFields.properties, apis: Type.Optional(apis)
  }, { title: 'ScanPayload', additionalProperties: false })
}
/**
 * The payload of a scan, with options of providers by their names. With `fs_names`, which no client sends, only entries
 * of these names are read in the folders of `platforms`.
 */
export type ScanPayload =
  Static<typeof SharedFields> & { apis?: string[], fs_names?: readonly string[] } & Readonly<Record<string, unknown>>

export const COUNTERS = ['total_platforms', 'total_roms', 'scanned_platforms', 'new_platforms', 'identified_platforms',
  'scanned_roms', 'new_roms', 'updated_roms', 'identified_roms', 'new_files', 'scanned_firmware', 'new_firmware',
  'failed_lookups'] as const

/** Running totals, which only grow. `failed_lookups` counts failures of providers. */
export type ScanStats = Record<typeof COUNTERS[number], number>

export const ScanStatsSchema = Type.Unsafe<ScanStats>(Type.Object(
  Object.fromEntries(COUNTERS.map((name) => [name, Type.Integer({ minimum: 0 })])), { title: 'ScanStats' }))

export const createStats = (): ScanStats =>
  Object.fromEntries(COUNTERS.map((name) => [name, 0])) as ScanStats
