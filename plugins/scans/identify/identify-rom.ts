import type { Config } from '../../../core/config/config.ts'
import type { Registry } from '../../../core/loader/registry.ts'
import { createIdCheck } from '../../plugins/providers.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import type { MatchWrite } from '../../matching/match-rows.ts'
import type { LoadedRom } from './due-rom.ts'
import { type ProviderMatches, createMatchUpdates, idOf, isIdentified, withoutLinked } from '../../matching/matches.ts'
import { type MatchExplanation, explainMatches, listMisses } from '../../matching/match-explanation.ts'
import { toMergeBase } from '../../matching/merge-base.ts'
import { type Priorities, mergeMatches } from '../../matching/merge-matches.ts'
import type { LibraryScope } from '../../matching/look-up-at-provider.ts'
import type { RomLookup } from '../../matching/rom-lookup.ts'
import { type RomHistory, type RomToPlan, planLookups } from '../../matching/lookup-plan.ts'
import { listLockedMatches, listLockedRecords } from '../../matching/field-locks.ts'
import { type ScannedPlatform, toSdkRom } from '../../matching/sdk-rom.ts'
import type { LookupRom } from '../../matching/stored-rows.ts'

/** A ROM after its lookup; `write` is null if nothing about the ROM changed. */
export interface IdentifiedRom {
  rom: LookupRom
  history: RomHistory
  platform: ScannedPlatform
  isIdentified: boolean
  /** The matches of all providers, from which artwork is fetched. */
  matches: ProviderMatches
  /** The explanations of the lookups without a match. */
  misses: ReadonlyMap<string, MatchExplanation>
  write: MatchWrite | null
}

interface IdentifyServices {
  registry: Registry
  config: Config
  choice: ScanChoice
  romLookup: RomLookup
  priorities: Priorities
  parts: Pick<PartLeases, 'of'>
  /** Returns the objects that calls about the ROMs of one library share. */
  scopeOf: (libraryId: number) => LibraryScope
}

function toPlanInput ({ due, rom, stored, platform }: LoadedRom): RomToPlan {
  return {
    lockedMatches: listLockedMatches(rom.own_fields),
    lockedRecords: listLockedRecords(rom.own_fields),
    history: due.history,
    platform_slug: platform.slug,
    fs_name: rom.fs_name,
    stored: new Map([...withoutLinked(stored)].map(([key, found]) => [key, idOf(found)]))
  }
}

/** Looks one ROM up and merges the new matches with the stored ones. */
export function createIdentifyRom (services: IdentifyServices) {
  const { registry, config, choice, romLookup, priorities, parts, scopeOf } = services
  const { providers } = registry
  const { type, selected } = choice
  const isIdOf = createIdCheck(registry)

  return async function identifyRom (loaded: LoadedRom): Promise<IdentifiedRom> {
    const { due: { history }, rom, stored, platform, titles } = loaded
    const isFresh = history !== 'known' || type === 'complete'
    const planInput = toPlanInput(loaded)
    const updates = createMatchUpdates(type, stored, isIdOf, planInput.lockedMatches.union(planInput.lockedRecords))
    const requests = planLookups(choice, providers, planInput)
    const explanations = await romLookup.lookUp({
      id: rom.id, toSdk: toSdkRom(loaded, titles, platform, config), requests, shared: scopeOf(platform.library_id)
    }, updates)
    parts.of(platform).add({ failed_lookups: updates.failures })
    const { matches: all, newMatches: found, dropped } = updates.finish(selected)
    const misses = listMisses(all, explanations)
    const outcome = { rom, history, platform, isIdentified: isIdentified(all, providers), matches: all, misses }
    if (found.size === 0 && dropped.length === 0 && !isFresh) return { ...outcome, write: null }
    const merged = { ...mergeMatches(all, toMergeBase(rom, isFresh), priorities), is_identified: outcome.isIdentified }
    const explained = explainMatches(
      {
        name: rom.fs_name_no_tags, platform: platform.slug, at: new Date()
      }, { matches: all, newMatches: found }, explanations)
    return {
      ...outcome,
      write: { rom_id: rom.id, edits: rom.edits, matches: found, explanations: explained, dropped, merged }
    }
  }
}
export type IdentifyRom = ReturnType<typeof createIdentifyRom>
