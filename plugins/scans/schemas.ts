import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { StringEnum } from '../../core/typebox.ts'
import { SCAN_TYPES } from './scan-types.ts'

/** The sources clients of this API know; one that is not installed is skipped, not refused. */
const KNOWN_SOURCES = ['igdb', 'moby', 'ss', 'ra', 'launchbox', 'hasheous', 'tgdb', 'sgdb', 'flashpoint', 'hltb', 'demozoo',
  'pouet', 'csdb', 'steam', 'gamelist', 'libretro', 'playmatch']

const Ids = (description: string) =>
  Type.Array(Type.Integer({ minimum: 1 }), { default: [], maxItems: 100_000, description })

/** The keys of all providers there are, those that are switched off included: naming one of these is no mistake. */
export const listSources = ({ registry }: FastifyInstance): string[] =>
  registry.definitions.filter(({ kind }) => kind === 'provider').map(({ definition }) => definition.key)

/** The payload of a scan; its `apis` are the sources known to clients and every registered provider. */
export function createScanPayloadSchema (providers: readonly string[]) {
  return Type.Object({
    type: StringEnum(SCAN_TYPES, { default: 'quick' }),
    platforms: Ids('Platform ids; with platform_fs_slugs both are scanned, without either all'),
    platform_fs_slugs: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      default: [], maxItems: 10_000, description: 'Platform folder names'
    }),
    roms_ids: Ids('Scan only these ROMs'),
    apis: Type.Optional(Type.Array(StringEnum([...new Set([...KNOWN_SOURCES, ...providers])]), {
      description: 'Metadata sources; without it every enabled one'
    })),
    launchbox_remote_enabled: Type.Boolean({ default: true, description: 'false: only the local LaunchBox store is used' }),
    playmatch_enabled: Type.Optional(Type.Boolean({ description: 'Sent by older clients; has no effect', deprecated: true }))
  }, { additionalProperties: false })
}
export type ScanPayload = Static<ReturnType<typeof createScanPayloadSchema>>

const COUNTERS = ['total_platforms', 'total_roms', 'scanned_platforms', 'new_platforms', 'identified_platforms',
  'scanned_roms', 'new_roms', 'updated_roms', 'identified_roms', 'new_files', 'scanned_firmware', 'new_firmware',
  'failed_lookups'] as const

/** Running totals; they only grow. `failed_lookups` counts providers' failures. */
export type ScanStats = Record<typeof COUNTERS[number], number>

export const createStats = (): ScanStats =>
  Object.fromEntries(COUNTERS.map((name) => [name, 0])) as ScanStats

/** Something the scan left out, and why. */
export interface ScanProblem { platform: string, path: string, reason: string }
