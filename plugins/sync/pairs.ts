import type { AssetKind } from '../assets/entities.ts'
import { type Decision, type Direction, type StoredContent, decide, isHashOf, limitDirection } from './decide.ts'
import type { ListedFile, Listing } from './read-listing.ts'
import type { AssetRow, BaseRow, FormerRow } from './rows.ts'

/** A file of the device, of the server, or of both, with its decision. */
export interface Pair {
  rom_id: number
  kind: AssetKind
  file: ListedFile | null
  asset: AssetRow | null
  /** The content that the device and the server last agreed on. */
  base: BaseRow | null
  /** True if an upload can replace the asset. In a slot this holds only for the newest asset. */
  is_replaceable: boolean
  decision: Decision
}

/** A file or slot of a ROM, with its base for each kind. */
interface SyncTarget extends Record<AssetKind, BaseRow | null> {
  /** The newest asset of the server for this target. */
  newest: AssetRow | null
  isListed: boolean
}

/** Former contents of the server for one file or slot. */
interface FormerContents { contents: StoredContent[], deleted: FormerRow[] }

/**
 * Returns a function that finds or creates targets by ROM and key; it returns null for an unpaired file. Nested maps
 * avoid a combined text key for each of ten thousand lookups.
 */
function createTargets () {
  const targetsByRom = new Map<number, Map<string, SyncTarget>>()
  return function findTarget ({ rom_id: romId }: { rom_id: number }, key: string | null): SyncTarget | null {
    if (key === null) return null
    const targetsByKey = targetsByRom.get(romId) ?? new Map<string, SyncTarget>()
    if (targetsByKey.size === 0) targetsByRom.set(romId, targetsByKey)
    const existing = targetsByKey.get(key)
    if (existing !== undefined) return existing
    const target: SyncTarget = { newest: null, save: null, state: null, screenshot: null, isListed: false }
    targetsByKey.set(key, target)
    return target
  }
}

const isNewer = (one: AssetRow, other: AssetRow) =>
  one.updated_at === other.updated_at ? one.id > other.id : one.updated_at > other.updated_at

/** Returns the newest asset of each slot, whatever its name. */
function listSlotHeads (assets: readonly AssetRow[]): Map<string, AssetRow> {
  const heads = new Map<string, AssetRow>()
  for (const asset of assets) {
    if (asset.slot === null) continue
    const slotKey = `${asset.rom_id}/${asset.slot}`
    const head = heads.get(slotKey)
    if (head === undefined || isNewer(asset, head)) heads.set(slotKey, asset)
  }
  return heads
}

const noop = (reason: string): Decision => ({ action: 'noop', reason, newBase: null })

/** Pairs the files that a device lists with the server's assets, and decides about each pair. */
export function createPairs (listing: Listing, stored: readonly AssetRow[], bases: readonly BaseRow[]) {
  // Missing files cannot be downloaded. They count as absent, but an upload may bring them back.
  const assets = stored.filter((asset) => !asset.missing_from_fs)
  const lost = stored.filter((asset) => asset.missing_from_fs)
  const findTarget = createTargets()
  const findTargetOfAsset = (asset: AssetRow | FormerRow) => findTarget(asset, listing.keyOf(asset))
  const missing = Map.groupBy(lost, findTargetOfAsset)
  missing.delete(null)
  const formerByTarget = new Map<SyncTarget, FormerContents>()
  const named = listing.rom_ids === null ? null : new Set(listing.rom_ids)
  const heads = listSlotHeads(assets)
  const pairs: Pair[] = []

  function formerOf (target: SyncTarget): FormerContents {
    const existing = formerByTarget.get(target) ?? { contents: [], deleted: [] }
    formerByTarget.set(target, existing)
    return existing
  }

  /** @returns the targets with at least one asset */
  function addAssets (): SyncTarget[] {
    const targets: SyncTarget[] = []
    for (const asset of assets) {
      const target = findTargetOfAsset(asset)
      if (target === null) continue
      const { newest } = target
      if (newest === null) targets.push(target)
      const isNewest = newest === null || isNewer(asset, newest)
      if (isNewest) target.newest = asset
      if (newest !== null) formerOf(target).contents.push(isNewest ? newest : asset)
    }
    return targets
  }

  function addBases (): void {
    for (const base of bases) {
      const target = findTarget(base, base.key.slice(listing.key_start.length))
      if (target !== null) target[base.kind] = base
    }
  }

  function decideFor (
    { file, asset, base }: Pick<Pair, 'file' | 'asset' | 'base'>, target: SyncTarget | null, formerByTarget: FormerContents | null
  ): Decision {
    const hash = file?.hash ?? null
    const isFile = (content: StoredContent) => hash !== null && isHashOf(hash, content)
    const deleted = formerByTarget?.deleted ?? []
    const missingAssets = missing.get(target) ?? []
    return decide({
      device: file,
      server: asset,
      base: asset === null && deleted[0] !== undefined ? target?.[deleted[0].kind] ?? null : base,
      former: formerByTarget?.contents.filter(isFile).sort(
        (one, other) => other.updated_at - one.updated_at
      )[0] ?? null,
      is_deleted: deleted.length > 0,
      is_deleted_content: deleted.some(isFile),
      is_missing: missingAssets.length > 0,
      is_missing_content: missingAssets.some(isFile),
      is_untracked: asset?.is_untracked === true,
      last_synced_at: asset?.last_synced_at ?? null,
      restores_unlisted: listing.restores_unlisted
    })
  }

  function add (
    file: ListedFile | null, asset: AssetRow | null, subject: Pick<AssetRow, 'rom_id' | 'kind'>, target: SyncTarget | null
  ): void {
    const base = target?.[subject.kind] ?? null
    pairs.push({
      rom_id: subject.rom_id,
      kind: subject.kind,
      file,
      asset,
      base,
      is_replaceable: asset !== null && (asset.slot === null || heads.get(`${asset.rom_id}/${asset.slot}`) === asset),
      decision: decideFor({ file, asset, base }, target, null)
    })
  }

  function addListed (): void {
    for (const file of listing.files) {
      const target = findTarget(file, file.key)
      if (target !== null) target.isListed = true
      const asset = target?.newest ?? null
      add(file, asset, asset ?? file, target)
    }
  }

  /**
   * Adds assets that the device did not list. For ROMs that the device did not name, only files with a base are added.
   */
  function addUnlisted (targets: readonly SyncTarget[]): void {
    for (const target of targets) {
      const { newest, isListed } = target
      if (isListed || newest === null || newest.conflict_of !== null) continue
      if (named !== null && !named.has(newest.rom_id) && target[newest.kind] === null) continue
      add(null, newest, newest, target)
    }
  }

  const targets = addAssets()
  addBases()
  addListed()
  addUnlisted(targets)

  /** Adds the former contents of each file or slot. */
  function addFormer (former: readonly FormerRow[]): void {
    for (const row of former) {
      const target = findTargetOfAsset(row)
      if (target === null) continue
      formerOf(target).contents.push(row)
      if (row.is_deleted) formerOf(target).deleted.push(row)
    }
    // Conflict copies count as former content of their original.
    const conflictCopies = [...assets, ...former].filter((row) => row.conflict_of !== null)
    const copies = Map.groupBy(conflictCopies, (row) => row.conflict_of)
    for (const asset of copies.size === 0 ? [] : assets) {
      const target = findTargetOfAsset(asset)
      if (target !== null) formerOf(target).contents.push(...copies.get(asset.id) ?? [])
    }
  }

  return {
    /** Lists the pairs that need former contents, because the device might upload content that the server once had. */
    listOpen (): Pair[] {
      return pairs.filter(({ asset, decision: { action } }) => asset === null || action === 'conflict' || action === 'upload')
    },

    /** Decides the open pairs again with their former contents. */
    decideAgain (open: readonly Pair[], former: readonly FormerRow[], visible: ReadonlySet<number>): void {
      addFormer(former)
      for (const pair of open) {
        const target = pair.file === null ? null : findTarget(pair.file, pair.file.key)
        pair.decision = pair.asset === null && !visible.has(pair.rom_id)
          ? noop('The server has no such ROM')
          : decideFor(pair, target, target === null ? null : formerByTarget.get(target) ?? null)
      }
    },

    /**
     * Returns all pairs that the response contains, limited to the direction of the device and to storable file names.
     */
    finish (direction: Direction): readonly Pair[] {
      for (const pair of pairs) {
        const decision = limitDirection(pair.decision, direction)
        const isSent = decision.action === 'upload' || decision.action === 'conflict'
        pair.decision = isSent && pair.file?.is_storable === false
          ? noop('The server does not accept this file name; rename the file on the device')
          : decision
      }
      return pairs.filter(({ file, decision }) => file !== null || decision.action !== 'noop')
    }
  }
}
