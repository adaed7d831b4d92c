import type { ProviderDefinition } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import type { Loaded } from '../../../core/loader/registry.ts'
import type { Artwork } from '../../artwork/artwork.ts'
import type { ArtworkSubject } from '../../artwork/fetch-artwork.ts'
import { findProvidersOfUrls, listBadges } from '../../artwork/origins.ts'
import type { Announcer } from '../progress/announcer.ts'
import { writeInHalves } from '../database-errors.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { ScanType } from '../../matching/scan-types.ts'
import type { MissWrite } from '../../matching/explanation-rows.ts'
import type { MatchWrite } from '../../matching/match-rows.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { IdentifiedRom } from './identify-rom.ts'

interface MatchWriterServices {
  type: ScanType
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>
  store: {
    writeMatches: (writes: readonly MatchWrite[], platforms: readonly ScannedPlatform[]) => Promise<number[]>
    writeMisses: (misses: readonly MissWrite[], platforms: readonly ScannedPlatform[]) => Promise<void>
  }
  artwork: Pick<Artwork, 'fetch'>
  parts: Pick<PartLeases, 'of'>
  announcer: Announcer
  log: Pick<Logger, 'warn'>
  signal: AbortSignal
}

/** Returns the artwork of a ROM that may be missing. Paths of files whose addresses changed are dropped. */
function toArtworkSubject (
  { rom, platform, matches }: IdentifiedRom, { merged }: MatchWrite, providers: MatchWriterServices['providers']
): ArtworkSubject {
  const isSameCover = rom.url_cover === merged.url_cover
  const isSameList = rom.url_screenshots.join('\n') === merged.url_screenshots.join('\n')
  return {
    id: rom.id,
    library_id: rom.library_id,
    platform_id: platform.id,
    url_cover: merged.url_cover,
    path_cover_large: isSameCover ? rom.path_cover_large : null,
    path_cover_small: isSameCover ? rom.path_cover_small : null,
    url_screenshots: merged.url_screenshots,
    path_screenshots: isSameList ? rom.path_screenshots : [],
    url_manual: merged.url_manual,
    path_manual: rom.url_manual === merged.url_manual ? rom.path_manual : null,
    media: merged.media,
    url_badges: listBadges(matches),
    badges: rom.badges,
    edits: rom.edits,
    providers: findProvidersOfUrls(matches, providers)
  }
}

const listPlatforms = (outcomes: readonly IdentifiedRom[]) => [...new Set(outcomes.map(({ platform }) => platform))]

/** Stores the explanations of lookups without a match. A ROM is complete without them. */
async function writeMisses (
  { store, log, signal }: MatchWriterServices, outcomes: readonly IdentifiedRom[]
): Promise<void> {
  const missed = outcomes.filter(({ misses }) => misses.size > 0)
  if (missed.length === 0) return
  const rows = missed.map(({ rom, misses }) => ({ rom_id: rom.id, explanations: misses }))
  await store.writeMisses(rows, listPlatforms(missed))
    .catch((err: unknown) => { if (!signal.aborted) log.warn({ err }, 'lookups without a match were not stored') })
}

/** Writes the results of lookups, announces them and starts the download of artwork. */
export function createMatchWriter (services: MatchWriterServices) {
  const { type, providers, store, artwork, parts, announcer, log, signal } = services
  const fetches = new Set<Promise<void>>()

  function reportNotStored ({ rom, platform }: Pick<IdentifiedRom, 'rom' | 'platform'>, err: unknown): void {
    const message = err instanceof Error ? err.message : String(err)
    const path = `${rom.fs_path}/${rom.fs_name}`
    parts.of(platform).problem({ platform: platform.fs_slug, path, reason: `its metadata was not stored: ${message}` })
  }

  function fetchArtwork (outcome: IdentifiedRom): void {
    const { rom, write, platform } = outcome
    if (type === 'hashes' || write === null) return
    const end = parts.of(platform).begin()
    const fetch = artwork.fetch(toArtworkSubject(outcome, write, providers)).then(async (isFetched) => {
      if (isFetched) await announcer.roms([rom.id], { is_new: false, is_identifying: false })
    }).catch((err: unknown) => {
      if (!signal.aborted) log.warn({ err, rom: rom.id }, 'artwork was not stored')
    }).finally(() => {
      fetches.delete(fetch)
      end()
    })
    fetches.add(fetch)
  }

  return {
    async write (outcomes: readonly IdentifiedRom[]): Promise<void> {
      const refused = new Set<IdentifiedRom>()
      const changed = outcomes.filter((outcome) => outcome.write !== null)
      await writeInHalves(changed, async (some) => {
        await store.writeMatches(some.flatMap(({ write }) => write ?? []), listPlatforms(some))
        return []
      }, (outcome, err) => {
        refused.add(outcome)
        reportNotStored(outcome, err)
      })
      const stored = outcomes.filter((outcome) => !refused.has(outcome))
      await writeMisses(services, stored)
      const identified = Map.groupBy(stored.filter(({ isIdentified }) => isIdentified), ({ platform }) => platform)
      for (const [platform, { length }] of identified) parts.of(platform).add({ identified_roms: length })
      for (const outcome of stored) fetchArtwork(outcome)
      for (const isNew of [true, false]) {
        const ids = stored.filter(({ history }) => (history !== 'known') === isNew).map(({ rom }) => rom.id)
        await announcer.roms(ids, { is_new: isNew, is_identifying: false })
      }
    },

    /** Reports that the metadata of a ROM was not stored, and why. */
    reportNotStored,

    /** Resolves when all artwork is fetched or given up. */
    finish: async (): Promise<void> => { await Promise.all([...fetches]) }
  }
}
export type MatchWriter = ReturnType<typeof createMatchWriter>
