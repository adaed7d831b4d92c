import type { ProviderId } from './metadata.ts'
import type { PlatformEntry } from './provider.ts'
import facts from '../data/platforms.json' with { type: 'json' }

/** The facts about a platform: its canonical slug, its names and its ids at the common providers. */
export interface PlatformFacts {
  readonly slug: string
  readonly name: string
  readonly category: string | null
  readonly generation: number | null
  /** Other folder names of this platform, in lower case. */
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
  /** The platform's folder on libretro's thumbnail server. */
  readonly libretro_slug: string | null
}

/** All canonical platforms, in slug-table order. */
export const PLATFORMS: readonly PlatformFacts[] = facts

/** Returns a provider's `platforms` table from one column of {@link PLATFORMS}; skips rows without a value. */
export function platformIds (column: Exclude<keyof PlatformFacts, 'aliases'>): Record<string, ProviderId> {
  const ids: Record<string, ProviderId> = {}
  for (const platform of PLATFORMS) {
    const id = platform[column]
    if (id !== null) ids[platform.slug] = id
  }
  return ids
}

/** Returns the ids in one entry of a `platforms` table; empty for a platform without ids or without an entry. */
export function listPlatformIds (entry: PlatformEntry | undefined): readonly ProviderId[] {
  if (entry === undefined || entry === true) return []
  if (typeof entry !== 'object') return [entry]
  return 'ids' in entry ? entry.ids : entry
}
