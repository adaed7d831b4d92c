import type { ProviderId } from './metadata.ts'
import type { PlatformEntry } from './provider.ts'
import facts from '../data/platforms.json' with { type: 'json' }

/** What is known of a platform: its canonical slug, names and the ids the common sources give it. */
export interface PlatformFacts {
  readonly slug: string
  readonly name: string
  readonly category: string | null
  readonly generation: number | null
  /** Other folder names that mean this platform, lower case. */
  readonly aliases: readonly string[]
  readonly igdb_id: number | null
  readonly igdb_slug: string | null
  readonly moby_id: number | null
  readonly moby_slug: string | null
  readonly ss_id: number | null
  readonly ra_id: number | null
  readonly launchbox_id: number | null
  readonly launchbox_name: string | null
  readonly tgdb_id: number | null
  readonly hasheous_id: number | null
  readonly flashpoint_id: number | null
  readonly hltb_slug: string | null
  /** The system's folder at libretro's thumbnail server. */
  readonly libretro_slug: string | null
}

/** Every canonical platform, in slug-table order. */
export const PLATFORMS: readonly PlatformFacts[] = facts

/** A provider's `platforms` table taken from one column of {@link PLATFORMS}; rows without a value are left out. */
export function platformIds (column: Exclude<keyof PlatformFacts, 'aliases'>): Record<string, ProviderId> {
  const ids: Record<string, ProviderId> = {}
  for (const platform of PLATFORMS) {
    const id = platform[column]
    if (id !== null) ids[platform.slug] = id
  }
  return ids
}

/** The ids in one entry of a `platforms` table; empty for a platform that the source knows by none, or not at all. */
export function listPlatformIds (entry: PlatformEntry | undefined): readonly ProviderId[] {
  if (entry === undefined || entry === true) return []
  if (typeof entry !== 'object') return [entry]
  return 'ids' in entry ? entry.ids : entry
}
