import type { AssetKind } from '../../assets/entities.ts'
import type { StoredContent } from '../decide.ts'
import type { ListedFile, Listing } from '../read-listing.ts'
import type { AssetRow, BaseRow, FormerRow } from '../rows.ts'

/** Former contents of the server for one file or slot. */
export interface FormerContents { contents: StoredContent[], deleted: FormerRow[] }

/** A file or slot of a ROM, with its base for each kind. */
export interface SyncTarget extends Record<AssetKind, BaseRow | null> {
  /** The newest asset of the server for this target. */
  newest: AssetRow | null
  /** The file of the device that is paired; null if the device listed none. */
  listed: ListedFile | null
  /** Null if the server has no former content. */
  former: FormerContents | null
  /** Assets whose content is missing from the disk; null for none. */
  missing: AssetRow[] | null
}

export interface SyncTargets {
  /** Finds or creates the target of a ROM and key; returns null for an unpaired file. */
  find (of: { rom_id: number }, key: string | null): SyncTarget | null
  /** Finds or creates the target of content on the server; returns null for an unpaired file. */
  findOf (asset: AssetRow | FormerRow): SyncTarget | null
}

/** Creates the targets of a listing. Nested maps avoid a combined text key for each of ten thousand lookups. */
export function createTargets ({ keyOf }: Pick<Listing, 'keyOf'>): SyncTargets {
  const targetsByRom = new Map<number, Map<string, SyncTarget>>()

  function find ({ rom_id: romId }: { rom_id: number }, key: string | null): SyncTarget | null {
    if (key === null) return null
    const targetsByKey = targetsByRom.get(romId) ?? new Map<string, SyncTarget>()
    if (targetsByKey.size === 0) targetsByRom.set(romId, targetsByKey)
    const existing = targetsByKey.get(key)
    if (existing !== undefined) return existing
    const target: SyncTarget = {
      newest: null, save: null, state: null, screenshot: null, listed: null, former: null, missing: null
    }
    targetsByKey.set(key, target)
    return target
  }

  return { find, findOf: (asset) => find(asset, keyOf(asset)) }
}

/** True if an asset was changed after another. */
export const isNewer = (one: AssetRow, other: AssetRow) =>
  one.updated_at === other.updated_at ? one.id > other.id : one.updated_at > other.updated_at

function formerOf (target: SyncTarget): FormerContents {
  target.former ??= { contents: [], deleted: [] }
  return target.former
}

/** Adds the assets of the server. @returns the targets with at least one asset */
export function addAssets (targets: SyncTargets, assets: readonly AssetRow[]): SyncTarget[] {
  const withAssets: SyncTarget[] = []
  for (const asset of assets) {
    const target = targets.findOf(asset)
    if (target === null) continue
    const { newest } = target
    if (newest === null) withAssets.push(target)
    const isNewest = newest === null || isNewer(asset, newest)
    if (isNewest) target.newest = asset
    if (newest !== null) formerOf(target).contents.push(isNewest ? newest : asset)
  }
  return withAssets
}

/** Adds assets whose content is missing from the disk. */
export function addMissing (targets: SyncTargets, assets: readonly AssetRow[]): void {
  for (const asset of assets) {
    const target = targets.findOf(asset)
    if (target === null) continue
    target.missing ??= []
    target.missing.push(asset)
  }
}

export function addBases (
  targets: SyncTargets, bases: readonly BaseRow[], { key_start: start }: Pick<Listing, 'key_start'>
): void {
  for (const base of bases) {
    const target = targets.find(base, base.key.slice(start.length))
    if (target !== null) target[base.kind] = base
  }
}

/**
 * Adds the files of the device. Of several with one key, such as copies of a save, the preferred one is paired.
 *
 * @returns the target of each file; null for an unpaired file
 */
export function addListed (
  targets: SyncTargets, { files, isPreferred }: Pick<Listing, 'files' | 'isPreferred'>
): (SyncTarget | null)[] {
  return files.map((file) => {
    const target = targets.find(file, file.key)
    if (target !== null && (target.listed === null || isPreferred(file, target.listed))) target.listed = file
    return target
  })
}

/** Adds the former contents of each file or slot. */
export function addFormer (targets: SyncTargets, assets: readonly AssetRow[], former: readonly FormerRow[]): void {
  for (const row of former) {
    const target = targets.findOf(row)
    if (target === null) continue
    formerOf(target).contents.push(row)
    if (row.is_deleted) formerOf(target).deleted.push(row)
  }
  // Conflict copies count as former content of their original.
  const conflictCopies = [...assets, ...former].filter((row) => row.conflict_of !== null)
  const copies = Map.groupBy(conflictCopies, (row) => row.conflict_of)
  for (const asset of copies.size === 0 ? [] : assets) {
    const target = targets.findOf(asset)
    if (target !== null) formerOf(target).contents.push(...copies.get(asset.id) ?? [])
  }
}
